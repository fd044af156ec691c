#!/usr/bin/env python3
"""Every route of openapi.json is asked over HTTP, with curl, and what comes back is what the document says. Prints TAP.

    tests/serve/routes.py PAWL

The document drives it: a route that no scenario asked with success fails by name, so that a new one cannot be forgotten. Each
answer is held against the schema of its status (tests/schema.py). Then come the errors, what HTTP has beside (HEAD, OPTIONS,
ETag, Location, Idempotency-Key), the aliases, and a fuzzer over the rows. PAWL_TEST_ALL: a longer one; PAWL_SEED: another.
"""

import json
import os
import random
import shutil
import subprocess
import sys
import urllib.parse
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from debugger import BRANCHES  # noqa: E402
from schema import example, follow, wrong  # noqa: E402
from server import API, Server, flow_of  # noqa: E402
from tap import Tap  # noqa: E402
from world import PATIENCE, Broken, cases_of, name_of, World, try_case  # noqa: E402

ALL = bool(os.environ.get("PAWL_TEST_ALL"))
SEED = int(os.environ.get("PAWL_SEED", "20260117"))
FUZZ_EACH = 60 if ALL else 6

GRAPH = """
name: graph
state: {n: 1}
nodes:
  - {name: a, jq: '{n: (.n + 1)}'}
  - {name: b, shell: 'echo printed; echo "::set-json m 2"'}
  - {name: c, jq: '{c: .n}'}
"""
ASK = """
name: ask
nodes:
  - {name: first, jq: '{n: 1}'}
  - {name: q, approval: {prompt: Go?, options: [go, stay]}, output: said}
"""
SLOW = """
name: slow
nodes:
  - {name: wait, shell: 'while ! test -e go; do sleep 0.05; done'}
  - {name: end, jq: '{end: 1}'}
"""
BAD = """
name: bad
nodes:
  - {name: a, jq: '{n: 1}'}
  - {name: b, shell: 'test -e fine'}
  - {name: c, jq: '{c: 1}'}
"""


class Api:
    """Asks by the names of operations, as a client that was made from the document does."""

    def __init__(self, server):
        self.server = server
        self.document = server.ask("GET", "/openapi.json").gives(200).json
        self.routes = {}
        for path, item in self.document.paths.items():
            for method, row in item.items():
                self.routes[row.operationId] = (method.upper(), path, row)
        self.fine = set()  # operations that were answered with success

    def request(self, name, args):
        """Method, path with query, body."""
        method, path, row = self.routes[name]
        args, query = dict(args), {}
        for parameter in row.parameters or []:
            key = parameter.name
            if key not in args:
                continue
            value = args.pop(key)
            text = value if isinstance(value, str) else json.dumps(value)
            if parameter["in"] == "path":
                path = path.replace("{" + key + "}", urllib.parse.quote(text, safe=""))
            else:
                query[key] = text
        if not row.requestBody:
            query.update({k: v if isinstance(v, str) else json.dumps(v) for k, v in args.items()})
        target = path + ("?" + urllib.parse.urlencode(query) if query else "")
        return method, target, args if row.requestBody else None

    def check(self, name, reply):
        """The answer is one that the document has for this operation."""
        answers = self.routes[name][2].responses
        answer = answers[str(reply.status)] if str(reply.status) in answers else answers.default
        if reply.status >= 500:
            raise Broken(f"{name}: {reply}")
        if not answer or (answer is answers.default and reply.status < 400):
            raise Broken(f"{name}: the document has no answer {reply.status}: {reply}")
        if not answer.content:
            return reply
        kind = reply.headers.get("content-type", "").split(";")[0]
        if kind not in answer.content:
            raise Broken(f"{name}: {kind!r} is not in {list(answer.content)}: {reply}")
        if kind.endswith("json"):
            if problem := wrong(self.document, answer.content[kind].schema, reply.json):
                raise Broken(f"{name}: {problem}\n{reply}")
        return reply

    def ask(self, name, /, **args):
        method, target, body = self.request(name, args)
        return self.check(name, self.server.curl(method, target, body))

    def __call__(self, name, /, **args):
        reply = self.ask(name, **args)
        if reply.status >= 300:
            raise Broken(f"{name} {args}: {reply}")
        self.fine.add(name)
        return reply.json if reply.headers.get("content-type") == "application/json" else reply

    def refuse(self, status, name, /, **args):
        return self.ask(name, **args).gives(status).json


def until_paused(api, thread):
    return api.server.paused(thread)


# ---- scenarios: what each asks with success counts ----

