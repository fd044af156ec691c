#!/usr/bin/env python3
"""Actions: instructions, an answer of a model or a person, a confirmation; all on record. The model is a
command, or a server on loopback (tests/model_server.py). Prints TAP.

    tests/engine/actions.py PAWL
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from model_server import ModelServer  # noqa: E402
from world import (Broken, DONE, FAILED, TIMEOUT, USAGE, WAITING, cases_of,
                   run_all)  # noqa: E402

KEY = "key-that-nobody-may-see"
EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "workflows"


def one(world, *lines, name="flow.yaml"):
    """A workflow of one action (its keys are the lines), and a node after it."""
    text = "".join(f"    {line}\n" for line in lines)
    world.write(name, f"name: one\nstate: {{thing: hello}}\nnodes:\n  - name: ask\n{text}"
                      "  - {name: after, jq: '{after: true}'}\n")


def by_command(world, command, *lines):
    world.write("model.sh", command)
    one(world, "action: 'Say \\(.thing)'", "command: sh model.sh", "backoff: 10ms", *lines)


def by_server(world, model, *lines, format_="messages"):
    one(world, "action: 'Say \\(.thing)'", "model: stand-in", f"endpoint: {model.url(format_)}",
        f"format: {format_}", "key_env: TEST_KEY", "backoff: 10ms", *lines)


def run(world, *words):
    # A proxy is not for loopback.
    return world("run", "flow.yaml", "--thread", "t", "--json", *words,
                 env={"TEST_KEY": KEY, "no_proxy": "127.0.0.1"})


def resume(world, *words):
    return world("resume", "t", "--json", *words, env={"TEST_KEY": KEY, "no_proxy": "127.0.0.1"})


def asked(answer):
    return answer.gives(WAITING).json["interrupts"][0]


def logs(answer):
    return "".join(e["text"] for e in answer.lines if e["type"] == "log")


# ---- a person ----


def person_answers_with_a_value(world):
    """interactive: the run stops with the prompt and takes --value"""
    by_command(world, "echo never")
    question = asked(run(world, "--mode", "interactive"))
    world.same((question["node"], question["prompt"]), ("ask", "Say hello"))
    world("resume", "t").gives(USAGE).says("waits for an answer")
    state = resume(world, "--value", '"hi"').gives(DONE).json["state"]
    world.same((state["response"], state["after"]), ("hi", True))


def person_answers_with_a_file(world):
    """interactive: --response-file gives a text as it is"""
    by_command(world, "echo never")
    run(world, "--mode", "interactive").gives(WAITING)
    world.write("answer.txt", 'a "text"\nof lines\n')
    state = resume(world, "--response-file", "answer.txt").gives(DONE).json["state"]
    if state["response"].rstrip("\n") != 'a "text"\nof lines':
        raise Broken(repr(state["response"]))


def person_is_asked_where_the_node_says_so(world):
    """a node's own mode comes before that of the run"""
    by_command(world, "echo by command", "mode: interactive")
    asked(run(world, "--mode", "autonomous"))
    world.write("flow.yaml", world.read("flow.yaml").replace("interactive", "autonomous"))
    world("run", "flow.yaml", "--mode", "interactive", "--json").gives(DONE)


def mode_of_the_workflow(world):
    """config.mode says who answers, and --mode goes over it"""
    by_command(world, "echo by command")
    world.write("flow.yaml", "config: {mode: interactive}\n" + world.read("flow.yaml"))
    asked(run(world))
    world("run", "flow.yaml", "--mode", "autonomous", "--json").gives(DONE)


def person_resumes_in_the_mode_of_the_run(world):
    """the mode belongs to the run, and is kept"""
    one(world, "action: first?", "command: echo never")
    text = world.read("flow.yaml").replace("- {name: after, jq: '{after: true}'}",
                                           "- {name: next, action: second?, command: echo never}")
    world.write("flow.yaml", text)
    run(world, "--mode", "interactive").gives(WAITING)
    world.same(asked(resume(world, "--value", "1"))["prompt"], "second?")


# ---- confirm ----


def confirm_makes_the_result(world):
    """confirm sees the state, $prompt and $response; what it gives is the node's result"""
    by_command(world, "echo '[1,2]'",
               "confirm: '{got: ($response | fromjson | add), thing: (.thing + \"!\"), p: $prompt}'")
    state = run(world).gives(DONE).json["state"]
    world.same((state["got"], state["thing"], state["p"]), (3, "hello!", "Say hello"))


