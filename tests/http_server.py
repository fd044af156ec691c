#!/usr/bin/env python3
"""A server for tests, on loopback, that does what servers should not.

    http_server.py FOLDER

It prints one line, {"http": PORT, "other": PORT, "https": PORT, "foreign": PORT, "ca": FILE}, then
serves until its standard input ends. `http` and `other` are the same server on two ports (two hosts,
for a client); `https` has a certificate made at the start in FOLDER, which is also its own authority;
`foreign` has that one too, but is at 127.0.0.2, which is not in it.

    /status/N            that status
    /echo                the request as JSON: method, path, headers, body
    /json?BODY           BODY (percent-decoded) as application/json
    /text?BODY           the same as text/plain; charset=latin-1 bytes as they are
    /bytes/N             N bytes, with content-length
    /stream/N            N bytes in chunks, without
    /zeros/N             N zero bytes, packed with gzip
    /slow/MS             the answer after that time
    /drip/N/MS           N lines, one each MS
    /hang                never
    /close               closes without an answer
    /cut                 promises 1000 bytes, sends 10, closes
    /rubbish             is not HTTP
    /badgzip             says that it is packed, and is not
    /headers/N           N bytes of headers, about
    /redirect/N          to /redirect/N-1 ... /echo
    /to/STATUS?URL       that redirect, to URL (percent-decoded)
    /count/NAME          how often this was asked, as JSON
    /nth/NAME?A|B|C      the first answer at first, then the next, and the last for ever; each is
                         STATUS:BODY
    /metrics             Prometheus text
    /cookie              two set-cookie headers, and a header twice
    /auth                401 without the right credentials (user, pass)
"""

import asyncio
import gzip
import json
import os
import resource
import ssl
import subprocess
import sys
import urllib.parse

METRICS = """# HELP http_requests_total The total.
# TYPE http_requests_total counter
http_requests_total{method="post",code="200"} 1027 1395066363000
http_requests_total{method="post",code="400"}    3 1395066363000
up 1
"""

counts = {}


def answer(status, body=b"", kind="text/plain; charset=utf-8", headers=()):
    if isinstance(body, str):
        body = body.encode()
    lines = [f"HTTP/1.1 {status} Status", f"Content-Type: {kind}", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n", body


async def read_request(reader):
    first = await reader.read(1)
    if not first.isalpha():  # nothing, or no HTTP: there may never be a whole line
        return None
    line = first + await reader.readline()
    method, target, _ = line.decode("latin-1").split(" ", 2)
    headers = []
    while True:
        line = (await reader.readline()).decode("latin-1").strip()
        if not line:
            break
        name, _, value = line.partition(":")
        headers.append((name.strip().lower(), value.strip()))
    length = int(dict(headers).get("content-length", 0))
    body = await reader.readexactly(length) if length else b""
    return method, target, headers, body


async def chunked(writer, size):
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n")
    while size:
        piece = min(size, 8192)
        writer.write(b"%x\r\n" % piece + b"x" * piece + b"\r\n")
        await writer.drain()
        size -= piece
    writer.write(b"0\r\nX-Trailer: yes\r\n\r\n")


async def drip(writer, lines, delay):
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n")
    for i in range(lines):
        line = b"line %d\n" % i
        writer.write(b"%x\r\n" % len(line) + line + b"\r\n")
        await writer.drain()
        await asyncio.sleep(delay / 1000)
    writer.write(b"0\r\n\r\n")


def nth(name, query):
    counts[name] = counts.get(name, 0) + 1
    parts = query.split("|")
    status, _, body = parts[min(counts[name], len(parts)) - 1].partition(":")
    return answer(int(status), body, "application/json")


def redirect(left):
    target = f"/redirect/{left - 1}" if left > 1 else "/echo"
    return answer(302, "moved", headers=[("Location", target)])


async def serve(request, writer):
    """The head and the body, or None when the connection is to be closed."""
    method, target, headers, body = request
    path, _, query = target.partition("?")
    words = path.strip("/").split("/")
    query = urllib.parse.unquote(query)
    what, rest = words[0], words[1:]
    if what == "status":
        return answer(int(rest[0]), f"status {rest[0]}")
    if what == "echo":
        seen = {"method": method, "path": target, "headers": dict(headers), "body": body.decode()}
        return answer(200, json.dumps(seen), "application/json")
    if what == "json":
        return answer(200, query, "application/json")
    if what == "text":
        return answer(200, query.encode("latin-1", "replace"), "text/plain")
    if what == "bytes":
        return answer(200, b"x" * int(rest[0]))
    if what == "stream":
        await chunked(writer, int(rest[0]))
        return b"", b""
    if what == "zeros":
        packed = gzip.compress(bytes(int(rest[0])))
        return answer(200, packed, headers=[("Content-Encoding", "gzip")])
    if what == "slow":
        await asyncio.sleep(int(rest[0]) / 1000)
        return answer(200, "late")
    if what == "drip":
        await drip(writer, int(rest[0]), int(rest[1]))
        return b"", b""
    if what == "hang":
        await asyncio.sleep(3600)
    if what == "cut":
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n0123456789")
        return None
    if what == "rubbish":
        writer.write(b"\x15\x03\x01\x00\x02\x02\x16 this is something else altogether\r\n\r\n")
        return None
    if what == "badgzip":
        return answer(200, "not packed at all", headers=[("Content-Encoding", "gzip")])
    if what == "headers":
        many = [(f"X-Fill-{i}", "y" * 1000) for i in range(int(rest[0]) // 1000)]
        return answer(200, "", headers=many)
    if what == "redirect":
        return redirect(int(rest[0]))
    if what == "to":
        return answer(int(rest[0]), "moved", headers=[("Location", query)])
    if what == "count":
        return answer(200, json.dumps(counts.get(rest[0], 0)), "application/json")
    if what == "nth":
        return nth(rest[0], query)
    if what == "metrics":
        return answer(200, METRICS, "text/plain; version=0.0.4")
    if what == "cookie":
        return answer(200, "", headers=[("Set-Cookie", "a=1; Expires=Thu, 01 Jan 2026"),
                                        ("Set-Cookie", "b=2"), ("X-Twice", "one"),
                                        ("X-Twice", "two"), ("X-Empty", "")])
    if what == "auth":
        fine = dict(headers).get("authorization") == "Basic dXNlcjpwYXNz"
        return answer(200 if fine else 401, "in" if fine else "out")
    return None


async def connection(reader, writer):
    try:
        while True:
            request = await read_request(reader)
            given = request and await serve(request, writer)
            if not given:
                break
            head, body = given
            writer.write(head + (b"" if request[0] == "HEAD" else body))
            await writer.drain()
    except (ConnectionError, asyncio.IncompleteReadError, ValueError):
        pass
    finally:
        writer.close()


def certificate(folder):
    ca = f"{folder}/ca.pem"
    key = f"{folder}/key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
         "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out", ca],
        check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(ca, key)
    return ca, context


async def main():
    ca, context = certificate(sys.argv[1])
    ports = {}
    here, there = "127.0.0.1", "127.0.0.2"
    for name, host, tls in [("http", here, None), ("other", here, None), ("https", here, context),
                            ("foreign", there, context)]:
        server = await asyncio.start_server(connection, host, 0, ssl=tls, backlog=2048)
        ports[name] = server.sockets[0].getsockname()[1]
    print(json.dumps({**ports, "ca": ca}), flush=True)
    loop = asyncio.get_running_loop()
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    loop = asyncio.new_event_loop()
    loop.set_exception_handler(lambda loop, context: None)
    loop.run_until_complete(main())
    os._exit(0)