def scene_of_workflows(world, api):
    """workflows: checked, drawn, named, given, versions kept, forgotten"""
    world.same(api("check", definition=flow_of(GRAPH)).ok, True)
    world.same(api("check", definition=flow_of("nodes: [{name: a, jq: '}'}]")).ok, False)
    api("workflow_graph", definition=flow_of(GRAPH), format="dot")
    api("kinds", dialect="tasks")
    api("schema", dialect="pipeline")
    world.same(api("workflow_put", name="mine", definition=flow_of(GRAPH)).version, 1)
    world.same(api("workflow_put", name="mine", definition=flow_of(GRAPH)).version, 1, "the same again")
    world.same(api("workflow_put", name="mine", text=ASK).version, 2)
    world.same([w.version for w in api("workflows").workflows if w.name == "mine"], [2])
    world.same(api("workflow_get", name="mine", version=1).definition.files["a.yaml"], GRAPH)
    for version, edge in ((1, '"a" -> "b"'), (2, '"first" -> "q"')):
        if edge not in api("workflow_draw", name="mine", version=version, format="dot").text:
            raise Broken(f"version {version} is not drawn")
    api.refuse(404, "workflow_draw", name="mime")
    api("run_start", workflow="mine", version=1, thread="of-mine")
    api.refuse(404, "workflow_get", name="mine", version=9)
    problem = api.refuse(404, "workflow_get", name="mime")
    world.same(problem.suggestion, "mine")
    api("workflow_delete", name="mine")
    api.refuse(404, "workflow_get", name="mine")


def scene_of_the_server(world, api):
    """the server, its store, tokens and secrets"""
    api("operations")
    world.same(api("server").auth, False)
    world.same(api("store_info").durable, True)
    api("store_check")
    api("store_compact")
    api("store_backup", path=str(world.folder / "copy.db"))
    made = api("token_make", name="ci", scope="run", expires="2999-01-01T00:00:00Z")
    world.same(made.token[:5], "pawl_")
    world.same([t.name for t in api("tokens").tokens], ["ci"])
    if made.token in json.dumps(api("tokens")):
        raise Broken("the token is told again")
    api("token_revoke", id="ci")
    world("secret", "set", "KEY", stdin="hidden-value").gives(0)
    world.same([s.name for s in api("secrets").secrets], ["KEY"])


def scene_of_runs(world, api):
    """runs: started, looked at in all ways, forked, changed, compared"""
    run = api("run_start", definition=flow_of(GRAPH), thread="g", input={"x": 1})
    world.same(run.thread, "g")
    api.server.until("g", "completed")
    world.same([r.thread for r in api("runs", status="completed", limit=1).runs], ["g"])
    world.same([r.thread for r in api("runs", workflow="graph", search="G").runs], ["g", "of-mine"])
    world.same([r.thread for r in api("runs", search="F-Min").runs], ["of-mine"])
    world.same(api("runs", search="nothing like it").runs, [])
    changed = api("runs", workflow="graph").runs[0].updated
    world.same([r.thread for r in api("runs", workflow="graph", since=changed).runs], ["g"])
    world.same([r.thread for r in api("runs", workflow="graph", before=changed).runs], ["of-mine"])
    api.refuse(400, "runs", since="yesterday")
    world.same(api("run_get", thread="g", state=True).state["c"], 2)
    steps = api("run_history", thread="g", values=True, edges=True).checkpoints
    one = api("run_checkpoint", thread="g", checkpoint=steps[1].checkpoint)
    world.same({k: v for k, v in one.items() if k != "state"}, steps[1], "one row of the history")
    world.same(one.state, api("run_state", thread="g", checkpoint=steps[1].checkpoint).state)
    api.refuse(404, "run_checkpoint", thread="g", checkpoint=99)
    world.same(api("run_interrupts", thread="g").interrupts, [])
    api("run_state", thread="g", path=".n", checkpoint=steps[1].checkpoint)
    world.same(api("run_variables", thread="g", path=".n").type, "number")
    world.same(api("run_search", thread="g", text="n").found[0].path, ["n"])
    world.same(api("run_definition", thread="g").definition.files["a.yaml"], GRAPH)
    api("run_diff", thread="g", checkpoint=steps[0].checkpoint)
    api("run_graph", thread="g", format="json")
    world.same(api("run_logs", thread="g", stream="stdout").logs[0].text.split("\n")[0], "printed")
    world.same(api("run_fork", thread="g", checkpoint=2, new_thread="g2").thread, "g2")
    api("run_update", thread="g2", set=[[["n"], 100]])
    api("run_resume", thread="g2")
    api.server.until("g2", "completed")
    world.same(api("run_state", thread="g2", path=".c").state, 100)
    api("run_compare", thread="g", other="g2")
    again = api("run_replay", thread="g", live_from="c", new_thread="g3")
    world.same((again.thread, again.workflow), ("g3", "graph"))
    api.server.until("g3", "completed")
    world.same(api("run_state", thread="g3").state, api("run_state", thread="g").state)
    other = GRAPH.replace("c: .n", "c: (.n * 10)")
    api("run_replay", thread="g", definition=flow_of(other), new_thread="g4")
    api.server.until("g4", "completed")
    world.same(api("run_state", thread="g4", path=".c").state, 20)
    api.refuse(400, "run_replay", thread="g", workflow="a", definition=flow_of(other))
    api.refuse(400, "run_replay", thread="g", live_from="nowhere")
    api.refuse(404, "run_replay", thread="nobody")
    stream = api("run_events", thread="g", **{"from": 0})
    for name in ("run.started", "node.completed", "run.completed"):
        stream.says(f"event: {name}\n")
    api("run_prune", older_than=0, finished_runs=True, thread="g2")
    api("run_delete", thread="g")
    api.refuse(404, "run_get", thread="g")


