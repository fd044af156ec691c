"""`pawl serve` of a build, for tests, and clients of it that share no code with it.

    with Server(world, "--workflows", "flows") as s:      started, and stopped with SIGTERM in the end
        s.ask("GET", "/runs").gives(200).json             under /api/v1; fails with what was said instead
        s.ask("POST", "/runs", {"workflow": "a"})
        with s.events("/runs/t/events") as stream: ...    Server-Sent Events, one after the other
        with s.talk("/ws") as talk: ...                   a WebSocket (RFC 6455), written down here
        s.raw(b"GET / HTTP/1.1...")                       bytes, and all that comes back

A server that ends with anything but 0, or in whose log a sanitizer said something, has broken a promise.
"""

import base64
import http.client
import json
import os
import select
import signal
import socket
import struct
import subprocess
import threading
import time

from world import PATIENCE, Broken, Facts

API = "/api/v1"
COMPLAINTS = ("AddressSanitizer", "LeakSanitizer", "runtime error:", "ThreadSanitizer", "pawl: bug:")
CURL = ["curl", "--silent", "--show-error", "--max-time", str(PATIENCE)]


class Object(Facts):
    """An object of an answer, whose fields read as attributes too; None where there is no such field."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]


def flow_of(text, name="a.yaml"):
    """A workflow that is sent."""
    return {"main": name, "files": {name: text}}


class Reply:
    """What a request was answered with."""

    def __init__(self, what, status, headers, body):
        self.what, self.status, self.body = what, status, body
        self.headers = {name.lower(): value for name, value in headers}

    def __str__(self):
        return f"{self.what} -> {self.status} {self.headers}\n{self.body[:1500]!r}"

    @property
    def json(self):
        try:
            return json.loads(self.body, object_hook=Object)
        except ValueError as error:
            raise Broken(f"the answer is not JSON ({error}): {self}") from error

    def gives(self, *statuses):
        if self.status not in statuses:
            raise Broken(f"{self.status}, not {' or '.join(map(str, statuses))}: {self}")
        return self

    def says(self, *parts):
        for part in parts:
            if part not in self.body.decode("utf-8", "replace"):
                raise Broken(f"it does not say `{part}`: {self}")
        return self

    def has(self, **fields):
        """Fields of the problem document, or of the answer."""
        got = self.json
        for name, value in fields.items():
            if got[name] != value:
                raise Broken(f"`{name}` is {got[name]!r}, not {value!r}: {self}")
        return self


class Server:
    started = 0

    def __init__(self, world, *words, env=None, token=None, listen="127.0.0.1:0", wait=True, user=None):
        self.world, self.words, self.env, self.token = world, words, env or {}, token
        self.process, self.user = None, user
        Server.started += 1
        self.log = world.folder / f"serve-{Server.started}.log"
        self.url, self.port = None, 0
        self.start(listen, wait)

    # ---- its life ----

    def start(self, listen=None, wait=True):
        """Again: where it was."""
        environ = {k: v for k, v in os.environ.items() if not k.startswith("PAWL_") or k == "PAWL_SDK"}
        environ.update(self.env)
        words = [self.world.pawl, "serve", "--json", "--listen", listen or f"127.0.0.1:{self.port}",
                 *map(str, self.words)]
        with open(self.log, "a", encoding="utf-8") as log:
            self.process = subprocess.Popen(words, cwd=self.world.folder, env=environ, stderr=log, user=self.user,
                                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        if wait:
            self.ready()
        return self

    def ready(self):
        out = self.process.stdout
        if not select.select([out], [], [], PATIENCE)[0] or not (line := out.readline()):
            raise Broken(f"the server did not start: {self.said}")
        self.url = json.loads(line)["url"]
        self.port = int(self.url.rsplit(":", 1)[1])
        return self

    @property
    def said(self):
        return self.log.read_text(encoding="utf-8", errors="replace")

    def check_log(self):
        for word in COMPLAINTS:
            if word in self.said:
                raise Broken(f"the server's log has `{word}`:\n{self.said[-6000:]}")

    def kill(self):
        self.process.kill()
        self.process.wait(PATIENCE)
        self.process.stdout.close()
        self.check_log()

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
        try:
            code = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired as error:
            self.process.send_signal(signal.SIGABRT)
            raise Broken(f"the server does not stop: {self.said[-4000:]}") from error
        self.process.stdout.close()
        self.check_log()
        if code != 0:
            raise Broken(f"the server ended with {code}: {self.said[-6000:]}")

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if self.process.poll() is None and kind is not None:
            self.process.kill()
            self.process.wait()
            self.check_log()
        elif not self.process.stdout.closed:
            self.stop()

    # ---- requests ----

    def headers(self, more=None):
        out = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        out.update(more or {})
        return {name: value for name, value in out.items() if value is not None}

    def ask(self, method, path, body=None, headers=None, root=API, token=None, timeout=PATIENCE):
        """body: bytes are sent as they are, anything else as JSON."""
        given = self.headers(headers)
        if token is not None:
            given["Authorization"] = f"Bearer {token}"
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        if body is not None and "Content-Type" not in given:
            given["Content-Type"] = "application/json"
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            line.request(method, root + path, body=body, headers=given)
            answer = line.getresponse()
            end, content = time.monotonic() + timeout, b""
            while part := answer.read1():
                content += part
                if time.monotonic() > end:
                    raise Broken(f"{method} {path} is answered without end: {content[:1500]!r}")
            return Reply(f"{method} {path}", answer.status, answer.getheaders(), content)
        finally:
            line.close()

    def curl(self, method, path, body=None, *words):
        """The same by curl, which is no relation."""
        command = CURL + ["--request", method, "--dump-header", "-", "--globoff", *words]
        for name, value in self.headers().items():
            command += ["--header", f"{name}: {value}"]
        if method == "HEAD":
            command += ["--head", "--output", os.devnull]
        if body is not None:
            command += ["--header", "Content-Type: application/json", "--data-binary", "@-"]
        done = subprocess.run(command + [self.url + API + path], capture_output=True, timeout=PATIENCE,
                              input=json.dumps(body).encode() if body is not None else b"")
        if done.returncode:
            raise Broken(f"curl {method} {path}: {done.stderr.decode()}")
        return parse_reply(f"curl {method} {path}", done.stdout)

    def raw(self, sent, patience=PATIENCE):
        """All that comes until the server closes; what is sent should ask for that."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=patience) as line:
            try:
                line.sendall(sent)
            except OSError:
                pass  # it was refused before all of it was sent
            got = b""
            try:
                while piece := line.recv(65536):
                    got += piece
            except ConnectionResetError:
                pass
            except TimeoutError as error:
                raise Broken(f"nothing ends {sent[:200]!r}: {got[:300]!r}") from error
            return got

    # ---- what tests ask for often ----

    def begin(self, thread, text, **more):
        """A run of a workflow that is sent."""
        body = {"definition": flow_of(text), "thread": thread, **more}
        return self.ask("POST", "/runs", body).gives(201).json

    def run(self, thread):
        return self.ask("GET", f"/runs/{thread}").gives(200).json

    def until(self, thread, *statuses):
        """The run, when it has one of these."""
        def there():
            run = self.run(thread)
            return run if run.status in statuses else None
        return self.world.until(there, f"{thread} is {' or '.join(statuses)}")

    def paused(self, thread):
        """The frames of its session, when one is paused."""
        def there():
            frames = self.ask("GET", f"/debug/{thread}/frames").gives(200).json.frames
            return [f for f in frames if f.status == "paused"]
        return self.world.until(there, f"a frame of {thread} is paused")

    def events(self, path, last=None, timeout=PATIENCE, token=None):
        return Events(self, path, last, timeout, token)

    def talk(self, path="/ws", root=API, headers=None):
        return Talk(self, root + path, headers)


