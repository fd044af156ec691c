#!/usr/bin/env python3
"""The two flows of a debugger over HTTP: of tests over REST and events, of graphs over a WebSocket. Prints TAP.

    tests/serve/debugging.py PAWL
"""

import json
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from debugger import BRANCHES  # noqa: E402
from server import Closed, Server, flow_of  # noqa: E402
from world import PATIENCE, Broken, run_all  # noqa: E402

TASKS = """
id: test
config: {n: 1}
tasks:
  - {name: run_shell, id: one, config: {command: 'echo "::set-json n 2"'}}
  - name: run_tasks_concurrent
    id: both
    config:
      tasks:
        - {name: run_shell, id: left, config: {command: 'echo left >> ran'}}
        - {name: run_shell, id: right, config: {command: 'echo right >> ran'}}
  - {name: run_shell, id: skipped, config: {command: 'echo skipped >> ran'}}
  - {name: run_shell, id: last, config: {envVars: {N: n}, command: 'echo "last $N" >> ran'}}
"""
GRAPH = """
name: graph
state: {n: 1}
nodes:
  - {name: a, jq: '{n: (.n + 1)}'}
  - {name: b, jq: '{n: (.n * 10)}'}
  - {name: bad, jq: 'error("no")'}
  - {name: c, jq: '{c: .n}'}
edges:
  - {from: __start__, to: a}
  - {from: a, to: b}
  - {from: b, to: bad}
  - {from: bad, to: c, on: error}
  - {from: bad, to: c}
  - {from: c, to: __end__}
"""
ASK = "name: ask\nnodes:\n  - {name: q, approval: {prompt: Go?, options: [go, stay]}, output: said}\n"


def starts_that_are_refused(world):
    """a start whose breakpoints cannot be set makes no run, and costs the others nothing"""
    with Server(world) as s:
        for bad in ([{"node": "a", "condition": "((("}], [{"node": "a"}, {"type": "q"}], [{}], [{"node": 5}],
                    [{"node": "a", "position": "above"}]):
            s.ask("POST", "/runs", {"definition": flow_of(GRAPH), "thread": "t",
                                    "debug": {"breakpoints": bad}}).gives(400)
            s.ask("GET", "/runs/t").gives(404)
        s.ask("POST", "/runs", {"definition": flow_of(ASK), "thread": "waits"}).gives(201)
        s.ask("POST", "/debug/waits", {"debug": {"breakpoints": [{"node": "q", "condition": "((("}]}}).gives(400)
        world.same(s.ask("GET", "/runs").gives(200).json.runs[0].thread, "waits")
        s.ask("POST", "/runs", {"definition": flow_of(GRAPH), "thread": "t",
                                "debug": {"breakpoints": [{"node": "b"}]}}).gives(201)
        s.ask("POST", "/runs/waits/resume", {"decision": "go"}).gives(200)


def streams_of_debugged_runs(world):
    """the stream of a run ends with it, although a debugger still has it"""
    with Server(world) as s:
        s.ask("POST", "/runs", {"definition": flow_of(GRAPH), "thread": "t",
                                "debug": {"pause_on_start": True}}).gives(201)
        stream = s.events("/runs/t/events?from=0")
        s.ask("POST", "/debug/t/abort", {}).gives(200)
        told = [event.name for event in stream]
        world.same(told[-1], "run.cancelled")


CLEANS = """
tasks:
  - {name: run_shell, id: one, config: {command: echo one >> ran}}
cleanupTasks:
  - {name: run_shell, id: tidy, config: {command: echo tidy >> ran}}
  - {name: run_shell, id: last, config: {command: echo last >> ran}}
"""