def confirm_that_fails_keeps_the_answer(world):
    """an error in confirm is the node's, and neither retry nor resume asks the model again"""
    by_command(world, "echo x >> asked; echo rubbish", "confirm: '$response | fromjson'",
               "retry: {attempts: 3, delay: 10ms}")
    error = run(world).gives(FAILED).json["error"]
    world.same(error["kind"], "jq")
    resume(world).gives(FAILED)
    world.same(world.read("asked"), "x\n", "how often it was asked")


# ---- the record ----


def record_has_prompt_and_response(world):
    """history is the audit trail: the prompt before the model is asked, the answer before it is used"""
    by_command(world, "echo hi")
    run(world).gives(DONE)
    rows = world("history", "t", "--json").gives(DONE).json
    world.same([row["status"] for row in rows if row.get("node") == "ask"],
               ["started", "answered", "completed"])


def record_survives_a_crash(world):
    """killed while the model answers: the same prompt, and a command is not started twice"""
    by_command(world, "cat >> asked; echo >> asked; touch begun; "
                      "until [ -e go ]; do sleep 0.02; done; echo hi")
    first = world.start("run", "flow.yaml", "--thread", "t")
    world.wait_for("begun")
    os.kill(first.pid, signal.SIGKILL)
    first.communicate(timeout=TIMEOUT)
    world.write("go", "")
    state = resume(world).gives(DONE).json["state"]
    world.same(state["response"], "hi")
    world.same(world.read("asked"), "Say hello\n", "what was asked")


def record_of_the_prompt_is_not_made_again(world):
    """the prompt that a person was shown stays, whatever becomes of the state"""
    by_command(world, "echo never", "confirm: '{p: $prompt, r: $response}'")
    run(world, "--mode", "interactive").gives(WAITING)
    state = resume(world, "--set", 'thing="other"', "--value", '"x"').gives(DONE).json["state"]
    world.same((state["p"], state["thing"]), ("Say hello", "other"))


# ---- commands ----


def command_gets_prompt_system_and_variables(world):
    """a command reads system and prompt, and has its variables"""
    by_command(world, 'cat; printf " %s" "$WHO"', "system: Be brief.", "env: {WHO: .thing}")
    state = run(world).gives(DONE).json["state"]
    world.same(state["response"], "Be brief.\n\nSay hello hello")


def command_that_fails_is_tried_and_then_a_person(world):
    """a command that fails is tried `attempts` times, told in the log, then a person is asked"""
    by_command(world, "echo x >> tries; echo too busy >&2; exit 5", "attempts: 3")
    answer = world("run", "flow.yaml", "--thread", "t", "--stream", "events").gives(WAITING)
    world.same(world.read("tries"), "x\n" * 3)
    answer.says("Attempt 1 of 3", "Attempt 2 of 3", "too busy")
    error = answer.lines[-1]["prompt"]["error"]
    world.same((error["kind"], error["attempts"]), ("exit", 3))
    world.same(resume(world, "--value", '"by hand"').gives(DONE).json["state"]["response"], "by hand")


def command_can_be_tried_again_by_a_person(world):
    """--decision retry asks the model again"""
    by_command(world, "cat ready", "attempts: 1")
    asked(run(world))
    asked(resume(world, "--decision", "retry"))
    world.write("ready", "now\n")
    world.same(resume(world, "--decision", "retry").gives(DONE).json["state"]["response"], "now")


def command_that_hangs_ends_with_the_timeout(world):
    """request_timeout is for one answer, timeout for the node with its attempts"""
    by_command(world, "sleep 60", "request_timeout: 100ms", "attempts: 2")
    world.same(asked(run(world))["prompt"]["error"]["kind"], "timeout")
    by_command(world, "sleep 60", "timeout: 200ms")
    error = world("run", "flow.yaml", "--json").gives(FAILED).json["error"]
    world.same(error["kind"], "timeout")


def command_leaves_nothing_behind(world):
    """what a command left in the store's folder is gone after the run"""
    by_command(world, "echo hi")
    run(world).gives(DONE)
    by_command(world, "exit 1", "attempts: 2")
    world("run", "flow.yaml", "--thread", "u").gives(WAITING)
    left = [p for p in (world.folder / ".pawl").rglob("status")]
    world.same(left, [], "what is left")


def command_is_ended_with_the_run(world):
    """cancel ends the command, or the pause before the next attempt"""
    for command, sign in (("touch begun; sleep 60", "begun"), ("touch tried; exit 1", "tried")):
        by_command(world, command)
        world.write("flow.yaml", world.read("flow.yaml").replace("10ms", "60s"))
        process = world.start("run", "flow.yaml", "--thread", sign)
        world.wait_for(sign)
        begin = time.monotonic()
        world.cancel(sign)
        process.communicate(timeout=TIMEOUT)
        world.same(process.returncode, FAILED)
        if time.monotonic() - begin > 45:
            raise Broken("it took long")


