# What a run leaves behind: history, show, diff; and going back: fork, update, resume from there.

Every step is in the history
    $ cat > count.yaml <<'END'
    > name: count
    > state: {n: 0}
    > nodes:
    >   - {name: one, jq: '{n: (.n + 1)}'}
    >   - {name: two, jq: '{n: (.n + 1), last: "two"}'}
    > END
    $ pawl run count.yaml --thread c -q
    {
      "n": 2,
      "last": "two"
    }
    $ pawl history c
     SEQ  PARENT  STEP  NODE  FRAME  STATUS     AT                        CHANGED
     1            0           1      started    *Z  n (glob)
     2            1     one   1      completed  *Z  n (glob)
    *3            2     two   1      completed  *Z  n, last (glob)
    $ pawl history c --json | pawl eval -c '.[] | [.checkpoint, .parent, .step, .node, .frame, .status, .changed]'
    [1,null,0,null,1,"started",["n"]]
    [2,1,1,"one",1,"completed",["n"]]
    [3,2,2,"two",1,"completed",["n","last"]]
    $ pawl history c --json | pawl eval '.[0].at | test("^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\\.[0-9]{3}Z$")'
    true
    $ pawl history c --limit 1 --json | pawl eval -c 'map(.node)'
    ["two"]
    $ pawl history c --values --json | pawl eval -c 'map(.update)'
    [{"n":0},{"n":1},{"n":2,"last":"two"}]
    $ pawl history c --values | sed 's/20[-0-9T:.]*Z/TIME/'
     SEQ  PARENT  STEP  NODE  FRAME  STATUS     AT                        GAVE
     1            0           1      started    TIME  {"n":0}
     2            1     one   1      completed  TIME  {"n":1}
    *3            2     two   1      completed  TIME  {"n":2,"last":"two"}
    $ pawl history c@1
    2> pawl history: it shows all checkpoints of a thread; `pawl show` shows one of them.
    2> Try `pawl help history`.
    [2]
    $ pawl history nobody
    2> pawl history: There is no thread `nobody` in sqlite:.pawl/pawl.db. `pawl runs` lists all threads.
    [2]

The state at any checkpoint can be shown and compared
    $ printf 'state: {n: 0}\nnodes:\n  - {name: one, jq: "{n: 1, list: [1, 2]}"}\n  - {name: two, jq: "{n: 2, list: [1, 3], \\"odd key\\": true}"}\n' > w.yaml
    $ pawl run w.yaml --thread w -q
    {
      "n": 2,
      "list": [
        1,
        3
      ],
      "odd key": true
    }
    $ pawl show w
    {
      "n": 2,
      "list": [
        1,
        3
      ],
      "odd key": true
    }
    $ pawl show w --compact
    {"n":2,"list":[1,3],"odd key":true}
    $ pawl show w@1 --json
    {"n":0}
    $ pawl show w@99
    2> pawl show: Thread `w` has no checkpoint 99: its last is 3. `pawl history w` lists those that are there.
    [2]
    $ pawl show
    2> pawl show: which run? It takes THREAD or THREAD@SEQ.
    2> Try `pawl help show`.
    [2]
    $ pawl diff w@2 w
    + .["odd key"]: true
    ~ .n: 1 → 2
    ~ .list[1]: 2 → 3
    $ pawl diff w w@2 --json
    {"added":[],"removed":[{"path":["odd key"],"old":true}],"changed":[{"path":["n"],"old":2,"new":1},{"path":["list",1],"old":3,"new":2}]}
    $ pawl diff w w
    $ pawl diff w
    2> pawl diff: between what? It takes two of THREAD or THREAD@SEQ.
    2> Try `pawl help diff`.
    [2]

A fork is a thread of its own
    $ printf 'state: {n: 0}\nnodes:\n  - {name: one, jq: "{n: (.n + 1)}"}\n  - {name: two, jq: "{n: (.n + 10)}"}\n' > w.yaml
    $ pawl run w.yaml --thread w -q
    {
      "n": 11
    }
    $ pawl fork w@2 --thread what-if
    what-if
    $ pawl resume what-if --set n=100 -q
    {
      "n": 110
    }
    $ pawl show w -c
    {"n":11}
    $ pawl fork w@2 --json
    {"run":3,"thread":"run-3","workflow":"w","status":"stopped","checkpoint":1,"created":"*","updated":"*","frames":[{"frame":1,"node":"two"}],"interrupts":[]} (glob)
    $ pawl fork w --thread what-if
    2> pawl fork: There is a thread `what-if` in sqlite:.pawl/pawl.db already. Resume it with `pawl resume what-if`, or take another name.
    [2]
    $ pawl fork w --thread x@1
    2> pawl fork: a thread cannot be called `x@1`: what ends in @ and a number names a checkpoint (THREAD@SEQ).
    2> Try `pawl help fork`.
    [2]