def cancelled_while_paused_in_cleanup(world):
    """abort and cancel, over REST and a WebSocket, of a test that is paused in its cleanup: it ends, cancelled"""
    with Server(world) as s, s.talk() as talk:
        for way in ("abort", "cancel", "talk"):
            (world.folder / "ran").unlink(missing_ok=True)
            s.begin(way, CLEANS, debug={"breakpoints": [{"node": "tidy"}, {"node": "last"}]})
            world.same(s.paused(way)[0].node, "tidy")
            if way == "abort":
                s.ask("POST", "/debug/abort/abort", {}).gives(200)
            elif way == "cancel":
                s.ask("POST", "/runs/cancel/cancel", {}).gives(200).has(status="cancelled")
            else:
                world.same(talk.call("run_cancel", {"thread": "talk"}).data.status, "cancelled")
            s.until(way, "cancelled")
            world.same(world.read("ran"), "one\ntidy\nlast\n", way)


def refused_calls_take_no_run(world):
    """a debug request that is refused leaves a run that has ended, or stands still, as it was: it can be deleted and resumed"""
    with Server(world) as s, s.talk() as talk:
        for thread in ("a", "b", "c"):
            s.begin(thread, GRAPH)
            s.until(thread, "completed")
        s.begin("p", GRAPH, debug={"breakpoints": [{"node": "b"}]})
        s.paused("p")
        s.ask("DELETE", "/debug/p").gives(200)
        for _ in range(3):
            s.ask("POST", "/debug/a/continue", {}).gives(409).has(code="wrong_state")
            s.ask("POST", "/debug/b/breakpoints", {"node": "a", "condition": "((("}).gives(400)
            talk.refuse("continue", {"thread": "c"})
        for thread in ("a", "b", "c"):
            world.until(lambda: s.ask("DELETE", f"/runs/{thread}").status == 200, f"{thread} is deleted")
            s.ask("GET", f"/runs/{thread}").gives(404)
        s.begin("kept", GRAPH)
        s.until("kept", "completed")
        s.ask("POST", "/debug/kept/breakpoints", {"node": "a"}).gives(200)
        s.ask("POST", "/debug/kept/continue", {}).gives(409)
        world.same(len(s.ask("GET", "/debug/kept/breakpoints").gives(200).json.breakpoints), 1)


def keys_of_their_own(world):
    """a key does not make another's run the answer to a start"""
    with Server(world) as s:
        s.ask("POST", "/runs", {"definition": flow_of(ASK), "thread": "theirs"}).gives(201)
        s.ask("POST", "/runs", {"definition": flow_of(GRAPH), "thread": "theirs"},
              {"Idempotency-Key": "never used"}).gives(409)


def tests_over_rest(world):
    """a test is scheduled with breakpoints, its frames stepped and changed over REST, followed by events, and let go"""
    with Server(world) as s:
        began = s.ask("POST", "/test_runs/schedule_debug", {
            "definition": flow_of(TASKS), "thread": "t", "pauseOnStart": False, "pauseAllOnBreakpoint": False,
            "breakpoints": [{"taskId": "left"}, {"taskId": "right"}, {"taskId": "skipped"}]}).gives(201).json
        stream = s.events("/debug/t/events")
        world.same(stream.status, 200)

        def both():
            frames = [f for f in s.ask("GET", "/debug/t/frames").gives(200).json.frames if f.status == "paused"]
            return {f.id or f.node: f for f in frames} if len(frames) == 2 else None
        frames = world.until(both, "both tasks of the concurrent one are paused")
        world.same(sorted(frames), ["left", "right"])
        left, right = frames["left"].frame, frames["right"].frame
        world.same(s.ask("GET", f"/debug/{began.session or 't'}").gives(200).json.session.paused, 2)
        s.ask("POST", f"/debug/t/frames/{left}/variables", {"name": "n", "value": 7}).gives(200)
        s.ask("POST", f"/debug/t/frames/{left}/evaluate", {"expression": ".n * 2"}).gives(200).has(results=[14])
        s.ask("POST", f"/debug/t/frames/{right}/evaluate", {"expression": ".n"}).gives(200).has(results=[2])
        pending = s.ask("GET", f"/debug/t/frames/{left}/pending").gives(200).json.pending
        world.same([p.value for p in pending], [7])
        s.ask("POST", f"/debug/t/frames/{left}/inject-task", {
            "task": {"name": "run_shell", "id": "extra", "config": {"command": "echo extra >> ran"}},
            "insertMode": "before_current"}).gives(200)
        world.same(len(s.ask("GET", f"/debug/t/frames/{left}/injected-tasks").json.injected), 1)
        s.ask("POST", "/debug/t/step", {"frameId": left, "mode": "over"}).gives(200)
        stream.wait("debug.frame.resumed", frame=left)

        def left_again():
            return s.ask("POST", "/debug/t/continue", {"frameId": left}).gives(200, 404, 409).status != 409
        world.until(left_again, "the frame of `left` stands still after the injected task")
        s.ask("POST", "/debug/t/step", {"frameId": right, "mode": "out"}).gives(200)
        stream.wait("debug.frame.resumed", frame=right)

        def at(name):
            def there():
                found = [f for f in s.ask("GET", "/debug/t/frames").gives(200).json.frames if f.status == "paused"]
                for f in found:
                    if (f.id or f.node) == name:
                        return f
                for f in found:
                    s.ask("POST", "/debug/t/continue", {"frameId": f.frame})
                return None
            return world.until(there, f"a frame is paused at {name}")
        frame = at("skipped")
        s.ask("POST", "/debug/t/skip", {"frameId": frame.frame}).gives(200)
        stream.wait("debug.task.skipped")
        exported = s.ask("GET", "/debug/t/export").gives(200).json
        if "left" not in json.dumps(exported):
            raise Broken(f"the export does not speak of the run: {exported}")
        s.ask("DELETE", "/debug/t").gives(200)
        s.until("t", "completed")
        lines = world.read("ran").split("\n")
        world.same(sorted(lines), ["", "extra", "last 2", "left", "right"] if "last 2" in lines
                   else ["", "extra", "last 7", "left", "right"], "what ran")