def scene_of_control(world, api):
    """runs that wait, are answered, stopped, asked to end and cancelled"""
    api("run_start", definition=flow_of(ASK), thread="q")
    run = api.server.until("q", "interrupted")
    world.same(api("run_interrupts", thread="q").interrupts, run.interrupts)
    problem = api.refuse(409, "run_resume", thread="q")
    world.same(problem.code, "answer_needed")
    api("run_resume", thread="q", decision="go", interrupt=run.interrupts[0].id)
    api.server.until("q", "completed")
    api("run_open", thread="q")
    api("run_drop", thread="q")
    api.refuse(409, "run_drop", thread="q")
    problem = api.refuse(409, "run_resume", thread="q", value=1)
    if "completed" not in problem.detail:
        raise Broken(f"it does not say what the state is: {problem}")
    api("run_start", definition=flow_of(SLOW), thread="s")
    world.same(len(api("run_frames", thread="s").frames), 1)
    api("run_stop", thread="s")
    api.server.until("s", "stopped", "running")
    api("run_start", definition=flow_of(SLOW), thread="s2")
    api("run_ask_cancel", thread="s2")
    api.server.until("s2", "cancelled")
    api("run_start", definition=flow_of(SLOW), thread="s3")
    api("run_cancel", thread="s3")
    api.server.until("s3", "cancelled")


def scene_of_a_branch(world, api):
    """one of two branches is ended: the other one goes on, and the run"""
    api("run_start", definition=flow_of(BRANCHES), thread="e", debug={"breakpoints": [{"node": "a2"}, {"node": "b2"}]})
    until_paused(api, "e")
    world.until(lambda: len([f for f in api("frames", thread="e").frames if f.status == "paused"]) == 2, "both branches pause")
    branch = next(f.frame for f in api("frames", thread="e").frames if f.node == "a2")
    world.same(api("end", thread="e", frame=branch).resumed, [branch])
    api("continue", thread="e", frame="all")
    api.server.until("e", "completed")
    state = api("run_state", thread="e").state
    world.same((sorted(state["log"]), "va" in state, state["vb"]), (["a", "b", "b2"], False, 1))
    api("detach", thread="e")


def scene_of_a_session(world, api):
    """a debug session: breakpoints, watches, steps, frames, values"""
    api("run_start", definition=flow_of(GRAPH), thread="d",
        debug={"pause_on_start": True, "breakpoints": [{"node": "c"}]})
    until_paused(api, "d")
    world.same(api("overview", thread="d").session.status, "paused")
    api("session", thread="d")
    api("configure", thread="d", pause_all_on_breakpoint=False, steps=True, idle_limit=600)
    api("extend", thread="d", seconds=900)
    one = api("breakpoint_set", thread="d", node="b", condition=".n > 0", group="g").breakpoint.id
    api("breakpoint_change", thread="d", id=one, condition=None, once=True)
    api("breakpoint_enable", thread="d", ids=[one], enabled=False)
    world.same(len(api("breakpoints", thread="d", enabled=True).breakpoints), 1)
    api("watch_add", thread="d", expression=".n")
    api("watches", thread="d")
    api("breakpoint_save", thread="d")
    world.same(api("breakpoint_saved", thread="d").breakpoints, 2)
    api("watch_delete", thread="d", all=True)
    api("breakpoint_delete", thread="d", all=True)
    world.same(len(api("breakpoint_load", thread="d").breakpoints), 2)
    for name in ("frames", "node", "config", "variables", "summary", "source", "nodes", "graph", "edges",
                 "history", "pending", "injected", "largest"):
        api(name, thread="d")
    api("frame", thread="d", frame=1)
    world.same(api("stack", thread="d", frame=1).frame.node, "a")
    api("search", thread="d", text="n")
    world.same(api("evaluate", thread="d", expression=".n").results, [1])
    api("complete", thread="d", text=".", what="expression")
    api("set", thread="d", path=".n", value=5)
    world.same(len(api("pending", thread="d").pending), 1)
    api("revoke", thread="d", all=True)
    api("set", thread="d", path=["extra"], value={"a": None})
    api("unset", thread="d", path=".extra")
    added = api("inject", thread="d", node={"jq": "{injected: 1}"}, where="before")
    api("inject_remove", thread="d", id=added.injected.id)
    api("step", thread="d", kind="over")
    until_paused(api, "d")
    api("diff", thread="d", since="start")
    world.same(api("written", thread="d", path=".n").node, "a")
    api("config_set", thread="d", path=["shell"], value="echo other")
    api("config_reset", thread="d")
    api("skip", thread="d")
    until_paused(api, "d")
    api("back", thread="d", count=1)
    until_paused(api, "d")
    api("goto", thread="d", node="a")
    until_paused(api, "d")
    api("continue", thread="d", **{"while": ".n > 1000"})
    until_paused(api, "d")
    api("reverse_continue", thread="d")
    until_paused(api, "d")
    api("pause", thread="d")
    document = api("export", thread="d")
    api("detach", thread="d")
    api.server.until("d", "completed")
    world.same(api("run_delete", thread="d").thread, "d")
    world.same(api("run_import", document=document.get("document", document)).thread, "d")


