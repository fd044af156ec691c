#!/usr/bin/env python3
"""Playbooks that people have, read as they stand: every kind that is not Pawl's is a stub. They are in
$PAWL_TEST_DATA/assertoor/playbooks, or in ../shared/data/assertoor/playbooks beside the checkout; where there
are none, this says so. Before them come some of our own, in the ways that such files are written. Prints TAP.

    tests/engine/playbooks.py PAWL [WORD...]
"""

import json
import os
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from playbook import choose  # noqa: E402
from world import DONE, FAILED, Skipped, run_all  # noqa: E402

NAME = re.compile(r"""(?:^|[{\s-])["']?name["']?:\s*["']?([a-z0-9_]+)["']?\s*(?:$|[,}#])""", re.MULTILINE)
STUB = """kind: {name}
about: Stands for a kind that needs more than this machine.
inputs: {{type: object, additionalProperties: true}}
tasks: [{{name: sleep, config: {{duration: 0}}}}]
"""


def data():
    given = os.environ.get("PAWL_TEST_DATA")
    root = Path(__file__).resolve().parents[2]
    # a worktree stands beside the checkout, or the folder is the checkout's neighbour
    folder = Path(given) if given else root / ".." / "shared" / "data"
    return folder / "assertoor" / "playbooks"


def kinds_of(text):
    return set(NAME.findall(text))


def write_stubs(world, names):
    (world.folder / "kinds").mkdir()
    own = {row["name"] for row in world("kinds", "--json").gives(DONE).json}
    for name in names - own:
        world.write(f"kinds/{name}.yaml", STUB.format(name=name))
    return own


def make_check(path, shown):
    def case(world):
        write_stubs(world, kinds_of(path.read_text(encoding="utf-8")))
        world("check", str(path.resolve()), "--kinds", "kinds").gives(DONE)
    case.__doc__ = f"{shown} passes `pawl check`"
    case.__name__ = "check_" + shown
    return case


# Those that are made of generic tasks only, and what the rules say comes of them: what `sudo` gives, whether all of
# the run completes, how often it is called, and the summary of the one task.
GENERIC = [
    # X6: what is written to $ASSERTOOR_SUMMARY is kept
    ("dev/shell-test.yaml", 0, DONE, 0, "Hello\n"),
    # X4: the last command decides about a script, and that one ends in `|| true`: failures before it do not count
    ("dev/execution-spec-tests-dependencies.yaml", 0, DONE, 4, None),
    ("dev/execution-spec-tests-dependencies.yaml", 1, DONE, 4, None),
]


def make_run(path, shown, sudo, code, calls, summary):
    def case(world):
        tool = world.write("bin/sudo", f'#!/bin/sh\necho "$@" >> "{world.folder}/calls"\nexit {sudo}\n')
        tool.chmod(0o755)
        env = {"PATH": f"{tool.parent}:{os.environ['PATH']}"}
        answer = world("run", str(path.resolve()), "--json", env=env).gives(code).json
        world.same(answer["status"], "completed")
        world.same(len(world.read("calls").splitlines()), calls, "how often sudo is called")
        kept = [file.read_text() for file in world.folder.rglob("results-*/**/summary*")]
        world.same(kept, [summary] if summary else [], "the summary that is kept")
    case.__doc__ = f"{shown} runs to what the rules predict, when sudo gives {sudo}"
    case.__name__ = "run_" + shown
    return case


# ---- our own, in the ways of writing that such files have ----