def what_is_told_of_a_pause(world):
    """debug.frame.paused has position, reason, breakpoints, the state and the resolved config"""
    with Server(world) as s:
        s.begin("t", GRAPH, debug={"pause_on_start": True})
        s.paused("t")
        with s.events("/debug/t/events") as stream:
            s.ask("POST", "/debug/t/breakpoints", {"node": "b"}).gives(200)
            stream.wait("debug.breakpoint.set")
            s.ask("POST", "/debug/t/continue", {}).gives(200)
            paused = stream.wait("debug.frame.paused", node="b")
            for name in ("thread", "run", "at", "position", "reason", "breakpoints", "keys", "state", "frame"):
                if paused.data[name] is None:
                    raise Broken(f"it does not say `{name}`: {paused.data}")
            world.same(paused.data.state["n"], 2)


def graphs_over_a_websocket(world):
    """set_breakpoints, step_over, inspect_state, get_diff, continue, clear_breakpoints; breakpoint_hit, paused, completed"""
    with Server(world) as s:
        run = s.begin("t", GRAPH, debug={"pause_on_start": True})
        s.paused("t")
        with s.talk(f"/debug/{run.session or 't'}", root="") as talk:
            world.same(talk.status, 101)
            world.same(talk.call("set_breakpoints", {"node_id": "c"}).type, "breakpoints_set")
            world.same(talk.call("step_over").type, "resumed")
            paused = talk.wait("paused", node="b")
            world.same(paused.data.position, "before")
            world.same(talk.call("inspect_state").data.state["n"], 2)
            talk.call("set", {"path": ".n", "value": 5})
            world.same(talk.wait("state_update").data.state["n"], 5)
            if "changed" not in talk.call("get_diff").data:
                raise Broken("get_diff has no `changed`")
            talk.call("set_breakpoints", {"type": "exception", "caught": True})
            talk.call("continue")
            world.same(talk.wait("exception").data.node, "bad")
            talk.call("continue")
            hit = talk.wait("breakpoint_hit", node_id="c").data
            world.same((hit.state["n"], hit.position), (50, "before"))
            world.same(talk.call("clear_breakpoints").type, "breakpoints_cleared")
            world.same(talk.call("continue", {"frameId": 0}).type, "resumed")
            talk.wait("completed")
        world.same(s.run("t").status, "completed")
        world.same(s.ask("GET", "/runs/t/state?path=.c").json.state, 50)


