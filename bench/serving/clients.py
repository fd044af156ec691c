"""clients.py - the clients of bench/server: a program that serves, and who asks it.

All are on this machine, bounded in number and time. What h2load can ask, it asks; the rest are blocking sockets, which take
less time of the machine than a loop of Python's.
"""

import base64
import json
import os
import re
import resource
import select
import shutil
import socket
import struct
import subprocess
import threading
import time
from pathlib import Path

SECONDS = 60  # that anything may take
TICKS = os.sysconf("SC_CLK_TCK")
JSON_TYPE = "content-type: application/json"


class Failed(Exception):
    """A side did not do what it was asked; a sentence."""


def raise_files():
    """As many open files as this process may have."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as s:
        return s.getsockname()[1]


# ---- who serves ----


class Served:
    """A program that serves, in a folder of its own; ends with the `with`."""

    def __init__(self, command, folder, port, ready="/healthz", env=None):
        self.command, self.folder, self.port, self.ready, self.env = command, Path(folder), port, ready, env

    def __enter__(self):
        self.log = open(self.folder / "server.log", "w", encoding="utf-8")
        self.process = subprocess.Popen(self.command, cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL,
                                        stdout=self.log, stderr=self.log)
        end = time.monotonic() + SECONDS
        while time.monotonic() < end and self.process.poll() is None:
            try:
                with Http(self.port) as http:
                    if http.get(self.ready)[0] == 200:
                        return self
            except (OSError, Failed):
                time.sleep(0.05)
        self.__exit__()
        said = (self.folder / "server.log").read_text(encoding="utf-8", errors="replace").strip().splitlines()
        raise Failed(f"{Path(self.command[0]).name} does not serve: {said[-1] if said else 'it says nothing'}")

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()

    def cpu(self):
        """Seconds of processor time, of all its threads."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def rss(self):
        """Bytes."""
        return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def h2load(self, path, requests, clients, body=None):
        """(requests a second of wall time, requests a second of the server's processor time)."""
        words = ["h2load", "--h1", "-t", "1", "-n", str(requests), "-c", str(clients), "-N", str(SECONDS)]
        if body is not None:
            file = self.folder / "body.json"
            file.write_text(json.dumps(body))
            words += ["-d", str(file), "-H", JSON_TYPE]
        before = self.cpu()
        run = subprocess.run([*words, f"http://127.0.0.1:{self.port}{path}"], capture_output=True, text=True,
                             timeout=3 * SECONDS)
        used = self.cpu() - before
        rate = re.search(r"finished in .*?, ([0-9.]+) req/s", run.stdout)
        good = re.search(r"status codes: (\d+) 2xx", run.stdout)
        if not rate or not good or int(good[1]) != requests:
            raise Failed(f"h2load of {path}: {good[1] if good else 0} of {requests} requests were answered with 2xx")
        return float(rate[1]), requests / max(used, 1 / TICKS)


class Pawl(Served):
    def __init__(self, pawl, folder, workflows):
        port = free_port()
        folder = Path(folder)
        (folder / "flows").mkdir(parents=True)
        for name, text in workflows.items():
            (folder / "flows" / f"{name}.yaml").write_text(text)
        super().__init__([pawl, "serve", "--listen", f"127.0.0.1:{port}", "--workflows", "flows", "--rate", "100000000",
                          "--store", "sqlite:store/pawl.db"], folder, port)

    def metric(self, name):
        with Http(self.port) as http:
            text = http.get("/metrics")[1].decode()
        return float(re.search(rf"^{name} (\S+)$", text, re.M)[1])

    def settle(self, seconds=SECONDS):
        """Waits until no run goes on by itself."""
        end = time.monotonic() + seconds
        while self.metric("pawl_runs_moving"):
            if time.monotonic() > end:
                raise Failed(f"runs still go on after {seconds} s")
            time.sleep(0.05)


def need_h2load():
    return shutil.which("h2load") is not None


# ---- who asks ----


class Http:
    """One connection that is kept."""

    def __init__(self, port):
        self.host = f"127.0.0.1:{port}"
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=SECONDS)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile("rb", 1 << 16)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.file.close()
        self.socket.close()

    def send(self, method, path, body=None, more=""):
        text = "" if body is None else json.dumps(body)
        head = f"{method} {path} HTTP/1.1\r\nHost: {self.host}\r\n{more}"
        if body is not None:
            head += f"{JSON_TYPE}\r\nContent-Length: {len(text)}\r\n"
        self.socket.sendall(f"{head}\r\n{text}".encode())

    def head(self):
        """(status, headers) of what comes."""
        line = self.file.readline()
        if not line:
            raise Failed("the server closed a connection")
        headers = {}
        while (field := self.file.readline()) not in (b"\r\n", b""):
            name, _, value = field.decode("latin-1").partition(":")
            headers[name.strip().lower()] = value.strip()
        return int(line.split()[1]), headers

    def ask(self, method, path, body=None):
        self.send(method, path, body)
        status, headers = self.head()
        return status, self.file.read(int(headers.get("content-length", 0)))

    def get(self, path):
        return self.ask("GET", path)

    def post(self, path, body):
        status, text = self.ask("POST", path, body)
        if status not in (200, 201):
            raise Failed(f"POST {path} was answered with {status}: {text[:200].decode(errors='replace')}")
        return json.loads(text)

    def listen(self, path, more="Connection: close\r\n"):
        """Asks for an answer that goes on, and ends with the connection."""
        self.send("GET", path, more=more)
        status, _ = self.head()
        if status != 200:
            raise Failed(f"GET {path} was answered with {status}")

    def events(self):
        """The data of each event, as text."""
        for line in self.file:
            if line.startswith(b"data:"):
                yield line[5:]