Going back in a run keeps both lines
    $ printf 'state: {n: 0}\nnodes:\n  - {name: one, jq: "{n: (.n + 1)}"}\n  - {name: two, jq: "{n: (.n + 10)}"}\n' > w.yaml
    $ pawl run w.yaml --thread w -q
    {
      "n": 11
    }
    $ pawl resume w@2 --set n=5 -q
    {
      "n": 15
    }
    $ pawl history w --json | pawl eval -c 'map([.checkpoint, .parent, .node])'
    [[1,null,null],[2,1,"one"],[3,2,"two"],[4,2,null],[5,4,"two"]]
    $ pawl show w@3 -c
    {"n":11}

A state can be changed by hand
    $ printf 'config: {checkpointer: sqlite, interrupt_before: [two]}\nnodes:\n  - {name: one, jq: "{n: 1}"}\n  - {name: two, jq: "{n: (.n + 1)}"}\n  - {name: three, jq: "{m: .n}"}\n' > w.yaml
    $ pawl run w.yaml --thread w -q
    2> Waiting before two
    2>     pawl resume w
    [3]
    $ pawl update w --set n=41
    w@4
    $ pawl update w
    2> pawl update: what is to change? Say it with --set PATH=JSON, --as-node NODE or both.
    2> Try `pawl help update`.
    [2]
    $ pawl resume w -q
    {
      "n": 42,
      "m": 42
    }
    $ pawl run w.yaml --thread v -q
    2> Waiting before two
    2>     pawl resume v
    [3]
    $ pawl update v --set n=7 --as-node two --json
    {"run":2,"thread":"v","workflow":"w","status":"stopped","checkpoint":4,"created":"*","updated":"*","frames":[{"frame":1,"node":"two","waits":"after","doing":"done"}],"interrupts":[]} (glob)
    $ pawl resume v -q
    {
      "n": 7,
      "m": 7
    }
    $ pawl run w.yaml --thread u -q
    2> Waiting before two
    2>     pawl resume u
    [3]
    $ pawl update u --as-node two
    u@4
    $ pawl resume u -q
    {
      "n": 1,
      "m": 1
    }
    $ pawl update v --set n=7 --as-node four
    2> pawl update: The workflow has no node `four`.
    [2]

Tasks are shown with their titles
    $ cat > test.yaml <<'END'
    > id: titled
    > name: titled
    > config: {n: 4}
    > tasks:
    >   - name: run_tasks
    >     title: All of it
    >     config:
    >       tasks:
    >         - {name: run_shell, title: "Start ${n}", config: {command: 'true'}}
    >         - {name: run_shell, title: Fail, config: {command: exit 3}}
    > END
    $ pawl run test.yaml --thread titled 2>&1 | sed 's/  [0-9.]*s$//; s/[0-9.]*[0-9]s/TIME/' | grep -v "Try\|Its"
    run_shell: Start 4  completed
    run_shell-2: Fail  failed
    run_tasks: All of it  failed

    titled: failed in TIME. 2 tasks: 1 passed, 1 failed, 0 skipped.
      passed      TIME  All of it / Start 4
      failed      TIME  All of it / Fail
    test.yaml:10:11: error: node run_shell-2: Command exited with code 3
    $ pawl history titled --json | pawl eval -c '.[] | select(.node) | [.node, .title, .status]'
    ["run_tasks","All of it","entered"]
    ["run_shell","Start ${n}","started"]
    ["run_shell","Start ${n}","completed"]
    ["run_shell-2","Fail","started"]
    ["run_shell-2","Fail","failed"]
    ["run_tasks","All of it","failed"]

The workflow of a run is drawn from its record, also when its file has changed or is gone
    $ printf 'name: w\nnodes:\n  - {name: a, jq: "{a: 1}"}\n  - {name: b, jq: .}\n' > w.yaml
    $ pawl run w.yaml --thread w -q >/dev/null; pawl graph w.yaml > before; rm w.yaml
    $ pawl graph --run w | diff before - && echo the same
    the same
    $ pawl graph --run w@1 --json | pawl eval -c '[.file, .name, (.nodes | map(.line))]'
    ["w.yaml","w",[3,4]]
    $ mkdir other; cd other; pawl graph --run w --json --store sqlite:../.pawl/pawl.db | pawl eval -r .file | sed 's|.*/\([^/]*/[^/]*\)$|\1|' | grep -c /w.yaml
    1
    $ pawl graph --run nobody
    2> pawl graph: There is no thread `nobody` in sqlite:.pawl/pawl.db. `pawl runs` lists all threads.
    [2]
    $ pawl graph --run w w.yaml
    2> pawl graph: it draws a file or a run, not both.
    2> Try `pawl help graph`.
    [2]
    $ pawl graph --run w --format png
    2> pawl graph: --format is dot, mermaid or json, not `png`.
    2> Try `pawl help graph`.
    [2]
