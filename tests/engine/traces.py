#!/usr/bin/env python3
"""A run takes the trace that it was started in, hands it to what its nodes ask and start, and tells a collector of its
spans, whatever the collector does. Prints TAP.

    tests/engine/traces.py PAWL [WORD...]

The collector is a server of our own on loopback. It keeps what it was sent, checks that it is OTLP, and answers as it is
told to.
"""

import http.client
import http.server
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from playbook import choose  # noqa: E402
from world import Broken, DONE, FAILED, PATIENCE, TIMEOUT, USAGE, WAITING, cases_of, run_all  # noqa: E402

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
PARENT = f"00-{TRACE}-{SPAN}-01"
HEX = re.compile(r"[0-9a-f]+")


class Collector:
    """Answers to everything: statuses of POST /v1/traces in turn, the last one for ever. What others ask for is kept, too."""

    def __init__(self, statuses=(200,), body=b"{}", headers=(), delay=0):
        self.spans, self.batches, self.headers_seen, self.asked = [], [], [], []
        self.statuses, self.body, self.headers, self.delay = list(statuses), body, headers, delay
        self.errors, self.tries = [], 0
        collector = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self, status, body, headers=()):
                self.send_response(status)
                for name, value in headers:
                    self.send_header(name, value)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self):
                collector.asked.append(dict(self.headers))
                self.answer(200, b"{}")

            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                time.sleep(collector.delay)
                try:
                    self.answer(*collector.take(self.path, self.headers, body))
                except OSError:
                    pass  # whoever asked has gone

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def take(self, path, headers, body):
        self.tries += 1
        status = self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]
        try:
            spans = spans_of(path, headers, json.loads(body))
        except (Broken, KeyError, ValueError, TypeError) as error:
            self.errors.append(f"{type(error).__name__}: {error}: {body[:2000]!r}")
            return 400, b"{}"
        if status == 200:
            self.headers_seen.append(dict(headers))
            self.batches.append(len(spans))
            self.spans += spans
        return status, self.body, self.headers

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.server.shutdown()
        self.server.server_close()
        if not kind and self.errors:
            raise Broken(f"what was sent is no OTLP: {self.errors[0]}")


def value_of(value):
    (kind, inner), = value.items()
    return {"stringValue": str, "intValue": int, "boolValue": bool}[kind](inner)


def attributes_of(thing):
    return {a["key"]: value_of(a["value"]) for a in thing.get("attributes", [])}


def spans_of(path, headers, body):
    """The spans of a body, after a look at everything that the protocol says of them."""
    if path != "/v1/traces" or headers["content-type"] != "application/json":
        raise Broken(f"{path} as {headers['content-type']}")
    found = []
    for resource in body["resourceSpans"]:
        about = attributes_of(resource["resource"])
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                for name, length in (("traceId", 32), ("spanId", 16), ("parentSpanId", 16)):
                    text = span.get(name, "0" * 16)
                    if name in span and (len(text) != length or not HEX.fullmatch(text) or not int(text, 16)):
                        raise Broken(f"{name} is {text!r}")
                for name in ("startTimeUnixNano", "endTimeUnixNano"):
                    if not isinstance(span[name], str):
                        raise Broken(f"{name} is no string")
                    span[name] = int(span[name])
                if span["endTimeUnixNano"] < span["startTimeUnixNano"] or span["kind"] not in (1, 2, 3):
                    raise Broken(f"it ends before it begins, or has no kind: {span}")
                span["about"], span["resource"] = attributes_of(span), about
                span["notes"] = [event["name"] for event in span.get("events", [])]
                found.append(span)
    return found


def one(spans, name, **about):
    """The only span of that name, with these attributes of pawl."""
    found = [s for s in spans if s["name"] == name
             and all(s["about"].get(f"pawl.{k}") == v for k, v in about.items())]
    if len(found) != 1:
        raise Broken(f"{len(found)} spans are called {name} {about}, of {[(s['name'], s['about']) for s in spans]}")
    return found[0]


def below(world, span, parent):
    world.same(span.get("parentSpanId"), parent["spanId"] if isinstance(parent, dict) else parent,
               f"the parent of {span['name']}")


