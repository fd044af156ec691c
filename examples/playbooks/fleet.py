#!/usr/bin/env python3
"""A small service to try playbooks on: a few replicas behind one door, on loopback.

    fleet.py [--replicas N] [--restart SECONDS] [--detach PIDFILE]

    GET  /status             {"ready": 3, "replicas": [{"id": 0, "version": "1.0", "ready": true}, ...]}
    GET  /replicas/ID        one of them; 503 while it is not ready
    POST /replicas/ID        {"version": "2.0"}: it restarts with that version
    POST /replicas/ID/kill   it dies, and comes back by itself
    GET  /work               takes a moment; 503 when every ready replica is busy
    GET  /metrics            what has happened, for Prometheus

It takes a port that is free and prints `::set-var port PORT`. With --detach it then goes on by itself,
with its number in PIDFILE; a playbook that starts it like that has to end it.
"""

import argparse
import json
import os
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

WORK_SECONDS = 0.05


class Fleet:
    def __init__(self, replicas, restart):
        self.lock = threading.Lock()
        self.restart = restart
        self.versions = ["1.0"] * replicas
        self.ready_at = [0.0] * replicas
        self.restarts = 0
        self.kills = 0
        self.busy = 0
        self.served = {200: 0, 503: 0}

    def replica(self, number):
        ready = time.monotonic() >= self.ready_at[number]
        return {"id": number, "version": self.versions[number], "ready": ready}

    def status(self):
        replicas = [self.replica(number) for number in range(len(self.versions))]
        return {"ready": sum(replica["ready"] for replica in replicas), "replicas": replicas}

    def stop(self, number, version=None):
        self.versions[number] = version or self.versions[number]
        self.ready_at[number] = time.monotonic() + self.restart
        self.restarts += version is not None
        self.kills += version is None

    def work(self):
        with self.lock:
            taken = self.busy < self.status()["ready"]
            self.busy += taken
            self.served[200 if taken else 503] += 1
        if taken:
            time.sleep(WORK_SECONDS)
            with self.lock:
                self.busy -= 1
        return taken

    def metrics(self):
        lines = [
            "# TYPE fleet_ready gauge", f"fleet_ready {self.status()['ready']}",
            "# TYPE fleet_restarts_total counter", f"fleet_restarts_total {self.restarts}",
            "# TYPE fleet_kills_total counter", f"fleet_kills_total {self.kills}",
            "# TYPE fleet_work_total counter",
            *(f'fleet_work_total{{code="{code}"}} {n}' for code, n in self.served.items()),
            "# TYPE fleet_requests_total counter",
            f"fleet_requests_total {sum(self.served.values())}",
        ]
        return "\n".join(lines) + "\n"


class Door(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16  # an answer is sent in one piece
    fleet = None

    def log_message(self, *_):
        pass

    def answer(self, status, body):
        text = body if isinstance(body, str) else json.dumps(body)
        kind = "text/plain; version=0.0.4" if isinstance(body, str) else "application/json"
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def body(self):
        length = int(self.headers.get("Content-Length") or 0)
        return json.loads(self.rfile.read(length) or b"{}")

    def number(self, text):
        return int(text) if text.isdigit() and int(text) < len(self.fleet.versions) else None

    def do_GET(self):
        parts = self.path.strip("/").split("/")
        if parts == ["work"]:
            done = self.fleet.work()
            return self.answer(200 if done else 503, {"done": done})
        with self.fleet.lock:
            if parts == ["status"]:
                return self.answer(200, self.fleet.status())
            if parts == ["metrics"]:
                return self.answer(200, self.fleet.metrics())
            number = self.number(parts[-1])
            if parts[0] == "replicas" and len(parts) == 2 and number is not None:
                replica = self.fleet.replica(number)
                return self.answer(200 if replica["ready"] else 503, replica)
        return self.answer(404, {"error": f"There is nothing at {self.path}."})

    def do_POST(self):
        parts = self.path.strip("/").split("/")
        body = self.body()
        number = self.number(parts[1]) if len(parts) > 1 and parts[0] == "replicas" else None
        if number is None:
            return self.answer(404, {"error": f"There is nothing at {self.path}."})
        with self.fleet.lock:
            self.fleet.stop(number, None if parts[2:] == ["kill"] else body.get("version"))
            return self.answer(202, self.fleet.replica(number))


def detach(pidfile):
    """The caller's process ends here; another one, in a session of its own, goes on."""
    if os.fork():
        os._exit(0)
    os.setsid()
    with open(pidfile, "w") as file:
        file.write(str(os.getpid()))
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):
        os.dup2(null, descriptor)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--replicas", type=int, default=3)
    parser.add_argument("--restart", type=float, default=0.5)
    parser.add_argument("--detach")
    args = parser.parse_args()
    Door.fleet = Fleet(args.replicas, args.restart)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Door)
    server.daemon_threads = True
    print(f"::set-var port {server.server_port}", flush=True)
    if args.detach:
        detach(args.detach)
    server.serve_forever()


if __name__ == "__main__":
    main()