def scene_of_trouble(world, api):
    """a session of a run that fails, asks, is opened again, replayed and aborted"""
    api("run_start", definition=flow_of(BAD), thread="f", debug={"breakpoints": [{"type": "exception"}]})
    until_paused(api, "f")
    world.write("fine", "")
    api("retry", thread="f")
    api.server.until("f", "completed")
    done = [c for c in api("run_history", thread="f").checkpoints if c.status == "completed" and c.node]
    api("replay", thread="f", checkpoint=done[0].checkpoint, new_thread="f2")
    api("run_start", definition=flow_of(ASK), thread="w", debug={})
    world.until(lambda: api.server.run("w").interrupts, "it asks")
    api("run_open", thread="w")
    api("answer", thread="w", decision="stay")
    api.server.until("w", "completed")
    api("run_start", definition=flow_of(SLOW), thread="x", debug={"pause_on_start": True})
    until_paused(api, "x")
    api("abort", thread="x")
    api.server.until("x", "cancelled")


def scene_of_other_paths(world, api):
    """the other paths of operations: of frames, tasks and groups, as debuggers of tests have them"""
    api("post_workflows", name="other", text=GRAPH)
    world.same(api("post_workflows_kinds", dialect="tasks"), api("kinds", dialect="tasks"))
    world.same(api("post_workflows_schema"), api("schema"))
    begun = api("post_test_runs_schedule_debug", workflow="other", thread="o", pause_on_start=True,
                breakpoints=[{"node": "c", "group": "g"}])
    until_paused(api, "o")
    world.same(api("get_threads_thread", thread="o").run, begun.run)
    world.same(api("get_run").run, begun.run)
    session = api("session", thread="o").id
    for thread in ("o", str(begun.run), session):
        world.same(api("get_debug_thread_state", thread=thread).value, {"n": 1})
    world.same(api("put_debug_thread_breakpoint_groups_group", thread="o", group="g", enabled=False).changed, [1])
    api("delete_debug_thread_breakpoints_id", thread="o", id=1)
    api("watch_add", thread="o", expression=".n")
    api("delete_debug_thread_watches_id", thread="o", id=1)
    of_frame = {"thread": "o", "frame": 1}
    api("post_debug_thread_frames_frame_variables", **of_frame, path=["n"], value=2)
    world.same(api("get_debug_thread_frames_frame_variables", **of_frame, path=".n").value, 2)
    world.same(len(api("get_debug_thread_frames_frame_pending", **of_frame).pending), 1)
    world.same(api("delete_debug_thread_frames_frame_variables_path", **of_frame, path="n").pending, [])
    api("delete_debug_thread_variables_path", thread="o", path="n")
    world.same(api("post_debug_thread_frames_frame_evaluate", **of_frame, expression=".n").results, [None])
    api("revoke", thread="o", all=True)
    api("put_debug_thread_task_config", thread="o", path=["jq"], value="{n: 2}")
    api("put_debug_thread_frames_frame_task_config", **of_frame, path=["jq"], value="{n: 3}")
    for name in ("get_debug_thread_task_config", "get_debug_thread_frames_frame_task_config"):
        world.same(api(name, **(of_frame if "frames" in name else {"thread": "o"})).raw["jq"], "{n: 3}")
    api("post_debug_thread_inject_task", thread="o", node={"jq": "{i: 1}"}, where="before")
    two = api("post_debug_thread_frames_frame_inject_task", **of_frame, node={"jq": "{i: 2}"}, where="after")
    world.same(len(api("get_debug_thread_injected_tasks", thread="o").injected), 2)
    api("delete_debug_thread_injected_tasks_id", thread="o", id=two.injected.id)
    world.same(len(api("get_debug_thread_frames_frame_injected_tasks", **of_frame).injected), 1)
    api("get_debug_thread_frames_frame_history", **of_frame)
    api("detach", thread="o")
    api.server.until("o", "completed")
    api("workflow_delete", name="other")


# ---- errors and the rest of HTTP ----