# ---- APIs ----


def api_is_asked_in_its_format(world):
    """both formats, streaming and not: model, system, prompt and key arrive, the answer comes back"""
    for format_ in ("messages", "chat"):
        for stream in ("true", "false"):
            with ModelServer("ok:Good day to you") as model:
                by_server(world, model, f"stream: {stream}", "system: Be polite.", "max_tokens: 77",
                          format_=format_)
                answer = world("run", "flow.yaml", "--json",
                               env={"TEST_KEY": KEY, "no_proxy": "127.0.0.1"}).gives(DONE).json
                world.same(answer["state"]["response"], "Good day to you")
                request = model.requests[0]
                body = request.body
                world.same((body["model"], body["max_tokens"], body["stream"]),
                           ("stand-in", 77, stream == "true"))
                world.same((request.prompt, request.system, request.key),
                           ("Say hello", "Be polite.", KEY))


def api_streams_to_the_log(world):
    """text goes to the node's log as it arrives"""
    pieces = []
    with ModelServer("held") as model:
        by_server(world, model, 'confirm: "{}"')
        env = {**os.environ, "TEST_KEY": KEY, "no_proxy": "127.0.0.1"}
        with subprocess.Popen([world.pawl, "run", "flow.yaml", "--stream", "events"],
                              cwd=world.folder, env=env, text=True, stdout=subprocess.PIPE) as process:
            for event in map(json.loads, process.stdout):
                if event["type"] == "log":
                    pieces.append(event["text"])
                    model.go_on.set()
    world.same((pieces, model.held_in_vain), (["Say h", "ello"], False))


def api_that_is_busy_is_asked_again(world):
    """429 (with retry-after), 529, 503, 500, a refusal, rubbish and a cut connection are retried"""
    steps = ["429:0.2", "529", "503", "500", "refusal", "malformed", "cut", "empty",
             "error:overloaded_error"]
    for stream in ("true", "false"):
        with ModelServer(*steps, "ok:at last") as model:
            by_server(world, model, f"stream: {stream}", "attempts: 12", "max_tokens: 9")
            begin = time.monotonic()
            answer = world("run", "flow.yaml", "--stream", "events",
                           env={"TEST_KEY": KEY, "no_proxy": "127.0.0.1"}).gives(DONE)
            world.same(len(model.requests), 10 if stream == "true" else 9)
            answer.says("status 429", "status 529", "status 503", "status 500", "refused")
            if time.monotonic() - begin < 0.2:
                raise Broken("it did not wait as long as it was told")


def api_errors_end_with_a_person(world):
    """after the last attempt, or at once where no retry helps, the run waits for a person"""
    for step, kind, status, asks in (("529", "overloaded", 529, 2), ("refusal", "refusal", 200, 2),
                                     ("400", "request", 400, 1), ("401", "key", 401, 1),
                                     ("404", "request", 404, 1), ("truncated", "truncated", 200, 1)):
        with ModelServer(*[step] * 2) as model:
            by_server(world, model, "attempts: 2")
            answer = world("run", "flow.yaml", "--thread", f"t{step}", "--json",
                           env={"TEST_KEY": KEY, "no_proxy": "127.0.0.1"})
            prompt = asked(answer)["prompt"]
            world.same((prompt["prompt"], prompt["error"]["kind"], prompt["error"]["status"]),
                       ("Say hello", kind, status))
            world.same(len(model.requests), asks, f"how often {step} was asked")
        done = world("resume", f"t{step}", "--value", '{"response": "mine"}', "--json").gives(DONE).json
        world.same(done["state"]["response"], "mine")


def api_that_is_not_there(world):
    """nobody listens: tried again, then a person is asked; with --decision retry it goes on"""
    model = ModelServer()
    url = model.url()
    by_server(world, model, "attempts: 2")
    model.close()
    world.same(asked(run(world))["prompt"]["error"]["kind"], "unreached")
    with ModelServer() as again:
        world.write("flow.yaml", world.read("flow.yaml").replace(url, again.url()))
        done = resume(world, "--reload", "--decision", "retry").gives(DONE).json
        world.same(done["state"]["response"], "Say hello")