def all_differ(world, spans):
    world.same(len({s["spanId"] for s in spans}), len(spans), "how many ids there are")


def run(world, *words, env=None, **more):
    return world("run", *words, env=dict({"TRACEPARENT": PARENT}, **(env or {})), **more)


ECHO = """
name: flow
nodes:
  - {name: sh, shell: 'echo $TRACEPARENT $TRACESTATE', output: sh}
  - {name: own, shell: 'echo $TRACEPARENT', env: {TRACEPARENT: '"mine"'}, output: own}
  - {name: py, python: 'import os; return {"py": os.environ["TRACEPARENT"]}'}
  - {name: js, javascript: 'return {js: process.env.TRACEPARENT}'}
  - {name: get, http: '@URL/get', output: get}
  - {name: said, http: {url: '@URL/said', headers: {Traceparent: '"mine"'}}, output: said}
"""


def case_a_run_hands_its_trace_on_without_a_collector(world):
    with Collector() as c:
        world.write("flow.yaml", ECHO.replace("@URL", c.url))
        state = run(world, "flow.yaml", "--json", env={"TRACESTATE": "v=1,w=2"}).gives(DONE).json["state"]
        sent, more = state["sh"]["stdout"].split()
        ids = [sent, state["py"], state["js"], c.asked[0]["traceparent"]]
        for text in ids:
            version, trace, span, flags = text.split("-")
            world.same((version, trace, flags), ("00", TRACE, "01"), text)
        world.same(len({i.split("-")[2] for i in ids} | {SPAN}), 5, "spans")
        world.same(more, "v=1,w=2", "TRACESTATE")
        world.same(c.asked[0]["tracestate"], "v=1,w=2", "tracestate")
        world.same(state["own"]["stdout"].strip(), "mine", "a variable that the node sets")
        world.same((c.asked[1].get("Traceparent"), c.asked[1].get("traceparent"), c.asked[1].get("tracestate")),
                   ("mine", None, None), "a header that the node sets")
        world.same(c.tries, 0, "batches")


def case_a_run_of_no_trace_says_nothing_of_one(world):
    with Collector() as c:
        world.write("flow.yaml", f"nodes: [{{name: get, http: '{c.url}/', output: o}}, "
                                 "{name: sh, shell: 'echo =$TRACEPARENT', output: sh}]")
        state = world("run", "flow.yaml", "--json").gives(DONE).json["state"]
        world.same(("traceparent" in c.asked[0], state["sh"]["stdout"].strip()), (False, "="), "it")


def case_a_bad_traceparent_of_the_environment_is_ignored_and_said(world):
    world.write("flow.yaml", "nodes: [{name: sh, shell: 'echo $TRACEPARENT', output: sh}]")
    for bad in ("rubbish", PARENT.upper(), f"00-{'0' * 32}-{SPAN}-01", PARENT + "-x", f"ff-{TRACE}-{SPAN}-01"):
        run(world, "flow.yaml", env={"TRACEPARENT": bad}).gives(DONE).says("$TRACEPARENT", "ignored")


NESTED = """
name: flow
nodes:
  - {name: first, jq: '{n: 1}'}
  - {name: work, shell: 'sleep 0.2', output: work}
  - {name: left, shell: 'true', output: l}
  - {name: right, jq: '{r: 1}'}
  - {name: each, map: {over: '[1, 2, 3]', as: x}, do: {shell: 'true'}, output: each}
  - {name: shaky, shell: 'test -e ok || { touch ok; exit 7; }', retry: {attempts: 2, delay: 10ms}, output: s}
edges:
  - {from: __start__, to: first}
  - {from: first, to: work}
  - {from: work, to: [left, right], fan_in: each}
  - {from: [left, right], to: each}
  - {from: each, to: shaky}
  - {from: shaky, to: __end__}
"""