GATE = """
name: gate
state: {n: 1}
nodes:
  - {name: a, jq: '{n: 2}'}
  - {name: b, shell: 'touch began; while ! test -e go; do sleep 0.05; done'}
  - {name: c, jq: '{c: .n}'}
"""


def whom_events_are_about(world):
    """every event of a session names run, thread, session and time, by any door, of runs of another process too; a stop has the state"""
    world.write("gate.yaml", GATE)
    with Server(world) as s:
        for thread in ("here", "there"):
            (world.folder / "began").unlink(missing_ok=True)
            (world.folder / "go").unlink(missing_ok=True)
            other = None
            if thread == "here":
                s.begin(thread, GATE)
            else:
                other = world.start("run", "gate.yaml", "--thread", thread)
            world.wait_for("began")
            s.ask("POST", f"/debug/{thread}").gives(200)
            session = s.ask("GET", f"/debug/{thread}").gives(200).json.session.id
            number = s.run(thread).run
            streams = [s.events(f"/debug/{number}/events"), s.events(f"/runs/{thread}/events?types=debug")]
            if not other:
                streams.append(s.events("/events?types=debug"))
            talks = [s.talk(f"/debug/{session}", root=""), s.talk("/ws")]
            talks[1].call("subscribe", {"thread": str(number), "attach": True})
            world.until(lambda s=s: s.ask("GET", "/server").json.load.streams == len(streams), "all listen")
            for talk in talks:
                talk.call("frames", {"thread": thread})  # what it was told when it came is here
            s.ask("POST", f"/debug/{thread}/breakpoints", {"node": "c"}).gives(200)
            world.write("go", "")
            for stream in streams:
                told = []
                for event in stream:
                    told.append((event.name, event.data))
                    if event.name == "debug.frame.paused":
                        break
                check_stop(world, told, number, thread, session)
                stream.close()
            for talk, name in zip(talks, (session, str(number))):
                words = {"breakpoint_hit": "debug.breakpoint.hit", "paused": "debug.frame.paused"}
                told = []
                while not told or told[-1][0] != "debug.frame.paused":
                    message = talk.events.pop(0) if talk.events else talk.message()
                    if message.subscription:
                        world.same(message.session_id, name, "session_id")
                        told.append((words.get(message.type, message.type), message.data))
                check_stop(world, told, number, thread, session)
                talk.socket.close()
            s.ask("DELETE", f"/debug/{thread}").gives(200)
            s.until(thread, "completed")
            if other:
                other.communicate()


def each_pause_is_told_once(world):
    """who attaches while a pause is being recorded is told of it once, and not again as one that was there before"""
    with Server(world) as s:
        for i in range(20):
            run = s.begin(f"t{i}", GRAPH, debug={"pause_on_start": True})
            with s.talk(f"/debug/{run.session}", root="") as talk:
                first = talk.wait("paused").data
                world.same((first.node, first.reason), ("a", "initial"))
                talk.call("step_over")
                told = []
                while not told or told[-1].data.node != "b":
                    message = talk.events.pop(0) if talk.events else talk.message()
                    told += [message] if message.type == "paused" else []
                world.same([m.data.node for m in told], ["b"], "the pauses that were told after the first")


def check_stop(world, told, number, thread, session):
    """What was told until a frame was stopped by a breakpoint."""
    for name, data in told:
        if not name.startswith("debug."):
            continue
        world.same((data.run, data.thread, data.session), (number, thread, session), f"whom {name} is about: {data}")
        if not data.at:
            raise Broken(f"{name} has no time: {data}")
    last = {name: data for name, data in told}
    for name in ("debug.breakpoint.hit", "debug.frame.paused"):
        data = last[name]
        world.same((data.node, data.position, data.reason, data.breakpoints, data["keys"], data.state["n"], data.config),
                   ("c", "before", "breakpoint", [1], ["n", "stdout", "exit_code"], 2, {"jq": "{c: .n}"}), name)


