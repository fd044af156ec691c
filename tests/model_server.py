#!/usr/bin/env python3
"""A model's API on loopback, for tests: it speaks the Messages and the chat-completions format, streaming
and not, and misbehaves by the script.

    with ModelServer("429:0.1", "ok") as model: model.url("messages"), model.requests ...
    tests/model_server.py STEP...     prints its URL, then a line for each request, until its input ends

A path that ends in /chat/completions is asked in the one format, any other in the other. Each request
takes the next step of the script; when there is none left it is answered (`ok`).

    ok, ok:TEXT         the answer: TEXT, or what was asked
    429, 429:SECONDS    that status (and any other number), with retry-after when there is one
    error:TYPE          begins to answer, then an error of that type in the stream
    refusal             refuses: stop_reason "refusal", finish_reason "content_filter"
    truncated           half an answer: stop_reason "max_tokens", finish_reason "length"
    empty               an answer without text
    malformed           what is not JSON
    cut                 closes the connection in the middle of the answer
    slow:SECONDS        answers, after that time; in a stream before each piece
    held                streams the first piece of text, and the others when go_on is set
    echo-key            401, with the key it was given in the message
"""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MODEL = "stand-in-1"
PATIENCE = 60  # seconds
STOPS = {"messages": {"ok": "end_turn", "refusal": "refusal", "truncated": "max_tokens"},
         "chat": {"ok": "stop", "refusal": "content_filter", "truncated": "length"}}


class Request:
    """What was asked."""

    def __init__(self, path, headers, body):
        self.path, self.headers, self.body = path, headers, body
        self.format = "chat" if path.endswith("/chat/completions") else "messages"

    @property
    def prompt(self):
        return self.body["messages"][-1]["content"]

    @property
    def system(self):
        first = self.body["messages"][0]
        return self.body.get("system", first["content"] if first["role"] == "system" else None)

    @property
    def key(self):
        bearer = self.headers.get("authorization", "")
        return self.headers.get("x-api-key") or bearer.removeprefix("Bearer ") or None


def messages_document(text, stop):
    return {"type": "message", "role": "assistant", "model": MODEL, "stop_reason": stop,
            "content": [{"type": "text", "text": text}] if text else [],
            "usage": {"input_tokens": 3, "output_tokens": len(text)}}


def chat_document(text, stop):
    message = {"role": "assistant", "content": text}
    return {"object": "chat.completion", "model": MODEL, "usage": {"total_tokens": 3 + len(text)},
            "choices": [{"index": 0, "message": message, "finish_reason": stop}]}


def messages_events(pieces, stop):
    yield {"type": "message_start", "message": {"model": MODEL, "usage": {"input_tokens": 3}}}
    yield {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    yield {"type": "ping"}
    for piece in pieces:
        delta = {"type": "text_delta", "text": piece}
        yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    yield {"type": "message_delta", "delta": {"stop_reason": stop},
           "usage": {"output_tokens": sum(map(len, pieces))}}
    yield {"type": "message_stop"}


def chat_events(pieces, stop):
    for piece in ["", *pieces]:
        yield {"model": MODEL, "choices": [{"index": 0, "delta": {"content": piece}}]}
    yield {"model": MODEL, "choices": [{"index": 0, "delta": {}, "finish_reason": stop}]}
    yield None


DOCUMENTS = {"messages": messages_document, "chat": chat_document}
EVENTS = {"messages": messages_events, "chat": chat_events}


def sse(event):
    if event is None:
        return b"data: [DONE]\n\n"
    name = f"event: {event['type']}\n" if "type" in event else ""
    return f"{name}data: {json.dumps(event)}\n\n".encode()


def pieces_of(text):
    return [text[i:i + 5] for i in range(0, len(text), 5)]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):  # pylint: disable=invalid-name
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.path, headers, body)
        step = self.server.model.next_step(request)
        word, _, value = step.partition(":")
        if word.isdigit():
            self.fail(int(word), f"status {word} by the script", value)
        elif word == "echo-key":
            self.fail(401, f"{request.key} is not a key")
        elif word == "malformed":
            self.give(200, b'{"content": [{"type": "text", "te')
        else:
            self.answer(request, word, value)

    def give(self, status, body, headers=()):
        self.send_response(status)
        for name, text in [("content-type", "application/json"), ("content-length", len(body)),
                           *headers]:
            self.send_header(name, str(text))
        self.end_headers()
        self.wfile.write(body)

    def fail(self, status, message, retry_after=""):
        body = {"type": "error", "error": {"type": "scripted_error", "message": message}}
        headers = [("retry-after", retry_after)] if retry_after else []
        self.give(status, json.dumps(body).encode(), headers)

    def answer(self, request, word, value):
        text = value if word == "ok" and value else request.prompt
        text = {"empty": "", "refusal": "I would rather not.", "truncated": "Half an"}.get(word, text)
        stop = STOPS[request.format].get(word, STOPS[request.format]["ok"])
        wait = float(value) if word == "slow" else 0
        if request.body.get("stream"):
            self.stream(request, word, value, EVENTS[request.format](pieces_of(text), stop), wait)
            return
        body = json.dumps(DOCUMENTS[request.format](text, stop)).encode()
        if self.server.model.sleep(wait):
            return
        if word == "cut":
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[:20])
            self.close_connection = True
        else:
            self.give(200, body)

    def stream(self, request, word, value, events, wait):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        for number, event in enumerate(events):
            if self.server.model.sleep(wait):
                return
            if word == "held" and number == 4:  # the first piece is out
                self.server.model.hold()
            if word == "error" and number == 3:
                self.wfile.write(sse({"type": "error", "error": {"type": value, "message": "oh"}}))
                return
            data = sse(event)
            if word == "cut" and number == 4:
                self.wfile.write(data[:len(data) // 2])
                return
            self.wfile.write(data)
            self.wfile.flush()


class ModelServer:
    """Serves in threads of its own until it is closed."""

    def __init__(self, *script, tell=None):
        self.script, self.requests, self.tell = list(script), [], tell
        self.lock, self.closing, self.go_on = threading.Lock(), threading.Event(), threading.Event()
        self.held_in_vain = False
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.http.model = self
        self.http.handle_error = lambda *_: None  # a client that goes away is no error here
        self.thread = threading.Thread(target=self.http.serve_forever, daemon=True)
        self.thread.start()

    def url(self, format_="messages"):
        path = {"messages": "/v1/messages", "chat": "/v1/chat/completions"}[format_]
        return f"http://127.0.0.1:{self.http.server_address[1]}{path}"

    def next_step(self, request):
        with self.lock:
            self.requests.append(request)
            step = self.script.pop(0) if self.script else "ok"
        if self.tell:
            self.tell(request, step)
        return step

    def sleep(self, seconds):
        """Whether the server was closed meanwhile."""
        return bool(seconds) and self.closing.wait(seconds)

    def hold(self):
        self.held_in_vain = not self.go_on.wait(PATIENCE)

    def close(self):
        self.closing.set()
        self.http.shutdown()
        self.http.server_close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def main():
    def tell(request, step):
        print(json.dumps({"path": request.path, "step": step, "body": request.body}), flush=True)

    with ModelServer(*sys.argv[1:], tell=tell) as model:
        print(model.url().removesuffix("/v1/messages"), flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