def case_spans_have_ids_parents_times_and_attributes(world):
    with Collector() as c:
        world.write("flow.yaml", NESTED)
        before = time.time_ns()
        run(world, "flow.yaml", "--thread", "t", "--otlp", c.url + "/").gives(DONE)
        after = time.time_ns()
        root = one(c.spans, "flow")
        world.same((root["traceId"], root.get("parentSpanId"), root["kind"]), (TRACE, SPAN, 2), "the run")
        world.same((root["about"]["pawl.status"], root["about"]["pawl.thread"], root["status"]["code"]),
                   ("completed", "t", 0), "the run")
        world.same((root["resource"]["service.name"], root["resource"]["process.pid"] > 0), ("pawl", True), "it")
        work, each = one(c.spans, "work"), one(c.spans, "each")
        for name in ("first", "work", "left", "right", "each"):
            below(world, one(c.spans, name), root)
        inner = [s for s in c.spans if s["about"].get("pawl.kind") == "shell" and s["name"] not in ("work", "left", "shaky")]
        world.same(len(inner), 3, f"executions in the map, of {[s['name'] for s in c.spans]}")
        for span in inner:
            below(world, span, each)
        world.same(len({s["about"]["pawl.frame_name"] for s in inner}), 3, "names of frames")
        took = (work["endTimeUnixNano"] - work["startTimeUnixNano"]) / 1e9
        if not 0.19 <= took <= PATIENCE:
            raise Broken(f"work took {took} s")
        for span in c.spans:
            world.same(span["traceId"], TRACE, "the trace")
            if not before - 1_000_000 <= span["startTimeUnixNano"] <= span["endTimeUnixNano"] <= after + 1_000_000:
                raise Broken(f"a time that was not: {span}")
        bad = one(c.spans, "shaky", attempt=1)
        world.same((bad["status"]["code"], bad["about"]["error.type"], bad["about"]["pawl.status"]),
                   (2, "exit", "retrying"), "the first attempt")
        if "exited with code 7" not in bad["status"]["message"]:
            raise Broken(bad["status"])
        world.same(one(c.spans, "shaky", attempt=2)["status"]["code"], 0, "the second")
        all_differ(world, c.spans)


def case_what_is_sent_along_is_the_id_of_the_span(world):
    with Collector() as c:
        world.write("flow.yaml", ECHO.replace("@URL", c.url))
        state = run(world, "flow.yaml", "--json", "--otlp", c.url).gives(DONE).json["state"]
        for name, text in (("sh", state["sh"]["stdout"].split()[0]), ("py", state["py"]), ("js", state["js"]),
                           ("get", c.asked[0]["traceparent"])):
            world.same(one(c.spans, name)["spanId"], text.split("-")[2], f"the span of {name}")
        world.same(one(c.spans, "get")["kind"], 3, "the kind of a request's span")


def case_a_run_without_a_trace_begins_one(world):
    with Collector() as c:
        world.write("flow.yaml", NESTED)
        world("run", "flow.yaml", env={"OTEL_EXPORTER_OTLP_ENDPOINT": c.url, "OTEL_SERVICE_NAME": "mine",
                                       "OTEL_EXPORTER_OTLP_HEADERS": "x-key=a%20b, y=2"}).gives(DONE)
        root = one(c.spans, "flow")
        world.same((root.get("parentSpanId"), root["kind"], len({s["traceId"] for s in c.spans})), (None, 1, 1), "it")
        world.same((root["resource"]["service.name"], c.headers_seen[0]["x-key"], c.headers_seen[0]["y"]),
                   ("mine", "a b", "2"), "what the environment says")
        world("run", "flow.yaml", env={"OTEL_EXPORTER_OTLP_ENDPOINT": c.url, "OTEL_SDK_DISABLED": "true"}).gives(DONE)
        world.same(len([s for s in c.spans if s["name"] == "flow"]), 1, "runs that were told of")


def case_a_trace_that_is_not_sampled_is_handed_on_and_not_told(world):
    with Collector() as c:
        world.write("flow.yaml", "nodes: [{name: sh, shell: 'echo $TRACEPARENT', output: sh}]")
        answer = run(world, "flow.yaml", "--json", "--otlp", c.url, env={"TRACEPARENT": PARENT[:-1] + "0"}).gives(DONE)
        world.same((answer.json["state"]["sh"]["stdout"].strip()[-3:], c.spans), ("-00", []), "it")