ANY = "tasks:\n- {name: check_clients_are_healthy, title: Check, timeout: 5m}\n"
OWN = {
    "a document's start and end": "---\nid: a\nname: \"A b: c\"\n" + ANY + "...\n",
    "a byte order mark": "\ufeffid: a\n" + ANY,
    "ends of lines as Windows has them": ("id: a\n" + ANY).replace("\n", "\r\n"),
    "comments everywhere": "# c\n\n  # d\nid: x # e\ntasks: # f\n# g\n- name: check_x # h\n  # i\n  config: # j\n    a: 1 # k\n  #l\n",
    "nothing behind keys": "id: a\ntimeout:\nconfig:\nconfigVars:\nschedule:\ncleanupTasks:\ntags:\nversion:\ndescription:\n"
                           "tasks:\n- name: check_x\n  id:\n  title:\n  config:\n  configVars:\n  timeout:\n  if:\n",
    "empty values": "id: a\nconfig: {}\nconfigVars: {}\nschedule: {}\ncleanupTasks: []\ntags: []\n"
                    "tasks:\n- {name: check_x, id: '', title: '', config: {}, configVars: {}, timeout: 0, if: ''}\n",
    "names that are numbers": "id: 123\nname: 4.50\nversion: 1.0\ntasks:\n- {name: check_x, id: 5, title: 6}\n- {name: check_x, id: true}\n",
    "JSON": '{"id":"x","tasks":[{"name":"check_x","config":{"a":[1,2,{"b":null}]}}]}',
    "anchors and merges": """\
config: &defaults {walletPrivkey: "", validatorPairNames: [], blocks: 0x0}
x-template: &template
  name: check_x
  config: {a: 1}
tasks:
- <<: *template
  title: one
- <<: *template
  config: {<<: *defaults, b: 2}
- *template
""",
    "numbers of all kinds": """\
config: {a: 32000000000, b: 1000000000000000000, c: 0x00000000219ab540356cbb839cbe05303d7705fa, d: 0xDEADBEEF, e: 1e18, f: .5, g: -1,
         h: +1, i: 0777, j: 1_000_000, k: 10000000000000000000000, m: 1.0, n: 12e03, o: NaN, p: .nan, q: 190:20:30, r: 0b11,
         t: 2001-12-14t21:59:43.10-05:00, u: null, v: Null, w: NULL, x: "~", y: 0x}
tasks:
- name: generate_transaction
  config: {privateKey: 0x1234, amount: "1000000000000000000", legacyTxType: false, feeCap: 100000000000, callData: 0x}
""",
    "a matrix of pairs": """\
config: {validatorPairNames: [lighthouse-geth-1]}
tasks:
- name: run_task_matrix
  title: "Check block proposals with ${validatorPairName}"
  configVars: {matrixValues: "validatorPairNames"}
  config:
    runConcurrent: true
    matrixVar: "validatorPairName"
    task:
      name: run_tasks
      title: "For ${validatorPairName}, ${{ .validatorPairName | ascii_upcase }}"
      config:
        stopChildOnResult: false
        newVariableScope: true
        tasks:
        - name: check_consensus_block_proposals
          configVars: {validatorNamePattern: '| "^" + .validatorPairName + "$"'}
          config: {blockCount: 1}
""",
    "queries as they are written": """\
configVars: {half: "| .validators / 2 | floor", "a b": .x}
tasks:
- name: run_shell
  config:
    shellArgs: ["--login"]
    envVars:
      A: "walletPrivkey"
      B: "tasks.x.outputs.list[0].address"
      C: "| .tasks.x.outputs.y | tojson"
      E: 'tasks.a.outputs.childScopes["0"].tasks.b.outputs.c'
      F: 'tasks.a.outputs.childScopes."0".x'
      G: "| if .x then 1 elif .y then 2 end"
      H: '.a // "x"'
      I: 'tasks.a.outputs.list | map(.x) | join(",")'
      J: '| [.tasks.a.outputs.keys[] | select(.index >= 3 and (.status | test("^active"; "i")))] | length > 0'
      K: '| reduce range(3) as $i ({}; .["k\\($i)"] = $i) | to_entries | map("\\(.key)=\\(.value)") | .[1:]'
      L: '| try (.a | fromjson) catch null'
      M: '| . as {a: $a, b: [$b]} ?// {$a} | {$a, "c d": $b, (("e","f")): @base64 "x\\(1)"}'
    command: |
      set -e
      echo "${A}" ${B:-x} $(date) `ls` {{ x }}
      echo "::set-var a $A"
""",
    "a background that watches": """\
tasks:
- name: run_task_background
  config:
    onBackgroundComplete: "failOrIgnore"
    backgroundTask:
      name: run_tasks_concurrent
      config:
        succeedTaskCount: 1
        failTaskCount: 1
        failOnUndecided: true
        tasks: [{name: check_consensus_forks, config: {minCheckEpochCount: 1, maxForkDistance: 2}}]
    foregroundTask: {name: sleep, config: {duration: 1h}}
""",
    "options of earlier versions": """\
tasks:
- name: run_task_options
  config:
    propagateResult: true
    exitOnResult: true
    retryOnFailure: yes
    maxRetryCount: 3
    task: {name: run_external_tasks, config: {testFile: "https://raw.githubusercontent.com/a/b/master/c.yaml", testConfig: {a: 1}, testConfigVars: {b: "x"}}}
""",
    "checks": """\
tasks:
- name: check_http_json
  configVars: {url: '| .base + "/x"'}
  config:
    method: POST
    headers: {Authorization: 5, X-Hex: 0x10}
    body: {jsonrpc: "2.0", method: eth_x, params: [], id: 1}
    expectStatus:
    expectStatuses: [200, 206]
    pollInterval: 500ms
    assertions:
    - {name: a, query: ".result", operator: eq, value: "0x0"}
    - {name: b, query: ".result | length", operator: gte, value: 1, allowMissing: yes}
    - {name: c, query: .error, exists: false}
- name: check_http_metrics
  config:
    url: http://host/metrics
    assertions:
    - {name: a, metric: head_slot, operator: gt, value: 0}
    - {name: b, metric: x_total, labels: {a: b, c: 1}, mode: delta, operator: gte, value: 1.5, missingSeries: pass}
""",
    "lists in lists": "tasks:\n" + "".join(f"{'  ' * 2 * i}- name: run_tasks\n{'  ' * 2 * i}  config:\n{'  ' * 2 * i}    tasks:\n"
                                           for i in range(20)) + "  " * 40 + "- name: check_x\n",
    "texts over many lines": "tasks:\n- name: run_shell\n  title: >-\n    a long\n    title\n  config:\n    command: |\n      if true; then\n"
                             "      \techo x\n      fi\n- name: run_shell\n  config: {command: \"a \\\n    b\"}\n",
    "a long line": "tasks:\n- {name: check_x, config: {data: '0x" + "ab" * 100000 + "'}}\n",
}


OTHER_KEYS = ("anchors and merges", "a matrix of pairs", "a background that watches", "options of earlier versions")


def make_own(name, text):
    def case(world):
        (world.folder / "own.yaml").write_bytes(text.encode())
        write_stubs(world, kinds_of(text))
        world("check", "own.yaml", "--kinds", "kinds").gives(DONE)
        world("check", "own.yaml", "--kinds", "kinds", "--strict").gives(FAILED if name in OTHER_KEYS else DONE)
    case.__doc__ = f"{name}: passes `pawl check`"
    case.__name__ = "own_" + name
    return case


def missing(_world):
    """playbooks that people have"""
    raise Skipped("they are not here (set PAWL_TEST_DATA)")


def main():
    folder = data()
    files = sorted(folder.rglob("*.yaml")) if folder.is_dir() else []
    cases = [make_own(*row) for row in OWN.items()]
    cases += [make_check(path, str(path.relative_to(folder))) for path in files] or [missing]
    cases += [make_run(folder / row[0], *row) for row in GENERIC if (folder / row[0]).is_file()]
    return run_all(choose(cases, sys.argv[2:]), sys.argv[1])


if __name__ == "__main__":
    sys.exit(main())