def parse_reply(what, text):
    head, _, body = text.partition(b"\r\n\r\n")
    while head.startswith(b"HTTP/1.1 1"):
        head, _, body = body.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    fields = [tuple(line.split(": ", 1)) if ": " in line else (line.rstrip(":"), "") for line in lines]
    return Reply(what, int(first.split(" ")[1]), fields, body)


class Event:
    def __init__(self, name, place, data):
        self.name, self.id, self.data = name, place, data

    def __repr__(self):
        return f"{self.name} {self.id} {json.dumps(self.data)[:300]}"


class Events:
    """A stream, read as an EventSource reads it. `status` says how it was answered; iterating ends when the stream does."""

    def __init__(self, server, path, last=None, timeout=PATIENCE, token=None):
        headers = server.headers({"Accept": "text/event-stream"})
        if token:
            headers["Authorization"] = f"Bearer {token}"
        if last is not None:
            headers["Last-Event-ID"] = last
        self.last = last
        self.line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=timeout)
        self.line.request("GET", API + path, headers=headers)
        self.answer = self.line.getresponse()
        self.status = self.answer.status
        self.ended = False

    def __enter__(self):
        return self

    def __exit__(self, *what):
        self.close()

    def close(self):
        self.answer.close()
        self.line.close()

    def __iter__(self):
        return self

    def __next__(self):
        name, data = "message", []
        while True:
            try:
                line = self.answer.readline()
            except (http.client.IncompleteRead, ConnectionError):
                line = b""
            if not line.endswith(b"\n"):  # half an event does not count
                self.ended = True
                raise StopIteration
            text = line.decode().rstrip("\r\n")
            if not text and data:
                return Event(name, self.last, json.loads("\n".join(data), object_hook=Object))
            field, _, value = text.partition(":")
            value = value[1:] if value.startswith(" ") else value
            if field == "event":
                name = value
            elif field == "id":
                self.last = value
            elif field == "data":
                data.append(value)

    def wait(self, name, **fields):
        """The first event of that name, with these fields; what comes before it is let fall."""
        seen = []
        try:
            for event in self:
                seen.append(event)
                if event.name == name and all(event.data[k] == v for k, v in fields.items()):
                    return event
        except TimeoutError:
            pass
        raise Broken(f"no {name} {fields} came: {seen[-20:]}")