def many_save_at_once(world):
    """several debuggers who keep breakpoints for one workflow at the same time are all answered, and one of them is kept"""
    with Server(world, "--rate", 100000) as s:
        for i in range(4):
            s.begin(f"t{i}", GRAPH, debug={"pause_on_start": True, "breakpoints": [{"node": "abc"[i % 3]}]})
            s.paused(f"t{i}")
        odd = []

        def save(i):
            for _ in range(25):
                reply = s.ask("POST", f"/debug/t{i}/breakpoints/save", {})
                if reply.status != 200:
                    odd.append(str(reply))
        savers = [threading.Thread(target=save, args=(i,)) for i in range(4)]
        for saver in savers:
            saver.start()
        for saver in savers:
            saver.join()
        world.same(odd, [], "what was not answered with 200")
        world.same(s.ask("GET", "/debug/t0/breakpoints/saved").gives(200).json.breakpoints, 1)


def each_message_has_one_answer(world):
    """/ws: subscribe, unsubscribe, unknown words, rubbish, binary, and 300 calls at once, each answered once"""
    with Server(world, "--rate", 100000) as s:
        s.begin("t", ASK)
        s.until("t", "interrupted")
        with s.talk() as talk:
            one = talk.call("subscribe", {"thread": "t", "from": 0}).data.subscription
            talk.wait("run.interrupted")
            talk.wait("over")
            talk.call("run_resume", {"decision": "go"}, session_id="t")
            talk.call("subscribe", {"from": 0}, session_id="t")
            world.same(talk.wait("run.completed").session_id, "t")
            talk.call("unsubscribe", {"subscription": one})
            for kind, data in (("nonsense", {}), ("run_events", {"thread": "t"}), ("run_get", {"thread": "nobody"}),
                               ("run_get", {"thread": 5}), ("run_get", {"x": 1}), ("step", {"thread": "t", "kind": "up"}),
                               ("subscribe", {"thread": "t", "types": ["nonsense"]}), ("subscribe", {"thread": 5}),
                               ("run_get", [1]), ("run_get", "t"), (None, {}), (5, {})):
                answer = talk.refuse(kind, data)
                if not answer.data.detail or not 400 <= answer.data.status < 500:
                    raise Broken(f"{kind} {data}: {answer}")
            for request_id in ("a", 0, -1, 1.5, {"a": [1]}, [None], True, "x" * 1000):
                world.same(talk.answer_to(talk.say("runs", {}, request_id)).type, "answer", f"request_id {request_id}")
            for text in (b"{", b"", b"null", b"[]", b"5", b'"text"', b"\xef\xbb\xbf{}", b"{} {}", b'{"type": "runs"'):
                talk.frame(talk.TEXT, text)
                world.same(talk.message().type, "error", f"what {text} is answered with")
            talk.frame(talk.BINARY, b"\x00\x01")
            world.same(talk.message().type, "error")
            asked = [talk.say("run_get" if i % 3 else "run_history", {"thread": "t"}) for i in range(300)]
            got = {}
            while len(got) < 300:
                message = talk.message()
                if message.request_id in got:
                    raise Broken(f"answered twice: {message}")
                if message.request_id is None:
                    raise Broken(f"for nobody: {message}")
                got[message.request_id] = message
            world.same(sorted(got), sorted(asked))
            busy = [m for m in got.values() if m.type == "error"]
            if any(m.data.code != "busy" for m in busy):
                raise Broken(f"{busy[0]}")
            talk.frame(talk.TEXT, b'{"type": "ru', final=False)
            talk.frame(0, b'ns", "request_id": "pieces"}')
            world.same(talk.answer_to("pieces").type, "answer")
            talk.frame(talk.PING, b"x")
            talk.frame(talk.TEXT, b"\xff\xfe")
            try:
                while True:
                    talk.message()
            except Closed as closed:
                world.same(closed.code, 1007, "after text that is none")
        with s.talk() as talk:
            talk.frame(talk.TEXT, b"{}", mask=False)
            try:
                talk.message()
                raise Broken("a frame without a mask is taken")
            except Closed as closed:
                world.same(closed.code, 1002, "after a frame without a mask")