def api_key_is_never_kept(world):
    """the key is in no log, error or record; without one nobody is asked"""
    with ModelServer("echo-key", "ok:fine") as model:
        by_server(world, model)
        answer = run(world).gives(WAITING)
        answer.says("is not a key")
        done = resume(world, "--decision", "retry").gives(DONE)
        for path in (world.folder / ".pawl").rglob("*"):
            if path.is_file() and KEY.encode() in path.read_bytes():
                raise Broken(f"the key is in {path}")
        for text in (answer.out, answer.err, done.out, done.err):
            if KEY in text:
                raise Broken("the key is in what is printed")
        missing = world("run", "flow.yaml", "--thread", "u", "--json")
        world.same(asked(missing)["prompt"]["error"]["kind"], "key")
        missing.says("TEST_KEY")
        world.same(len(model.requests), 2)


def api_answer_survives_a_crash(world):
    """killed while the API answers: it is asked again, with the same prompt"""
    with ModelServer("slow:0.5") as model:
        by_server(world, model)
        env = {**os.environ, "TEST_KEY": KEY, "no_proxy": "127.0.0.1"}
        with subprocess.Popen([world.pawl, "run", "flow.yaml", "--thread", "t"], cwd=world.folder,
                              env=env, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as process:
            try:
                world.until(lambda: model.requests, "the model is asked")
            finally:
                process.kill()
        state = resume(world).gives(DONE).json["state"]
        world.same(state["response"], "Say hello")
        world.same([request.prompt for request in model.requests], ["Say hello"] * 2)


# ---- without anybody to ask ----


def nobody_to_ask_is_an_error_with_ways_out(world):
    """neither command nor model, in autonomous mode: the node fails and says what to do"""
    one(world, "action: hm?")
    answer = run(world).gives(FAILED)
    answer.says("command", "model", "endpoint", "interactive mode")
    world.same(answer.json["error"]["kind"], "action")


# ---- the example ----


def copy_example(world):
    for name in ("tdd.yaml", "tdd-model.sh"):
        world.write(name, (EXAMPLES / name).read_text())


def example_tdd_by_a_model(world):
    """test loop, review, code loop, restart, and all of it again, then approve"""
    copy_example(world)
    waits = world("run", "tdd.yaml", "--mode", "autonomous", "--thread", "t", "--json")
    world.same(asked(waits)["node"], "human_review")
    world.same(waits.json["state"]["tests"]["rounds"], 2)
    waits = world("resume", "t", "--json")
    world.same((asked(waits)["node"], asked(waits)["options"]),
               ("final_approval", ["approve", "restart", "abort"]))
    world.same(asked(world("resume", "t", "--decision", "restart", "--json"))["node"],
               "human_review")
    world("resume", "t").gives(WAITING)
    state = world("resume", "t", "--decision", "approve", "--json").gives(DONE).json["state"]
    world.same(state["shipped"], "def add(a, b): return a + b")
    world.same(state["completed"].count("test.validate"), 4)
    nodes = [row["node"] for row in world("history", "t", "--json").json]
    for node in state["completed"]:
        if node not in nodes:
            raise Broken(f"{node} is not in the history")


def example_tdd_by_hand(world):
    """the same, with a person for every action"""
    copy_example(world)
    answers = {"rules": '"Few."', "build": '"assert"', "validate": '"pass"'}
    answer = world("run", "tdd.yaml", "--mode", "interactive", "--thread", "t", "--json")
    for loop in ("test", "code"):
        for action in ("rules", "build", "validate"):
            world.same(asked(answer)["node"], f"{loop}.{action}")
            answer = world("resume", "t", "--value", answers[action], "--json")
        if loop == "test":
            world.same(asked(answer)["node"], "human_review")
            answer = world("resume", "t", "--json")
    world.same(asked(answer)["node"], "final_approval")
    done = world("resume", "t", "--decision", "approve", "--json").gives(DONE).json
    world.same(done["state"]["shipped"], "assert")


def example_tdd_ends_its_loops(world):
    """loops end at their maximum, and abort ends the run"""
    copy_example(world)
    story = json.dumps({"story": "an impossible thing"})
    waits = world("run", "tdd.yaml", "--thread", "t", "--input", story, "--json")
    world.same(asked(waits)["node"], "human_review")
    world.same(waits.json["state"]["tests"]["rounds"], 3)
    world.same(waits.json["state"]["tests"]["pass"], False)
    world.same(world("resume", "t", "--json").gives(WAITING).json["state"]["code"]["rounds"], 3)
    state = world("resume", "t", "--decision", "abort", "--json").gives(DONE).json["state"]
    world.same("shipped" in state, False)


if __name__ == "__main__":
    here = sys.modules["__main__"]
    cases = [case for prefix in ("person_", "mode_", "confirm_", "record_", "command_", "api_", "nobody_",
                                 "example_") for case in cases_of(here, prefix)]
    sys.exit(run_all(cases, sys.argv[1]))