class Closed(Exception):
    """The other side closed the WebSocket."""

    def __init__(self, code, why):
        super().__init__(f"{code} {why}")
        self.code = code


class Talk:
    TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10

    def __init__(self, server, path, headers=None):
        self.socket = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)
        self.buffer, self.events, self.next_id = b"", [], 0
        self.lock = threading.Lock()
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{server.port}", "Upgrade: websocket",
                 "Connection: Upgrade", f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13"]
        lines += [f"{name}: {value}" for name, value in server.headers(headers).items()]
        self.socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        head = b""
        while b"\r\n\r\n" not in head:
            piece = self.socket.recv(4096)
            if not piece:
                break
            head += piece
        head, _, self.buffer = head.partition(b"\r\n\r\n")
        self.head = head.decode("latin-1")
        self.status = int(self.head.split(" ")[1])

    def __enter__(self):
        return self

    def __exit__(self, *what):
        self.socket.close()

    def frame(self, kind, payload, final=True, mask=True):
        head = bytes([(0x80 if final else 0) | kind])
        bit = 0x80 if mask else 0
        if len(payload) < 126:
            head += bytes([bit | len(payload)])
        elif len(payload) < 65536:
            head += bytes([bit | 126]) + struct.pack(">H", len(payload))
        else:
            head += bytes([bit | 127]) + struct.pack(">Q", len(payload))
        if mask:
            key = os.urandom(4)
            whole = (key * (len(payload) // 4 + 1))[:len(payload)]
            payload = (int.from_bytes(payload, "big") ^ int.from_bytes(whole, "big")) \
                .to_bytes(len(payload), "big")
            head += key
        self.socket.sendall(head + payload)

    def bytes_(self, n):
        while len(self.buffer) < n:
            piece = self.socket.recv(65536)
            if not piece:
                raise Closed(1006, "without a word")
            self.buffer += piece
        out, self.buffer = self.buffer[:n], self.buffer[n:]
        return out

    def message(self):
        """The next message, as a value."""
        text = b""
        while True:
            first, second = self.bytes_(2)
            n = second & 0x7f
            if n == 126:
                n = struct.unpack(">H", self.bytes_(2))[0]
            elif n == 127:
                n = struct.unpack(">Q", self.bytes_(8))[0]
            payload = self.bytes_(n)
            kind = first & 15
            if kind == self.PING:
                self.frame(self.PONG, payload)
            elif kind == self.CLOSE:
                code = struct.unpack(">H", payload[:2])[0] if len(payload) >= 2 else 1005
                raise Closed(code, payload[2:].decode("utf-8", "replace"))
            elif kind in (0, self.TEXT):
                text += payload
                if first & 0x80:
                    return json.loads(text, object_hook=Object)

    def say(self, kind, data=None, request_id=None, **more):
        """Sends; the id that it is answered with."""
        if request_id is None:
            self.next_id += 1
            request_id = self.next_id
        message = {"type": kind, "request_id": request_id, **more}
        if data is not None:
            message["data"] = data
        self.frame(self.TEXT, json.dumps(message).encode())
        return request_id

    def answer_to(self, request_id):
        """Events that come before it are kept."""
        while True:
            message = self.message()
            if message.request_id == request_id:
                return message
            self.events.append(message)

    def ask(self, kind, data=None, **more):
        return self.answer_to(self.say(kind, data, **more))

    def call(self, kind, data=None, **more):
        answer = self.ask(kind, data, **more)
        if answer.type == "error":
            raise Broken(f"{kind} {data}: {answer}")
        return answer

    def refuse(self, kind, data=None, **more):
        answer = self.ask(kind, data, **more)
        if answer.type != "error":
            raise Broken(f"{kind} {data} was not refused: {answer}")
        return answer

    def wait(self, kind, **fields):
        """The first event of that type, with these fields in its data."""
        end, seen = time.monotonic() + PATIENCE, []
        while time.monotonic() < end:
            try:
                message = self.events.pop(0) if self.events else self.message()
            except (TimeoutError, Closed) as error:
                raise Broken(f"no {kind} {fields} came ({error}): {seen[-10:]}") from error
            seen.append(message)
            if message.type == kind and all((message.data or {})[k] == v for k, v in fields.items()):
                return message
        raise Broken(f"no {kind} {fields} came: {seen[-10:]}")