def errors_say_what_is_wrong(world):
    """404, 409, 400 with the path of the field, 405 with Allow, 413, 415, each a problem document"""
    with Server(world, "--max-body", 1) as s:
        s.ask("GET", "/runs/nobody").gives(404).has(code="not_found", status=404, title="Not Found")
        s.ask("GET", "/debug/nobody").gives(404)
        s.ask("POST", "/debug/nobody/step", {"kind": "over"}).gives(404)
        s.ask("GET", "/nothing/here").gives(404)
        s.ask("GET", "/..%2f..%2fetc").gives(404)
        s.begin("t", ASK)
        s.until("t", "interrupted")
        problem = s.ask("POST", "/debug/t/continue", {}).json
        if problem.status not in (None, 409):
            raise Broken(f"continue of a run that waits: {problem}")
        s.ask("POST", "/runs", {"definition": flow_of(ASK), "thread": "t"}).gives(409).has(code="exists")
        for body, field in (({"workflow": 5}, "workflow"), ({"workflow": "a", "inputt": {}}, "inputt"),
                            ({"definition": {"main": "a", "files": {"a.yaml": 5}}},
                             'definition.files["a.yaml"]'),
                            ({"definition": flow_of(ASK), "debug": {"breakpoints": [7]}},
                             "debug.breakpoints[0]"),
                            ({"definition": flow_of(ASK), "debug": {"breakpoints": [{"node": "a"}, {"nodee": "a"}]}},
                             "debug.breakpoints[1].nodee"),
                            ({"definition": flow_of(ASK), "debug": {"breakpoints": [{"node": "a", "enabled": 5}]}},
                             "debug.breakpoints[0].enabled"),
                            ({"definition": flow_of(ASK), "mode": "fast"}, "mode")):
            s.ask("POST", "/runs", body).gives(400).has(code="usage", field=field)
        s.ask("POST", "/runs", {}).gives(400)
        s.ask("POST", "/runs", b"{").gives(400).has(code="syntax", field="body")
        s.ask("POST", "/runs", b"[]").gives(400).has(field="body")
        s.ask("GET", "/runs?limit=many").gives(400).has(field="limit")
        s.ask("GET", "/runs?limit=%ff").gives(400).has(field="query")
        reply = s.ask("PATCH", "/runs").gives(405)
        world.same(sorted(reply.headers["allow"].split(", ")), ["GET", "POST"], "Allow")
        for path, allow in (("/sign-in", "POST"), ("/openapi.json", "GET"), ("/server", "GET")):
            world.same(s.ask("PATCH", path).gives(405).headers["allow"], allow, f"Allow of {path}")
        world.same(s.ask("POST", "/healthz", root="").gives(405).headers["allow"], "GET")
        s.ask("POST", "/runs", b"x" * 100, {"Content-Type": "text/plain"}).gives(415)
        s.ask("POST", "/runs", {"workflow": "a" * (2 << 20)}).gives(413)
        s.ask("GET", "/ws").gives(426)


def a_bad_request_does_nothing(world):
    """what is wrong with a request is said before the run is taken for a debugger"""
    with Server(world) as s:
        s.begin("t", BAD)
        before = s.until("t", "failed")
        s.ask("POST", "/debug/t/step", {"kind": "sideways"}).gives(400).has(field="kind")
        s.ask("POST", "/debug/t/step", {"kind": "over", "knid": 1}).gives(400).has(field="knid")
        world.same(s.run("t"), before, "the run")


def what_is_not_there(world):
    """ids and names in a debug session that nothing has are 404, and say what there is"""
    with Server(world) as s:
        s.begin("t", GRAPH, debug={"pause_on_start": True, "breakpoints": [{"node": "c", "group": "g"}]})
        s.paused("t")
        for body, field in (({"breakpoints": [{"node": "a"}, {"line": "x"}]}, "breakpoints[1].line"), ({"node": 5}, "node")):
            s.ask("POST", "/debug/t/breakpoints", body).gives(400).has(field=field)
        for method, path, body, words in (
                ("DELETE", "breakpoints/9", None, "the only one is 1"), ("PUT", "breakpoints/9", {"enabled": False}, "no breakpoint 9"),
                ("PUT", "breakpoint-groups/h", {"enabled": False}, "in the group `h`"), ("DELETE", "watches/9", None, "there are none"),
                ("DELETE", "injected-tasks/9", None, "there are none"), ("DELETE", "pending?id=9", None, "there are none"),
                ("DELETE", "frames/1/variables/n", None, "no pending change of `.n`"), ("GET", "frames/9/variables", None, "frame 9"),
                ("GET", "variables?checkpoint=99", None, "checkpoint 99"), ("POST", "goto", {"node": "x"}, "no node `x`"),
                ("POST", "step", {"kind": "over", "frame": 9}, "frame 9"), ("POST", "replay", {"checkpoint": 99}, "checkpoint 99")):
            s.ask(method, f"/debug/t/{path}", body).gives(404).has(code="not_found").says(words)


def changes_that_are_taken_back(world):
    """variables answer with what is pending, and DELETE of one in a frame takes its change back"""
    with Server(world) as s:
        s.begin("t", GRAPH, debug={"pause_on_start": True})
        s.paused("t")
        if "pending" in s.ask("GET", "/debug/t/variables").gives(200).json:
            raise Broken("nothing is pending")
        for name, value in (("n", 5), ("n", 6), ("odd name.x", 7)):
            s.ask("POST", "/debug/t/frames/1/variables", {"name": name, "value": value}).gives(200)
        shown = s.ask("GET", "/debug/t/frames/1/variables").gives(200).json
        world.same((shown.value, [p.value for p in shown.pending]), ({"n": 6, "odd name.x": 7}, [5, 6, 7]))
        left = s.ask("DELETE", "/debug/t/frames/1/variables/n").gives(200).json
        world.same([p.path for p in left.pending], [["odd name.x"]])
        world.same(s.ask("GET", "/debug/t/variables?path=.n").json.value, 1, "n, as it was before")
        s.ask("DELETE", "/debug/t/pending?path=.%22odd%20name.x%22").gives(200).has(pending=[])
        s.ask("DELETE", "/debug/t/variables/n").gives(200)
        world.same(s.ask("GET", "/debug/t/variables").json.value, {}, "without n")