def many_sessions_at_once(world):
    """connections that come and go while runs are debugged leave the runs paused, and the next one takes them up"""
    with Server(world, "--rate", 100000) as s:
        for i in range(5):
            s.begin(f"t{i}", BRANCHES, debug={"pause_on_start": True})
        for i in range(5):
            s.paused(f"t{i}")
        for turn in range(3):
            for i in range(5):
                with s.talk(f"/debug/t{i}") as talk:
                    talk.say("step_over")
                    if turn:
                        talk.message()
        for i in range(5):
            s.ask("POST", f"/debug/t{i}/continue", {"frame": "all"}).gives(200, 409)
            world.until(lambda i=i: s.run(f"t{i}").status == "completed"
                        or s.ask("POST", f"/debug/t{i}/continue", {"frame": "all"}) is None, f"t{i} ends")


def messages_are_counted(world):
    """more than --rate messages a second are answered with 429, each by its request_id, and longer ones than a body are refused"""
    with Server(world, "--rate", 20, "--max-body", 1) as s, s.talk() as talk:
        asked = [talk.say("runs", {}) for _ in range(200)]
        got = {}
        while len(got) < len(asked):
            message = talk.message()
            got[message.request_id] = message
        world.same(sorted(got), sorted(asked))
        refused = [m for m in got.values() if m.type == "error"]
        world.same({(m.data.status, m.data.code) for m in refused}, {(429, "too_many")})
        if not 100 < len(refused) < 170:
            raise Broken(f"{len(refused)} of {len(asked)} were refused")
        talk.frame(talk.TEXT, b'{"type": "runs", "data": {"x": "' + b"x" * (1 << 20) + b'"}}')
        try:
            while True:
                talk.message()
        except Closed as closed:
            world.same(closed.code, 1009, "after a message of more than 1 MB")


def a_slow_window_has_all(world):
    """a subscription over a WebSocket that is read slowly has all steps from the record, once and in order"""
    with Server(world, "--rate", 100000) as s:
        count = 3000
        s.begin("t", "name: t\nstate: {n: 0, pad: '" + "x" * 10000 + "'}\nconfig: {recursion_limit: 1000000}\nnodes:\n"
                f"  - {{name: a, while: '.n < {count}', max_iterations: {count}, do: [{{name: k, jq: '{{n: (.n + 1)}}'}}]}}\n")
        s.until("t", "completed")
        with s.talk() as talk:
            talk.say("subscribe", {"thread": "t", "from": 0, "values": True, "types": ["node.completed"]})
            time.sleep(4)  # all of it could be there by now
            cursors = []
            while (message := talk.message()).type != "over":
                if message.type == "node.completed":
                    cursors.append(message.data.cursor)
            world.same((len(cursors) >= count, cursors), (True, sorted(set(cursors))))


def what_was_asked_before_a_stop_is_answered(world):
    """a message that came before SIGTERM is answered before the connection is closed"""
    with Server(world) as s, s.talk() as talk:
        s.begin("t", "name: t\nnodes:\n  - {name: a, shell: 'trap \"sleep 0.5; exit\" TERM; touch began; while :; do sleep 0.05; done'}\n")
        world.wait_for("began")
        asked = talk.say("run_cancel", {"thread": "t"})
        time.sleep(0.1)
        s.process.terminate()
        world.same(talk.message().request_id, asked)
        try:
            talk.message()
        except Closed as closed:
            world.same(closed.code, 1001)
        s.process.wait(PATIENCE)


def a_place_of_all_runs(world):
    """who subscribes to all runs over a WebSocket is told since when, and comes back from there"""
    with Server(world) as s:
        with s.talk() as talk:
            since = talk.call("subscribe", {}).data.since
            s.begin("t", BRANCHES)
            talk.wait("run.completed")
        with s.talk() as talk:
            talk.call("subscribe", {"from": {"since": since, "runs": {}}, "types": ["run.completed"]})
            world.same(talk.wait("run.completed").session_id, "t")