ASKS = """
name: flow
nodes:
  - {name: before, shell: 'echo $TRACEPARENT', output: before}
  - {name: ask, approval: {prompt: 'go on?', options: [yes, no]}}
  - {name: after, shell: 'echo $TRACEPARENT $TRACESTATE', output: after}
"""


def case_a_run_that_another_process_resumes_keeps_its_trace(world):
    with Collector() as c:
        world.write("flow.yaml", ASKS)
        run(world, "flow.yaml", "--thread", "t", "--otlp", c.url, env={"TRACESTATE": "v=1"}).gives(WAITING)
        root = one(c.spans, "flow")
        world.same((root["about"]["pawl.status"], one(c.spans, "ask")["notes"]), ("interrupted", ["interrupted"]), "it")
        world("fork", "t", "--thread", "u").gives(DONE)
        time.sleep(1.1)
        done = world("resume", "t", "--decision", "yes", "--json", "--otlp", c.url).gives(DONE)
        sent, state = done.json["state"]["after"]["stdout"].split()
        second = one(c.spans, "flow", resumed=True)
        after = one(c.spans, "after")
        below(world, second, root)
        below(world, after, second)
        world.same((after["traceId"], after["spanId"], state), (TRACE, sent.split("-")[2], "v=1"), "what was sent")
        world.same(one(c.spans, "ask", status="completed")["about"]["pawl.continued"], True, "the answer")
        if second["startTimeUnixNano"] - root["endTimeUnixNano"] < 1_000_000_000:
            raise Broken("the time that it waited is in one of its spans")
        all_differ(world, c.spans)
        world("resume", "u", "--decision", "yes", "--otlp", c.url).gives(DONE)
        copy = one(c.spans, "flow", thread="u")
        below(world, copy, root)
        below(world, one(c.spans, "after", thread="u"), copy)
        all_differ(world, c.spans)


def case_a_run_that_failed_and_is_resumed_has_ids_of_its_own(world):
    with Collector() as c:
        world.write("flow.yaml", "name: flow\nnodes: [{name: a, shell: 'test -e ok', output: a}]\n")
        run(world, "flow.yaml", "--thread", "t", "--otlp", c.url).gives(FAILED)
        bad = one(c.spans, "flow")
        world.same((bad["status"]["code"], one(c.spans, "a")["status"]["code"], bad["notes"]),
                   (2, 2, ["exception"]), "what failed")
        world.write("ok", "")
        world("resume", "t", "--otlp", c.url).gives(DONE)
        below(world, one(c.spans, "a", status="completed"), one(c.spans, "flow", resumed=True))
        all_differ(world, c.spans)


def case_pauses_are_events_and_their_time_is_in_no_span(world):
    with Collector() as c:
        world.write("flow.yaml", "name: flow\nnodes: [{name: a, shell: 'true', output: a}, {name: b, jq: '{b: 1}'}]\n")
        run(world, "flow.yaml", "--thread", "t", "--break", "b", "--otlp", c.url).gives(WAITING)
        root = one(c.spans, "flow")
        world.same((root["about"]["pawl.status"], root["notes"]), ("paused", ["paused"]), "the run")
        world("resume", "t", "--otlp", c.url).gives(DONE)
        below(world, one(c.spans, "b"), one(c.spans, "flow", resumed=True))


def case_secrets_and_states_are_in_no_span(world):
    with Collector() as c:
        world.write("flow.yaml", "name: flow\nstate: {big: {default: 'in-the-state'}}\nnodes: [{name: a, shell: "
                                 "'echo bad $KEY >&2; exit 3', env: {KEY: $secrets.key}}]\n")
        world.write("secrets/key", "hunter2-hunter2")
        (world.folder / "secrets").chmod(0o700)
        (world.folder / "secrets/key").chmod(0o600)
        run(world, "flow.yaml", "--secrets", "secrets", "--input", '{"in": "of-the-input"}', "--otlp", c.url).gives(FAILED)
        text = json.dumps(c.spans)
        for word in ("hunter2", "in-the-state", "of-the-input"):
            if word in text:
                raise Broken(f"{word} is in {text}")
        if "bad ***" not in one(c.spans, "a")["status"]["message"]:
            raise Broken(one(c.spans, "a"))