def memory_goes_back(world):
    """after a state of many values was made and given, the memory of it goes back to the system"""
    text = ("name: big\nnodes:\n  - {name: a, jq: '{big: [range(900000) | {a: ., b: \"x\"}]}'}\n"
            "  - {name: q, approval: {prompt: Go}}\n")

    def memory(s, name):
        lines = Path(f"/proc/{s.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith(name))
    with Server(world) as s:
        if "asan" in Path(f"/proc/{s.process.pid}/maps").read_text():
            return  # it keeps what was freed, to find who uses it
        s.begin("t", text)
        s.until("t", "interrupted")
        if len(s.ask("GET", "/runs/t/state").gives(200).body) < 12000000:
            raise Broken("the state is not large")
        most = memory(s, "VmHWM")
        world.until(lambda: memory(s, "VmRSS") < most // 2, f"less than half of {most} KB is in use")


def too_many_requests_wait(world):
    """more than --rate requests a second are answered with 429 and Retry-After, and health is not counted"""
    with Server(world, "--rate", 5) as s:
        statuses = [s.ask("GET", "/server") for _ in range(40)]
        late = [r for r in statuses if r.status == 429]
        if not late or statuses[0].status != 200:
            raise Broken(f"40 requests: {[r.status for r in statuses]}")
        world.same(late[0].headers.get("retry-after"), "1")
        late[0].has(code="too_many")
        s.ask("GET", "/healthz", root="").gives(200)
        world.until(lambda: s.ask("GET", "/server").status == 200, "a second later it is answered again")


def head_options_etag_location(world):
    """HEAD has no body and ends, OPTIONS says the methods, what cannot change has an ETag, Location leads to the run"""
    with Server(world) as s:
        reply = s.ask("POST", "/runs", {"definition": flow_of(ASK), "thread": "ä b/c"}).gives(201)
        there = reply.headers["location"]
        world.same(s.ask("GET", there, root="").gives(200).json.thread, "ä b/c")
        s.until("%C3%A4%20b%2Fc", "interrupted")
        got, head = s.curl("GET", "/runs"), s.curl("HEAD", "/runs").gives(200)
        world.same((head.headers["content-length"], head.body), (str(len(got.body)), b""))
        s.curl("HEAD", "/runs/nobody").gives(404)
        s.curl("HEAD", "/runs/1/events", None, "--max-time", "5").gives(200)
        s.curl("HEAD", "/events", None, "--max-time", "5").gives(200)
        reply = s.ask("OPTIONS", "/runs").gives(204)
        world.same(sorted(reply.headers["allow"].split(", ")), ["GET", "POST"])
        one = s.ask("GET", "/runs/1/state?checkpoint=2").gives(200)
        tag = one.headers["etag"]
        world.same(s.ask("GET", "/runs/1/state?checkpoint=2", headers={"If-None-Match": tag}).gives(304).body, b"")
        s.ask("GET", "/runs/1/state?checkpoint=1", headers={"If-None-Match": tag}).gives(200)
        for path in ("/runs/1/checkpoints/2", "/kinds?dialect=tasks", "/schema"):
            tag = s.ask("GET", path).gives(200).headers["etag"]
            world.same(s.ask("GET", path, headers={"If-None-Match": tag}).gives(304).body, b"")
        if "etag" in s.ask("GET", "/runs/1").gives(200).headers:
            raise Broken("what may change has an ETag")
        tag = s.ask("GET", "/runs/1/definition").gives(200).headers["etag"]
        s.ask("GET", "/runs/1/definition", headers={"If-None-Match": tag}).gives(304)
        for path in ("/api/runs", "/api/v1/runs"):
            s.ask("GET", path, root="").gives(200)


def a_key_is_one_run(world):
    """Idempotency-Key: the same key is the same run, also after the server was killed, and of another asker another"""
    with Server(world) as s:
        key = {"Idempotency-Key": "order 17"}
        body = {"definition": flow_of(GRAPH)}
        first = s.ask("POST", "/runs", body, key).gives(201).json
        world.same(s.ask("POST", "/runs", body, key).gives(200).json.run, first.run)
        s.kill()
        s.start()
        world.same(s.ask("POST", "/runs", body, key).gives(200).json.run, first.run)
        other = s.ask("POST", "/runs", body, {"Idempotency-Key": "order 18"}).gives(201).json
        if other.run == first.run:
            raise Broken("another key is the same run")
        world.same(len(s.ask("GET", "/runs").json.runs), 2)
        stream = s.ask("POST", "/runs", body, {**key, "Accept": "text/event-stream"}).gives(200)
        world.same([stream.headers["content-type"]] + [line for line in stream.body.decode().split("\n") if line.startswith("event: run")],
                   ["text/event-stream", "event: run.started", "event: run.completed"], "the same again, by who listens")
        named = {**body, "thread": "mine"}
        s.ask("POST", "/runs", named, key).gives(201, 200)
        s.ask("POST", "/runs", named).gives(409)


def camel_case_and_the_aliases(world):
    """camelCase, and the paths and words of the documents about debuggers, are the same operations"""
    with Server(world) as s:
        body = {"definition": flow_of(GRAPH), "thread": "t", "pauseOnStart": True,
                "breakpoints": [{"node": "c", "hitCondition": ">= 1", "ignoreCount": 0}]}
        s.ask("POST", "/test_runs/schedule_debug", body).gives(201)
        frame = s.paused("t")[0].frame
        session = s.ask("GET", "/debug/t").gives(200).json.session.id
        s.ask("GET", f"/debug/{session}/frames").gives(200)
        s.ask("GET", "/threads/t").gives(200).has(thread="t")
        s.ask("POST", "/workflows", {"name": "put", "text": GRAPH}).gives(200).has(name="put", version=1)
        world.same(s.ask("POST", "/workflows/kinds", {"dialect": "tasks"}).gives(200).json,
                   s.ask("GET", "/kinds?dialect=tasks").gives(200).json)
        s.ask("POST", "/workflows/schema", {}).gives(200)
        for path in ("state", f"frames/{frame}/variables", f"frames/{frame}/pending", "task-config",
                     f"frames/{frame}/task-config", f"frames/{frame}/injected-tasks", "injected-tasks",
                     f"frames/{frame}/history"):
            s.ask("GET", f"/debug/t/{path}").gives(200)
        s.ask("POST", f"/debug/t/frames/{frame}/variables", {"name": "n", "value": 7}).gives(200)
        s.ask("POST", f"/debug/t/frames/{frame}/variables", {"name": "odd name.x", "value": 7}).gives(200)
        s.ask("DELETE", f"/debug/t/frames/{frame}/variables/odd%20name.x").gives(200)
        for words in ({"nodeId": "c", "position": "after"}, {"type": "state", "state_key": "n", "state_value": 70}):
            one = s.ask("POST", "/debug/t/breakpoints", words).gives(200).json.breakpoint
            s.ask("DELETE", f"/debug/t/breakpoints/{one.id}").gives(200)
        s.ask("POST", f"/debug/t/frames/{frame}/evaluate", {"expression": ".n"}).gives(200).has(results=[7])
        s.ask("POST", f"/debug/t/frames/{frame}/inject-task",
              {"task": {"jq": "{i: 1}"}, "insertMode": "before_current"}).gives(200)
        listed = s.ask("GET", "/debug/t/injected-tasks").json.injected
        s.ask("DELETE", f"/debug/t/injected-tasks/{listed[0].id}").gives(200)
        one = s.ask("POST", "/debug/t/breakpoints", {"node": "b", "logMessage": "n"}).gives(200).json.breakpoint
        s.ask("DELETE", f"/debug/t/breakpoints/{one.id}").gives(200)
        s.ask("POST", "/debug/t/step", {"frameId": frame, "mode": "over"}).gives(200)
        s.paused("t")
        s.ask("POST", "/debug/t/continue", {"frameId": 0}).gives(200)
        s.world.until(lambda: [f for f in s.paused("t") if f.node == "c"], "it stops at c")
        s.ask("POST", "/debug/t/continue", {"frameId": 0}).gives(200)
        world.same(s.until("t", "completed").status, "completed")
        problem = s.ask("POST", "/runs", b'{"workflow": "a", "work_flow": 1, "workFlow": 2}').gives(400)
        problem.has(code="usage")


def names_are_whole(world):
    """a name of a field is compared whole: neither a NUL nor its length makes it another's"""
    with Server(world) as s:
        s.ask("POST", "/runs", b'{"workflow\\u0000x": "a"}').gives(400)
        s.ask("GET", "/runs?limit%00x=1").gives(400)
        long = "x" * 80
        s.ask("POST", "/runs", {long + "1": 1, long + "2": 1}).gives(400).says("takes no argument")


def numbers_are_no_names(world):
    """no new run is called like a number, so a number always means the run that has it: start, fork, replay, import"""
    with Server(world) as s:
        for thread in ("a", "b", "run.7", "7b"):
            s.begin(thread, BRANCHES)
            s.until(thread, "completed")
        number = s.run("b").run
        exported = s.ask("GET", "/debug/a/export").gives(200).json
        for name in ("1", "2", str(number), "7", "007", "20260115"):
            for reply in (s.ask("POST", "/runs", {"definition": flow_of(GRAPH), "thread": name}),
                          s.ask("POST", "/runs/a/fork", {"new_thread": name}),
                          s.ask("POST", "/runs/import", {"document": {**exported, "thread": name}})):
                reply.gives(400).has(code="usage").says(f"called `{name}`", "a number names the run that has it")
        world.same(s.run(str(number)).thread, "b")
        world.same(len(s.ask("GET", "/runs").json.runs), 4)


# ---- fuzzing ----

ODD = [None, True, False, 0, -1, 1.5, 1e300, 2**63, -2**63, 10**40, "", "a", "\u0000", "a\u0000b", "\ufeff", "\U0001f4a9",
       "\u202e", "../../etc/passwd", "..", ".", "%00", "'\"<>&", "x" * 5000, [], {}, [[]], [None], {"a": None}, [1, "a", {}],
       [["n"], 1], {"": {}}, "all", ".n", "error", "now", "\n\r", "null"]


def odd(chance):
    value = chance.choice(ODD)
    if chance.random() < 0.1:
        for _ in range(chance.choice([3, 100, 600])):
            value = [value] if chance.random() < 0.5 else {"a": value}
    return value


def fuzzed(document, row, chance, threads):
    """Arguments, by the schema and then perhaps spoilt; whether they are as the schema says."""
    args = {}
    for parameter in row.parameters or []:
        inner = parameter.schema or parameter.content["application/json"].schema
        if parameter.required or chance.random() < 0.3:
            args[parameter.name] = example(document, inner, chance)
    body = row.requestBody and row.requestBody.content["application/json"].schema
    if body:
        args.update(example(document, body, chance))
    if "thread" in args and chance.random() < 0.85:
        args["thread"] = chance.choice(threads)
    how = chance.random()
    keys = [k for k in args if k != "thread"]
    if how < 0.25 and keys:
        args[chance.choice(keys)] = odd(chance)
    elif how < 0.35 and keys:
        del args[chance.choice(keys)]
    elif how < 0.45:
        args[chance.choice(["unknown", "frame\u0000", "Thread", "x" * 100, "\u00e9"])] = odd(chance)
    return args


def sent(api, name, args):
    method, target, body = api.request(name, args)
    target = target.replace("{thread}", "nobody").replace("{name}", "nobody").replace("{id}", "1")
    return api.server.ask(method, target, body)


METHODS = {"get", "post", "put", "delete"}  # with which the name of another path to an operation begins
SPARED = {"run_events", "get_events", "get_debug_thread_events"}  # streams; tests/serve/events.py


def fuzz_rows(world, api, tap):
    """A case for each route: whatever it is sent, the answer is one of the document, and never a failure of the server."""
    threads = ["g", "f-paused", "f-asks", "f-ended", "nobody", "1", "debug-1-1", "\u00e9", "a b", "../x"]
    api.server.begin("f-paused", BRANCHES, debug={"pause_on_start": True})
    api.server.begin("f-asks", ASK)
    api.server.begin("f-ended", GRAPH)
    for name in sorted(api.routes):
        if name in SPARED:
            continue
        chance = random.Random(f"{SEED} {name}")
        problem = None
        for _ in range(FUZZ_EACH if name.split("_")[0] not in METHODS else (FUZZ_EACH + 2) // 3):
            args = fuzzed(api.document, api.routes[name][2], chance, threads)
            if name == "store_backup":
                args["path"] = str(world.folder / f"copy-{chance.random()}") if chance.random() < 0.5 else "rel"
            try:
                api.check(name, sent(api, name, args))
                if api.server.process.poll() is not None:
                    raise Broken(f"the server has ended: {api.server.said[-3000:]}")
            except (Broken, OSError) as error:
                problem = f"{name} {json.dumps(args)[:1500]}\n{error!r:.1500}\nseed {SEED}"
                break
        tap.case(problem is None, f"fuzzed: {' '.join(api.routes[name][:2])}", problem)


# ---- the document itself ----

CLIENTS = Path(__file__).resolve().parents[1] / "clients"


def the_document_is_valid(tap, api, folder):
    title = "openapi.json is a valid OpenAPI 3.1 document, says a validator from npm"
    (folder / "openapi.json").write_text(json.dumps(api.document))
    done = subprocess.run([CLIENTS / "run", "openapi.mjs", folder / "openapi.json"], capture_output=True,
                          text=True, timeout=5 * PATIENCE)
    if "# SKIP" in done.stdout:
        tap.skip(title, done.stdout.split("# SKIP ")[1].strip())
    else:
        tap.case(done.returncode == 0, title, done.stdout + done.stderr)
    refs = [v for v in walk(api.document) if isinstance(v, dict) and "$ref" in v]
    broken = []
    for ref in refs:
        try:
            follow(api.document, ref["$ref"])
        except KeyError:
            broken.append(ref["$ref"])
    tap.case(not broken, "its references lead somewhere", broken)


def walk(value):
    yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from walk(inner)


# ---- all of it ----

def routes(tap, pawl):
    world = World(pawl)
    try:
        with Server(world, "--rate", 100000) as s:
            api = Api(s)
            for scene in cases_of(sys.modules[__name__], "scene_"):
                problem = None
                try:
                    scene(world, api)
                except Exception as error:  # pylint: disable=broad-except
                    problem = f"{type(error).__name__}: {error}"
                tap.case(problem is None, name_of(scene), problem)
            for name, (method, path, _row) in sorted(api.routes.items()):
                # signing in needs --auth (security.py), WebSockets and events that do not end are more than an answer
                # (debugging.py, events.py)
                if name not in ("sign_in", "sign_out", "websocket", "get_events", "get_debug_thread_events"):
                    tap.case(name in api.fine, f"{method} {path} is asked with success")
            the_document_is_valid(tap, api, world.folder)
            fuzz_rows(world, api, tap)
    except Broken as error:
        tap.case(False, "the server goes on, and ends well", error)
    finally:
        world.close()


def main():
    pawl = sys.argv[1]
    tap = Tap()
    if not shutil.which("curl"):
        return tap.finish("curl is not installed")
    routes(tap, pawl)
    for case in (errors_say_what_is_wrong, a_bad_request_does_nothing, what_is_not_there,
                 changes_that_are_taken_back, memory_goes_back, too_many_requests_wait,
                 head_options_etag_location, a_key_is_one_run, camel_case_and_the_aliases, names_are_whole,
                 numbers_are_no_names):
        wrong_with = try_case(case, pawl, 1)
        tap.case(wrong_with is None, name_of(case), wrong_with)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
