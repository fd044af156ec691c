#!/usr/bin/env python3
"""A run leaves the loop to others: cycles end at their limit whatever they are made of, the clock goes on while
nodes compute, and somebody who asks is heard. Prints TAP.

    tests/engine/turns.py PAWL
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from world import (Broken, DONE, FAILED, TIMEOUT, WAITING, cases_of, paced, run_all)  # noqa: E402

LIMIT = 10
SERVER = Path(__file__).resolve().parents[1] / "http_server.py"


def parse_time(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def forget(world):
    shutil.rmtree(world.folder / ".pawl", ignore_errors=True)


def steps_of(world, thread="t"):
    return [c for c in world("history", thread, "--json").gives(DONE).json if c["status"] == "completed"]


def spinning(kind, n):
    return (f"jq: 'reduce range({n}) as $i (0; . + $i) | {{}}'" if kind == "jq"
            else f"lua: 'local n = 0 for i = 1, {n} do n = n + i end return {{}}'")


rates = {}


def spins(world, kind, ms):
    """A node of that kind that computes for about so long on this machine, within what one may."""
    if kind not in rates:
        n = 400000 if kind == "jq" else 4000000
        world.write("rate.yaml", f"name: rate\nnodes:\n  - {{name: a, jq: '{{}}'}}\n"
                    f"  - {{name: b, {spinning(kind, n)}}}\n")
        world("run", "rate.yaml", "--thread", "rate", "--json").gives(DONE)
        at = [parse_time(c["at"]) for c in world("history", "rate", "--json").json[-2:]]
        rates[kind] = n / max(at[1] - at[0], 0.001) / 1000
        forget(world)
    return spinning(kind, min(int(rates[kind] * ms), 6000000 if kind == "jq" else 16000000))


# ---- cycles ----


def cycle(world, lines, extra=""):
    """Two such nodes, an edge each way."""
    text = "".join(f"  - name: {name}\n" + "".join(f"    {line}\n" for line in lines)
                   for name in ("ping", "pong"))
    world.write("cycle.yaml", f"name: cycle\nconfig: {{recursion_limit: {LIMIT}}}\n{extra}nodes:\n{text}"
                              "edges:\n  - {from: ping, to: pong}\n  - {from: pong, to: ping}\n")
    return world("run", "cycle.yaml", "--thread", "t", "--json", env={"no_proxy": "127.0.0.1"})


def ends_at_the_limit(world, answer):
    answer.gives(FAILED).says("`ping`", "`pong`", "recursion_limit")
    world.same(answer.json["error"]["kind"], "recursion")


CYCLES = {
    "jq": ["jq: '{}'"],
    "lua": ["lua: 'return {}'"],
    "shell": ["shell: 'true'"],
    "python": ["run: 'return {}'"],
    "javascript": ["run: 'return {}'", "language: javascript"],
    "sleep": ["sleep: 1ms"],
    "action": ["action: 'Say'", "command: cat"],
    "workflow": ["workflow: inner.yaml"],
    "map": ["map: {over: '[1, 2]', as: x}", "do: {jq: '$x'}", "output: out"],
    "map of shell": ["map: {over: '[1, 2]', as: x}", "do: {shell: 'true'}", "output: out"],
    "while": ["while: 'true'", "max_iterations: 1", "at_limit: stop", "do: [{name: in, shell: 'true'}]"],
}


def cycle_of_every_kind(world):
    """a cycle of any kind of node ends at the recursion limit"""
    world.write("inner.yaml", "nodes: [{name: in, jq: '{}'}]\n")
    for kind, lines in CYCLES.items():
        forget(world)
        answer = cycle(world, lines)
        try:
            ends_at_the_limit(world, answer)
        except Broken as error:
            raise Broken(f"{kind}: {error}") from error
        inner = [c for c in steps_of(world) if c["node"] in ("ping", "pong")]
        if kind != "while" and len(inner) != LIMIT:
            raise Broken(f"{kind}: {len(inner)} nodes have ended")


def cycle_of_requests(world):
    """a cycle of http nodes ends at the recursion limit"""
    with subprocess.Popen([sys.executable, SERVER, world.folder], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as server:
        port = json.loads(server.stdout.readline())["http"]
        ends_at_the_limit(world, cycle(world, [f"http: http://127.0.0.1:{port}/status/200"]))
        server.stdin.close()


def cycle_over_an_error_edge(world):
    """a cycle of nodes that fail, over error edges, ends at the recursion limit"""
    world.write("cycle.yaml", f"name: cycle\nconfig: {{recursion_limit: {LIMIT}}}\nnodes:\n"
                "  - {name: ping, shell: 'false'}\n  - {name: pong, shell: 'false'}\n"
                "edges:\n  - {from: ping, to: pong, on: error}\n  - {from: pong, to: ping, on: error}\n"
                "  - {from: ping, to: __end__}\n  - {from: pong, to: __end__}\n")
    world("run", "cycle.yaml", "--thread", "t", "--json").gives(FAILED).says("recursion_limit")


def cycle_of_people(world):
    """a cycle of approvals ends at the recursion limit"""
    answer = cycle(world, ["approval: 'go on?'"])
    for _ in range(LIMIT):
        answer.gives(WAITING)
        answer = world("resume", "t", "--value", "1", "--json")
    ends_at_the_limit(world, answer)


def cycle_of_branches(world):
    """a cycle through parallel branches of commands ends at the recursion limit"""
    world.write("cycle.yaml", f"name: cycle\nconfig: {{recursion_limit: {LIMIT}}}\nnodes:\n"
                "  - {name: ping, shell: 'true'}\n  - {name: a, shell: 'true'}\n  - {name: b, sleep: 1ms}\n"
                "edges:\n  - {from: ping, to: [a, b], fan_in: ping}\n")
    world("run", "cycle.yaml", "--thread", "t", "--json").gives(FAILED).says("recursion_limit")


def cycle_after_a_resume(world):
    """the steps of a cycle are counted across processes"""
    world.write("ok", "")
    world.write("cycle.yaml", f"name: cycle\nconfig: {{recursion_limit: {LIMIT}}}\nnodes:\n"
                "  - {name: ping, shell: 'test -e ok'}\n"
                "  - {name: pong, shell: 'echo >> n; test $(wc -l < n) != 3 || rm -f ok'}\n"
                "edges:\n  - {from: ping, to: pong}\n  - {from: pong, to: ping}\n")
    world("run", "cycle.yaml", "--thread", "t", "--json").gives(FAILED).says("exit")
    world.write("ok", "")
    world("resume", "t", "--json").gives(FAILED).says("recursion_limit")
    world.same(len(steps_of(world)), LIMIT, "the number of nodes that ended")


# ---- the clock ----

LONG = 120  # ms that a node computes, about


def after_a_long_node(world, line, check, config=""):
    for kind in ("jq", "lua"):
        forget(world)
        world.write("long.yaml", f"name: long\n{config}nodes:\n"
                    f"  - {{name: long, {spins(world, kind, LONG * world.pace)}}}\n  - {{name: then, {line}}}\n")
        answer = world("run", "long.yaml", "--thread", "t", "--json")
        try:
            check(answer)
        except Broken as error:
            raise Broken(f"after {kind}: {error}") from error


@paced
def clock_of_a_sleep(world):
    """a sleep after a node that computes for long sleeps its time"""
    def check(answer):
        answer.gives(DONE)
        at = {c["node"]: parse_time(c["at"]) for c in world("history", "t", "--json").json
              if c["status"] == "completed"}
        if not at["then"] - at["long"] >= world.seconds(0.1) - 0.002:
            raise Broken(f"it slept for {at['then'] - at['long']} s")
    after_a_long_node(world, f"sleep: {world.ms(100)}", check)


@paced
def clock_of_a_timeout(world):
    """work outside after a node that computes for long has all of its time"""
    after_a_long_node(world, f"shell: 'true', timeout: {world.ms(100)}", lambda a: a.gives(DONE))
    after_a_long_node(world, f"run: 'return {{}}', timeout: {world.ms(1000)}", lambda a: a.gives(DONE))


@paced
def clock_of_every_wait(world):
    """whatever has a timeout has all of it after a node that computes for long"""
    world.write("inner.yaml", "nodes: [{name: in, shell: 'true'}]\n")
    ms = world.ms
    lines = {
        "javascript": f"run: 'return {{}}', language: javascript, timeout: {ms(1500)}",
        "action": f"action: 'Say', command: cat, timeout: {ms(150)}",
        "workflow": f"workflow: inner.yaml, timeout: {ms(150)}",
        "map": f"map: {{over: '[1, 2]', as: x}}, do: {{shell: 'true'}}, output: out, timeout: {ms(150)}",
        "while": f"while: '.n < 1', do: [{{name: in, jq: '{{n: 1}}'}}, {{name: work, shell: 'true'}}], timeout: {ms(150)}",
        "jq": f"jq: '{{}}', timeout: {ms(100)}",
        "lua": f"lua: 'return {{}}', timeout: {ms(100)}",
    }
    with subprocess.Popen([sys.executable, SERVER, world.folder], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as server:
        port = json.loads(server.stdout.readline())["http"]
        lines["http"] = (f"http: http://127.0.0.1:{port}/status/200, request_timeout: {ms(150)}, "
                         f"timeout: {ms(150)}")
        for kind, line in lines.items():
            try:
                after_a_long_node(world, line, lambda a: a.gives(DONE))
            except Broken as error:
                raise Broken(f"{kind}: {error}") from error
        server.stdin.close()


@paced
def clock_of_a_retry(world):
    """the delay before an attempt begins when the attempt before it has ended"""
    for kind in ("jq", "lua"):
        forget(world)
        fails = (spins(world, "jq", LONG).replace("| {}'", "| error(\"no\")'") if kind == "jq"
                 else spins(world, "lua", LONG).replace("return {}", "error(\"no\")"))
        world.write("long.yaml", "name: long\nnodes:\n"
                    f"  - {{name: long, {fails}, retry: {{attempts: 2, delay: {world.ms(100)}}}}}\n")
        world("run", "long.yaml", "--thread", "t", "--json").gives(FAILED)
        at = [parse_time(c["at"]) for c in world("history", "t", "--json").json
              if c["status"] in ("retrying", "failed")]
        if at[1] - at[0] < world.seconds(0.1):
            raise Broken(f"{kind}: the second attempt ended {at[1] - at[0]} s after the first")


@paced
def clock_of_an_approval(world):
    """an approval after a node that computes for long waits for all of its time"""
    after_a_long_node(world, f"approval: {{prompt: 'well?'}}, timeout: {world.ms(100)}",
                      lambda a: a.gives(WAITING))


@paced
def clock_of_the_run(world):
    """the timeout of a run holds while its nodes compute, and what has ended is on record"""
    for kind in ("jq", "lua"):
        forget(world)
        nodes = "".join(f"  - {{name: n{i}, {spins(world, kind, 50 * world.pace)}}}\n" for i in range(60))
        world.write("long.yaml", f"name: long\nconfig: {{timeout: {world.ms(300)}}}\nnodes:\n{nodes}")
        world("run", "long.yaml", "--thread", "t", "--json").gives(FAILED).says("timeout")
        history = world("history", "t", "--json").json
        took = parse_time(history[-1]["at"]) - parse_time(history[0]["at"])
        if took > world.seconds(0.35):
            raise Broken(f"{kind}: it ended after {took} s")
        if not 0 < len(steps_of(world)) < 60:
            raise Broken(f"{kind}: {len(steps_of(world))} nodes have ended")


@paced
def clock_of_a_node(world):
    """the timeout of a node that computes holds, in jq and in Lua, also inside while"""
    for kind in ("jq", "lua"):
        forever = ("jq: 'last(range(1000000000)) | {}'" if kind == "jq" else "lua: 'while true do end'")
        for body in (f"{forever}, timeout: {world.ms(100)}",
                     f"while: 'true', timeout: {world.ms(100)}, do: [{{name: in, {forever}}}]"):
            forget(world)
            world.write("long.yaml", f"name: long\nnodes:\n  - {{name: long, {body}}}\n")
            answer = world("run", "long.yaml", "--thread", "t", "--json").gives(FAILED)
            world.same(answer.json["error"]["kind"], "timeout", f"the error of {kind}")
            history = world("history", "t", "--json").json
            took = parse_time(history[-1]["at"]) - parse_time(history[0]["at"])
            if took > world.seconds(0.15):
                raise Broken(f"{kind}: it took {took} s")


def clock_of_lua_functions(world):
    """functions of Lua that take long in C begin anew where they can give way, once, and come to the same"""
    code = """print("begun")
      local t = {} for i = 1, 100000 do t[i] = i * 7919 % 100003 end
      table.sort(t, function(a, b) return a > b end)
      local u = {} for i = 1, 100000 do u[i] = i * 7919 % 100003 end
      table.sort(u)
      local s, n = (("ab"):rep(100000)):gsub("a", function(c) return "xy" end)
      print("sorted")
      return {first = t[1], last = t[100000], small = u[1], large = u[100000], n = n, len = #s,
              found = (("a"):rep(60)):find((".-"):rep(3) .. "b") or 0, all = t}"""
    world.write("lua.yaml", "name: lua\nnodes:\n  - name: a\n    lua: |\n      " + code + "\n    output: o\n")
    answer = world("run", "lua.yaml", "--thread", "t", "--stream", "debug").gives(DONE)
    lines = [json.loads(line) for line in answer.out.splitlines() if line.startswith("{")]
    logs = [line["text"] for line in lines if line.get("type") == "log"]
    world.same(logs, ["begun\n", "sorted\n"], "what it printed")
    o = world("show", "t", "--json").json["o"]
    world.same([o[k] for k in ("first", "last", "small", "large", "n", "len", "found")],
               [100002, 1, 1, 100002, 100000, 300000, 0])
    world.same(o["all"], sorted(o["all"], reverse=True), "the order")


@paced
def clock_of_what_is_around_a_node(world):
    """the timeouts of node and run hold over reducers and what a command is given, and all of it comes to its end"""
    slow = "last(range(%d)) as $x | "
    bodies = {"reducers": "jq: '{%s}'" % ", ".join(f"k{i}: {i}" for i in range(20)),
              "environment": "shell: 'echo $A19', env: {%s}" % ", ".join(f"A{i}: '{slow}{i}'" for i in range(20))}
    for what, body in bodies.items():
        for config, timeout in ((f"config: {{timeout: {world.ms(100)}}}\n", ""), ("", f", timeout: {world.ms(100)}"),
                                ("", "")):
            forget(world)
            n = 5000000 if config or timeout else 20000
            state = "state:\n" + "".join(f"  k{i}: {{reduce: '{slow % n} $old + $new'}}\n" for i in range(20))
            world.write("long.yaml", f"name: long\n{config}{state}nodes:\n  - {{name: a, "
                        f"{body.replace('%d', str(n))}{timeout}}}\n")
            answer = world("run", "long.yaml", "--thread", "t", "--json")
            if not config and not timeout:
                state = answer.gives(DONE).json["state"]
                got = (state["stdout"] if what == "environment" else [state[f"k{i}"] for i in range(20)])
                world.same(got, "19" if what == "environment" else list(range(20)), what)
                continue
            world.same(answer.gives(FAILED).json["error"]["kind"] in ("timeout", "limit"), True, f"the error of {what}")
            history = world("history", "t", "--json").json
            took = parse_time(history[-1]["at"]) - parse_time(history[0]["at"])
            if took > world.seconds(0.15):
                raise Broken(f"{what}: it took {took} s")


def clock_of_branches(world):
    """branches join in slices, and so does what an inner workflow wrote"""
    world.write("inner.yaml", "name: inner\nnodes:\n  - {name: a, jq: '{sum: 3}'}\n")
    world.write("long.yaml", "name: long\nstate: {sum: {default: 1, reduce: 'last(range(300000)) as $x | $old + $new'}}\n"
                "nodes:\n  - {name: fork, jq: '{}'}\n  - {name: b, jq: '{sum: 10}'}\n  - {name: c, jq: '{sum: 100}'}\n"
                "  - {name: d, workflow: inner.yaml}\n  - {name: e, while: '.sum < 120', do: [{name: f, jq: '{sum: 1}'}]}\n"
                "edges:\n  - {from: fork, to: [b, c]}\n  - {from: b, to: d}\n  - {from: c, to: d}\n  - {from: d, to: e}\n")
    answer = world("run", "long.yaml", "--thread", "t", "--json").gives(DONE)
    world.same(answer.json["state"]["sum"], 120)
    world.write("loop.yaml", "name: loop\nstate: {all: {default: [], reduce: union}, n: 0}\nnodes:\n"
                "  - {name: fork, jq: '{}'}\n  - {name: a, while: '.n < 3', do: [{name: in, "
                "jq: '{n: (.n + 1), all: [range(.n * 300; .n * 300 + 400)]}'}]}\n  - {name: b, jq: '{all: [-1]}'}\n"
                "  - {name: end, jq: '{}'}\nedges:\n  - {from: fork, to: [a, b]}\n  - {from: a, to: end}\n"
                "  - {from: b, to: end}\n")
    state = world("run", "loop.yaml", "--thread", "u", "--json").gives(DONE).json["state"]
    world.same(state["all"], list(range(1000)) + [-1])


# ---- being heard ----

# Each evaluation ends after 50 million steps: there are many.
AGAIN = "retry: {attempts: 1000, delay: 0s}"
FOREVER = {"jq": f"jq: 'last(range(1e12)) | {{}}', {AGAIN}", "lua": f"lua: 'while true do end', {AGAIN}",
           "while": f"while: 'true', do: [{{name: in, jq: 'last(range(1e12)) | {{}}', {AGAIN}}}]",
           "edge": "jq: '{}', goto: [%s]" % ", ".join(["{if: 'last(range(4000000)) | not', to: __end__}"] * 200),
           "lua sort": "lua: 'local t = {} for i = 1, 100000 do t[i] = i * 7919 %% 10007 end while true do "
                       "table.sort(t, function(a, b) return a < b end) table.sort(t, function(a, b) return a > b end) end', %s"
                       % AGAIN,
           "lua pattern": "lua: 'while true do ((\"a\"):rep(3000)):find((\".-\"):rep(4) .. \"b\") end', %s" % AGAIN,
           "reducer": "jq: '{%s}'" % ", ".join(f"k{i}: 1" for i in range(200)),
           "environment": "shell: 'true', env: {%s}" % ", ".join(f"A{i}: 'last(range(4000000))'" for i in range(200)),
           "retry": "jq: 'error(1)', retry: {attempts: 100000, delay: 0s, if: 'last(range(4000000)) > 0'}"}
REDUCERS = "state:\n" + "".join(f"  k{i}: {{reduce: 'last(range(4000000)) as $x | $new'}}\n" for i in range(200))


def clock_of_large_texts(world):
    """the timeout of a node holds over built-ins that each take a while: large texts, many times"""
    for work in ("explode | length", "@base64 | length", "ascii_upcase | length", 'test("b")', ". * 2 | length"):
        expr = f'{{n: (("a" * 1000000) as $s | [range(20000)] | map($s | {work}) | length)}}'
        world.write("large.yaml", f"name: large\nnodes:\n  - {{name: a, jq: '{expr}', timeout: {world.ms(100)}}}\n")
        answer = world("run", "large.yaml", "--json", "--store", "memory:").gives(FAILED)
        world.same(answer.json["error"]["kind"], "timeout", f"the error of {work}")


def each_forever(world, check):
    for kind, line in FOREVER.items():
        forget(world)
        (world.folder / "begun").unlink(missing_ok=True)
        world.write("long.yaml", f"name: long\n{REDUCERS}nodes:\n  - {{name: first, shell: 'touch begun'}}\n"
                    f"  - {{name: long, {line}}}\n  - {{name: last, jq: '{{}}'}}\n")
        process = world.start("run", "long.yaml", "--thread", "t")
        world.wait_for("begun")
        world.until(lambda: any(c["node"] == "first" and c["status"] == "completed" for c in
                                world("history", "t", "--json").json), "the first node is on record")
        try:
            check(process)
        except Broken as error:
            raise Broken(f"{kind}: {error}") from error
        finally:
            process.kill()
            process.communicate(timeout=TIMEOUT)


def heard_signal(world):
    """a signal is heard while a node computes, and the run can be resumed"""
    def check(process):
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=TIMEOUT)
        world.same(world("status", "t", "--json").json["status"], "stopped")
    each_forever(world, check)


def heard_cancel(world):
    """`cancel` is heard while a node computes"""
    def check(process):
        world.cancel("t")
        process.communicate(timeout=TIMEOUT)
        world.same(world("status", "t", "--json").json["status"], "cancelled")
    each_forever(world, check)


def heard_before_a_failure(world):
    """a cancel that comes before a node fails wins"""
    world.write("long.yaml", "name: long\nnodes:\n  - {name: first, shell: 'touch begun'}\n"
                "  - {name: long, jq: 'last(range(1e12))', retry: {attempts: 30, delay: 0s}}\n")
    process = world.start("run", "long.yaml", "--thread", "t")
    world.wait_for("begun")
    world.cancel("t")
    process.communicate(timeout=TIMEOUT)
    world.same(world("status", "t", "--json").json["status"], "cancelled")


# ---- kills ----


def kill_at_random(world, kind, nodes, ms):
    """What is on record is what had ended: the node before the last record was under way when it was killed."""
    chance, longest = random.Random(7), float(os.environ.get("PAWL_KILL_SECONDS", "0.6"))
    process, begun, kills = world.start("run", "long.yaml", "--thread", "t"), time.time(), 0
    while kills < 200:
        try:
            process.communicate(timeout=world.seconds(chance.uniform(0.05, longest)))
            break
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            killed, kills = time.time(), kills + 1
        answer = world("history", "t", "--json")
        last = parse_time(answer.json[-1]["at"]) if answer.code == DONE else 0
        if last > begun and killed - last > world.seconds(ms * 6 / 1000):
            raise Broken(f"{kind}: {killed - last:.2f} s before it was killed nothing is on record")
        words = ["resume", "t"] if answer.code == DONE else ["run", "long.yaml", "--thread", "t"]
        process, begun = world.start(*words), time.time()
    process.communicate(timeout=TIMEOUT)
    world.same(world("show", "t", "--json").json["n"], nodes, f"the count of {kind}")
    world.same([c["node"] for c in steps_of(world)], [f"n{i}" for i in range(nodes)], "what ended")
    return kills


@paced
def killed_while_it_computes(world):
    """killed at random moments among nodes that compute, at most the node under way is done again"""
    nodes, ms = int(os.environ.get("PAWL_KILL_NODES", "20")), 50
    for kind in ("jq", "lua"):
        forget(world)
        spin = spins(world, kind, ms * world.pace).replace("| {}", "| {n: ($n + 1)}")
        spin = spin.replace("reduce", ".n as $n | reduce").replace("return {}", "return {n = state.n + 1}")
        text = "".join(f"  - {{name: n{i}, {spin}}}\n" for i in range(nodes))
        world.write("long.yaml", f"name: long\nstate: {{n: 0}}\nnodes:\n{text}")
        kills = kill_at_random(world, kind, nodes, ms)
        print(f"# {kind}: killed {kills} times", flush=True)


def main():
    module = sys.modules[__name__]
    cases = [case for prefix in ("cycle_of", "cycle_over", "cycle_after", "clock_", "heard_", "killed_")
             for case in cases_of(module, prefix)]
    return run_all(cases, sys.argv[1])


if __name__ == "__main__":
    sys.exit(main())