MANY = "name: flow\nnodes: [{name: each, map: {over: '[range(1000)]', as: x}, do: {jq: '$x'}, output: each}]\n"


def case_many_spans_go_in_batches(world):
    with Collector() as c:
        world.write("flow.yaml", MANY)
        run(world, "flow.yaml", "--otlp", c.url, "--quiet").gives(DONE)
        world.same((len(c.spans), max(c.batches)), (1002, 256), "spans, and the most in a batch")
        all_differ(world, c.spans)


def case_a_collector_that_is_busy_is_asked_again(world):
    for status in (429, 503):
        with Collector([status, status, 200]) as c:
            world.write("flow.yaml", NESTED)
            run(world, "flow.yaml", "--otlp", c.url).gives(DONE)
            world.same((c.tries >= 3, len([s for s in c.spans if s["name"] == "flow"])), (True, 1), f"{status}")
            all_differ(world, c.spans)


def case_a_collector_that_is_not_there_costs_a_sentence(world):
    world.write("flow.yaml", MANY)
    began = time.monotonic()
    answer = run(world, "flow.yaml", "--quiet", "--otlp", "http://me:secret@127.0.0.1:1").gives(DONE)
    answer.says("Spans are lost", "1002 spans were lost, and 0 sent")
    if "secret" in answer.err or answer.err.count("Spans are lost") != 1 or time.monotonic() - began > PATIENCE:
        raise Broken(answer.err)


def case_a_collector_that_refuses_or_talks_rubbish_costs_a_sentence(world):
    world.write("flow.yaml", NESTED)
    with Collector([400]) as c:
        run(world, "flow.yaml", "--otlp", c.url).gives(DONE).says("answers 400", "spans were lost, and 0 sent")
    with Collector(body=b"\x00rubbish" * 1000) as c:
        answer = run(world, "flow.yaml", "--otlp", c.url).gives(DONE)
        world.same(("lost" in answer.err, len([s for s in c.spans if s["name"] == "flow"])), (False, 1), "rubbish")
    with Collector(body=b'{"partialSuccess": {"rejectedSpans": "2", "errorMessage": "no"}}') as c:
        run(world, "flow.yaml", "--otlp", c.url).gives(DONE).says("refused some", "2 spans were lost")


def case_a_slow_collector_slows_no_run(world):
    with Collector(delay=4) as c:
        world.write("flow.yaml", "name: flow\nnodes: [{name: a, jq: '{a: 1}'}, {name: b, shell: 'sleep 1.5', output: b}, "
                                 "{name: c, shell: 'date +%s%N', output: c}]\n")
        began = time.time_ns()
        done = run(world, "flow.yaml", "--json", "--otlp", c.url).gives(DONE)
        if int(done.json["state"]["c"]["stdout"]) - began > 3_800_000_000 and world.pace == 1:
            raise Broken("the run waited for the collector")


def case_a_url_that_is_none_is_refused(world):
    world.write("flow.yaml", "nodes: [{name: a, jq: '{a: 1}'}]")
    for bad in ("127.0.0.1:4318", "ftp://x", "http://", "http://x?y"):
        run(world, "flow.yaml", "--otlp", bad).gives(USAGE).says("is no URL of a collector")
        run(world, "flow.yaml", env={"OTEL_EXPORTER_OTLP_ENDPOINT": bad}).gives(DONE).says("No spans are sent")
    run(world, "flow.yaml", "--otlp", "http://x", env={"OTEL_EXPORTER_OTLP_HEADERS": "no header secret"}) \
        .gives(USAGE).says("Header 1")


# ---- the server ----

class Server:
    def __init__(self, world, *words):
        self.log = open(world.folder / "serve.log", "w")
        self.process = subprocess.Popen([world.pawl, "serve", "--listen", "127.0.0.1:0", "--json", "--net", "any", *words],
                                        cwd=world.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=self.log, text=True)
        line = self.process.stdout.readline()
        if not line:
            raise Broken(f"the server did not begin: {world.read('serve.log')}")
        self.port = int(json.loads(line)["url"].rsplit(":", 1)[1])

    def ask(self, method, path, body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, "/api/v1" + path, json.dumps(body) if body is not None else None,
                           dict({"content-type": "application/json"}, **named))
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, json.loads(text)

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(TIMEOUT)
        self.log.close()
        return code