def others_go_on_while_one_evaluates(world):
    """an expression that takes long holds up nobody: others are answered meanwhile, also one of the same run; there are few such at a time"""
    with Server(world) as s, s.talk() as talk:
        s.begin("t", ASK)
        s.ask("POST", "/debug/t", {}).gives(200)
        slow = [talk.say("evaluate", {"thread": "t", "expression": "last(range(1e12))"}) for _ in range(9)]
        refused = talk.message()
        world.same((refused.request_id, refused.data.status, refused.data.limited), (slow[-1], 429, "evaluations"))
        quick = talk.say("evaluate", {"thread": "t", "expression": "1 + 1"})
        answer = talk.message()
        world.same((answer.request_id, answer.data.results), (quick, [2]))
        s.ask("GET", "/runs/t").gives(200)
        late = talk.message()
        world.same((late.request_id, late.data.status), (slow[0], 422))
        s.kill()


def watches_share_a_time(world):
    """a watch that takes too long leaves time for the others, and nobody waits for all of them"""
    with Server(world) as s, s.talk() as talk:
        s.begin("t", ASK)
        for expression in ["last(range(1e12))"] * 100 + ["1 + 1"]:
            s.ask("POST", "/debug/t/watches", {"expression": expression}).gives(200)
        asked = talk.say("overview", {"thread": "t"})
        quick = talk.say("breakpoints", {"thread": "t"})
        world.same([talk.message().request_id, (answer := talk.message()).request_id], [quick, asked])
        watches = answer.data.watches
        world.same((len(watches), watches[-1].results), (101, [2]))
        if "all together" not in watches[0].error:
            raise Broken(f"the first says {watches[0]}")


def conditions_share_a_time(world):
    """however many conditions take long at a node, the others are not asked after a while, and say so"""
    with Server(world) as s:
        s.begin("t", "nodes:\n  - {name: a, jq: '{}'}\n  - {name: b, jq: '{}'}\n  - {name: c, jq: '{}'}\n",
                debug={"pause_on_start": True, "breakpoints": [{"node": "c"}]})
        for number in range(50):
            s.ask("POST", "/debug/t/breakpoints", {"node": "b", "condition": f"last(range(1e12)) == {number}"}).gives(200)
        s.ask("POST", "/debug/t/continue", {}).gives(200)
        world.until(lambda: s.ask("GET", "/debug/t/frames").json.frames[0].node == "c", "it stands at c")
        says = [one.message or "" for one in s.ask("GET", "/debug/t/breakpoints?node=b").json.breakpoints]
        world.same((len(says), "failed at `b`" in says[0], "was not asked at `b`" in says[-1]), (50, True, True), says[-1])


def others_look_while_many_evaluate(world):
    """expressions about the past that take long leave room for whoever only looks; those that wait are few"""
    with Server(world) as s, s.talk() as talk:
        s.begin("t", ASK)
        s.ask("POST", "/debug/t", {}).gives(200)
        slow = {"thread": "t", "expression": "last(range(1e12))", "checkpoint": 1}
        asked = [talk.say("evaluate", slow) for _ in range(67)]
        refused = talk.message()
        world.same((refused.request_id, refused.data.status), (asked[-1], 429))
        quick = talk.say("run_get", {"thread": "t"})
        world.same(talk.message().request_id, quick)
        world.same(talk.message().data.status, 422)
        s.kill()


CASES = [others_look_while_many_evaluate, conditions_share_a_time, others_go_on_while_one_evaluates, watches_share_a_time, messages_are_counted, a_slow_window_has_all, what_was_asked_before_a_stop_is_answered, a_place_of_all_runs, starts_that_are_refused, streams_of_debugged_runs, cancelled_while_paused_in_cleanup, refused_calls_take_no_run, keys_of_their_own, tests_over_rest, what_is_told_of_a_pause, graphs_over_a_websocket, whom_events_are_about, each_pause_is_told_once, many_save_at_once, each_message_has_one_answer, many_sessions_at_once]

if __name__ == "__main__":
    sys.exit(run_all(CASES, sys.argv[1]))