class Talk:
    """A WebSocket."""

    def __init__(self, port, path):
        self.http = Http(port)
        key = base64.b64encode(os.urandom(16)).decode()
        self.http.send("GET", path, more="Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                       f"Sec-WebSocket-Key: {key}\r\n")
        status, _ = self.http.head()
        if status != 101:
            raise Failed(f"the WebSocket at {path} was answered with {status}")

    def close(self):
        self.http.close()

    def send(self, message):
        data = json.dumps(message).encode()
        size = bytes([0x80 | len(data)]) if len(data) < 126 else b"\xfe" + struct.pack(">H", len(data))
        self.http.socket.sendall(b"\x81" + size + b"\0\0\0\0" + data)

    def receive(self):
        """The next message."""
        while True:
            head = self.http.file.read(2)
            if len(head) < 2:
                raise Failed("the server closed a WebSocket")
            first, size = head
            if size == 126:
                size = struct.unpack(">H", self.http.file.read(2))[0]
            elif size == 127:
                size = struct.unpack(">Q", self.http.file.read(8))[0]
            data = self.http.file.read(size)
            if first & 15 == 1:
                return json.loads(data)

    def until(self, word):
        while (message := self.receive())["type"] != word:
            if message["type"] == "error":
                raise Failed(f"a message over the WebSocket was answered with {message['data']}")


class Listeners:
    """Many connections, each with one request or none, that are read together."""

    def __init__(self, port, n, request=None):
        self.poll = select.epoll()
        self.got = {}
        self.sockets = []
        data = f"GET {request} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode() if request else b""
        try:
            for _ in range(n):
                s = socket.create_connection(("127.0.0.1", port), timeout=SECONDS)
                self.sockets.append(s)
                s.sendall(data)
                s.setblocking(False)
                self.got[s.fileno()] = (s, [])
                self.poll.register(s.fileno(), select.EPOLLIN)
        except OSError:
            self.close()
            raise

    def close(self):
        for s in self.sockets:
            s.close()
        self.poll.close()

    def read(self, is_done, seconds=SECONDS):
        """Reads until is_done(bytes of one) holds for each, or a time is over; says how many it holds for."""
        end, done = time.monotonic() + seconds, set()
        while len(done) < len(self.got) and time.monotonic() < end:
            for fd, _ in self.poll.poll(1, 1024):
                s, parts = self.got[fd]
                try:
                    part = s.recv(1 << 16)
                except BlockingIOError:
                    continue
                if part:
                    parts.append(part)
                else:
                    self.poll.unregister(fd)
                if fd not in done and is_done(b"".join(parts)):
                    done.add(fd)
        return len(done)

    def texts(self):
        return [b"".join(parts) for _, parts in self.got.values()]


TCP_REPAIR = 19


def half_close(listeners):
    """They say that they send nothing more, and go on listening."""
    for s in listeners.sockets:
        s.shutdown(socket.SHUT_WR)
    return True


def vanish(listeners):
    """They are gone and say nothing, as machines are that lose their power. False: this user may not do that."""
    try:
        for s in listeners.sockets:
            s.setsockopt(socket.IPPROTO_TCP, TCP_REPAIR, 1)
    except PermissionError:
        return False
    for s in listeners.sockets:
        s.close()
    return True


class SlowHeaders:
    """Many connections, each with a header of which it sends another byte now and then."""

    def __init__(self, port, n):
        self.begun, self.stop = time.perf_counter(), threading.Event()
        self.sockets = []
        for _ in range(n):
            s = socket.create_connection(("127.0.0.1", port), timeout=SECONDS)
            self.sockets.append(s)
            s.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
            s.setblocking(False)
        self.left = set(self.sockets)
        self.last_cut = None
        self.thread = threading.Thread(target=self.send, daemon=True)
        self.thread.start()

    def send(self):
        while self.left and not self.stop.wait(0.5):
            for s in list(self.left):
                try:
                    s.send(b"x")
                except BlockingIOError:
                    pass
                except OSError:
                    self.left.discard(s)
                    self.last_cut = time.perf_counter()

    def until_all_are_cut(self):
        """Seconds since the first of them came."""
        self.thread.join(SECONDS)
        if self.left:
            raise Failed(f"{len(self.left)} connections that never end their headers stay open")
        return self.last_cut - self.begun

    def close(self):
        self.stop.set()
        self.thread.join()
        for s in self.sockets:
            s.close()


def quantile(times, part):
    return sorted(times)[min(int(len(times) * part), len(times) - 1)]