def definition(text):
    return {"main": "flow.yaml", "files": {"flow.yaml": text}}


def case_the_server_takes_the_header_and_tells_the_collector(world):
    with Collector() as c:
        server = Server(world, "--otlp", c.url)
        try:
            flow = {"definition": definition(ECHO.replace("@URL", c.url)), "thread": "t"}
            status, _ = server.ask("POST", "/runs", flow, traceparent=PARENT, tracestate="v=1")
            world.same(status, 201, "the answer")
            world.until(lambda: any(s["name"] == "flow" for s in c.spans), "the span of the run has come")
            root = one(c.spans, "flow")
            world.same((root["traceId"], root["parentSpanId"], root.get("traceState")), (TRACE, SPAN, "v=1"), "the run")
            world.same(one(c.spans, "get")["spanId"], c.asked[0]["traceparent"].split("-")[2], "what was sent")
            quick = {"definition": definition("name: quick\nnodes: [{name: a, jq: '{a: 1}'}]")}
            world.same(server.ask("POST", "/runs", quick, traceparent="rubbish")[0], 201, "with a bad header")
            world.same(server.ask("POST", "/runs", dict(quick, traceparent="rubbish"))[0], 400, "with a bad argument")
            world.same(server.ask("POST", "/runs", dict(quick, traceparent=PARENT, tracestate="x" * 513))[0], 400,
                       "with a long tracestate")
            world.until(lambda: any(s["name"] == "quick" for s in c.spans), "the span of the other run has come")
            if one(c.spans, "quick")["traceId"] == TRACE or "traceparent" not in world.read("serve.log"):
                raise Broken("the bad header was not ignored, or not said")
        finally:
            code = server.end()
        world.same(code, DONE, "the server's end")


def case_pauses_in_a_debugger_are_events_and_in_no_span_of_a_node(world):
    with Collector() as c:
        server = Server(world, "--otlp", c.url)
        try:
            flow = "name: flow\nnodes: [{name: a, shell: 'true', output: a}, {name: b, shell: 'true', output: b}]"
            debug = {"breakpoints": [{"node": "b"}, {"node": "b", "position": "after"}]}
            body = {"definition": definition(flow), "thread": "t", "debug": debug}
            world.same(server.ask("POST", "/runs", body)[0], 201, "the answer")

            for position in ("before", "after"):
                world.until(lambda: position in [f.get("position") for f in server.ask("GET", "/debug/t/frames")[1]["frames"]],
                            f"it is paused {position} b")
                time.sleep(1)
                status, said = server.ask("POST", "/debug/t/continue", {})
                world.same(status, 200, f"continue: {said}")
            world.until(lambda: any(s["name"] == "flow" for s in c.spans), "the span of the run has come")
            root, b = one(c.spans, "flow"), one(c.spans, "b")
            world.same((root["notes"], b["notes"]), (["paused", "resumed"] * 2, []), "events")
            world.same(len([s for s in c.spans if s["name"] == "flow"]), 1, "spans of the run")
            if b["endTimeUnixNano"] - b["startTimeUnixNano"] > 900_000_000 and world.pace == 1:
                raise Broken("the pause behind the node is in its span")
        finally:
            server.end()


def case_a_server_that_ends_sends_what_is_left(world):
    with Collector() as c:
        server = Server(world, "--otlp", c.url)
        slow = {"definition": definition("name: slow\nnodes: [{name: a, shell: 'touch begun; sleep 60'}]"), "thread": "t"}
        server.ask("POST", "/runs", slow, traceparent=PARENT)
        world.wait_for("begun")
        world.same(server.end(), DONE, "the server's end")
        world.same((one(c.spans, "slow")["about"]["pawl.status"], one(c.spans, "a")["about"]["pawl.status"]),
                   ("stopped", "stopped"), "what was open")
        world("cancel", "t")


if __name__ == "__main__":
    os.environ.pop("TRACEPARENT", None)
    sys.exit(run_all(choose(cases_of(sys.modules[__name__], "case_"), sys.argv[2:]), sys.argv[1]))
