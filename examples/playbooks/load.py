#!/usr/bin/env python3
"""So many clients that ask for work, each so often; the report is an output of the task.

    load.py URL CLIENTS REQUESTS

The exit code is 1 when a request was refused.
"""

import http.client
import json
import sys
import threading
import time
from urllib.parse import urlsplit


def client(url, requests, start, times, statuses):
    connection = http.client.HTTPConnection(url.hostname, url.port, timeout=10)
    connection.connect()
    start.wait()
    for _ in range(requests):
        begin = time.monotonic()
        connection.request("GET", url.path)
        response = connection.getresponse()
        response.read()
        times.append(time.monotonic() - begin)
        statuses.append(response.status)
    connection.close()


def main():
    url, clients, requests = urlsplit(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    times, statuses = [], []
    start = threading.Barrier(clients)
    threads = [threading.Thread(target=client, args=(url, requests, start, times, statuses))
               for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    refused = sum(status != 200 for status in statuses)
    report = {"clients": clients, "requests": len(statuses), "refused": refused,
              "slowest_ms": round(max(times) * 1000)}
    print(f"::set-json report {json.dumps(report)}\n"
          f"clients: {clients}, requests: {len(statuses)}, refused: {refused}\n", end="")
    return refused > 0


if __name__ == "__main__":
    sys.exit(main())
