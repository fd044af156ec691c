# `pawl runs`, `pawl status` and `pawl cancel`.

All runs are listed, the one that changed last first
    $ printf 'name: w\nnodes:\n  - {name: a, jq: "{a: 1}"}\n' > w.yaml
    $ printf 'name: i\nconfig: {checkpointer: sqlite, interrupt_before: [a]}\nnodes:\n  - {name: a, jq: .}\n' > i.yaml
    $ pawl runs
    2> pawl runs: There is no store at .pawl/pawl.db: nothing was run here yet. Start something with `pawl run`, or name another store with --store URL or PAWL_STORE.
    [2]
    $ pawl run w.yaml --thread one -q
    {
      "a": 1
    }
    $ pawl run i.yaml --thread two -q
    2> Waiting before a
    2>     pawl resume two
    [3]
    $ pawl runs
    THREAD  RUN  WORKFLOW  STATUS       SEQ  UPDATED
    two     2    i         interrupted  2    *Z (glob)
    one     1    w         completed    2    *Z (glob)
    $ pawl runs --json | pawl eval -c '.[] | [.thread, .run, .workflow, .status, .checkpoint]'
    ["two",2,"i","interrupted",2]
    ["one",1,"w","completed",2]
    $ pawl runs --status interrupted --json | pawl eval -c 'map(.thread)'
    ["two"]
    $ pawl runs --limit 1 --json | pawl eval -c 'map(.thread)'
    ["two"]
    $ pawl runs --workflow w --json | pawl eval -c 'map(.thread)'
    ["one"]
    $ pawl runs --search TW --json | pawl eval -c 'map(.thread)'
    ["two"]
    $ pawl runs --search nobody --json
    []
    $ pawl runs --since 1h --before 2999-01-01T00:00:00.000Z --json | pawl eval -c 'map(.thread)'
    ["two","one"]
    $ pawl runs --before 1h --json
    []
    $ pawl runs --since yesterday
    2> pawl runs: --since takes how long ago, as 10m or 2h, or a time such as 2026-11-16T04:35:57.123Z, not `yesterday`.
    2> Try `pawl help runs`.
    [2]
    $ pawl runs --status failed
    THREAD  RUN  WORKFLOW  STATUS  SEQ  UPDATED
    $ pawl runs --status odd
    2> pawl runs: --status takes one of pending, running, stopped, interrupted, paused, completed, failed, cancelled; not `odd`.
    2> Try `pawl help runs`.
    [2]

Status tells where a run is
    $ printf 'name: w\nnodes:\n  - {name: a, jq: "{a: 1}"}\n  - {name: b, jq: error("no")}\n' > w.yaml
    $ pawl status
    2> pawl status: There is no store at .pawl/pawl.db: nothing was run here yet. Start something with `pawl run`, or name another store with --store URL or PAWL_STORE.
    [2]
    $ pawl run w.yaml --thread f -q
    2> w.yaml:4:19: error: node b: no
    2> Try again from there with: pawl resume f
    [1]
    $ pawl status
    f  run 1 of w  checkpoint 3  *Z (glob)
    failed
      b: no
    Try again from there with: pawl resume f
    $ pawl status f --json | pawl eval -c '[.status, .error.node]'
    ["failed","b"]
    $ pawl status ff
    2> pawl status: There is no thread `ff` in sqlite:.pawl/pawl.db; did you mean `f`? `pawl runs` lists all threads.
    [2]
    $ pawl status ff --json
    {"error":{"code":"not_found","message":"There is no thread `ff` in sqlite:.pawl/pawl.db; did you mean `f`?","thread":"ff","suggestion":"f"}}
    2> pawl status: There is no thread `ff` in sqlite:.pawl/pawl.db; did you mean `f`? `pawl runs` lists all threads.
    [2]
    $ pawl status zzzz --store sqlite:./.pawl/pawl.db
    2> pawl status: There is no thread `zzzz` in sqlite:./.pawl/pawl.db. `pawl runs --store sqlite:./.pawl/pawl.db` lists all threads.
    [2]
    $ pawl status f@1
    2> pawl status: it says where a run is now; `pawl show` shows a checkpoint.
    2> Try `pawl help status`.
    [2]

A run whose process died is stopped, and goes on
    $ printf 'name: w\nnodes:\n  - {name: a, shell: "until [ -e go ]; do sleep 0.05; done; echo done", output: a}\n' > w.yaml
    $ exec 2>/dev/null
    > pawl run w.yaml --thread k -q & pid=$!
    > until pawl status k --json 2>/dev/null | grep -q '"waits":"work"'; do sleep 0.05; done
    > kill -KILL $pid; wait $pid
    [137]
    $ pawl status k
    k  run 1 of w  checkpoint 1  *Z (glob)
    stopped (its process is gone)
      at a: at work
    Resume with: pawl resume k
    $ pawl runs --status stopped --json | pawl eval -c 'map(.thread)'
    ["k"]
    $ pawl status k --json | pawl eval -c .owner
    null
    $ touch go; pawl resume k -q | pawl eval -c .a.stdout
    "done"

A run is cancelled, by whoever has it
    $ printf 'name: i\nconfig: {checkpointer: sqlite, interrupt_before: [a]}\nnodes:\n  - {name: a, jq: .}\n' > i.yaml
    $ pawl run i.yaml --thread i -q
    2> Waiting before a
    2>     pawl resume i
    [3]
    $ pawl cancel i
    i is cancelled.
    $ pawl cancel i
    2> pawl cancel: Thread `i` is cancelled already.
    [2]
    $ pawl resume i
    2> pawl resume: Thread `i` was cancelled: there is nothing to resume. `pawl history i` lists its checkpoints; `pawl resume i@SEQ` goes on from one of them.
    [2]
    $ pawl cancel j
    2> pawl cancel: There is no thread `j` in sqlite:.pawl/pawl.db; did you mean `i`? `pawl runs` lists all threads.
    [2]
    $ printf 'name: w\nnodes:\n  - {name: a, shell: "sleep 30", output: a}\n' > w.yaml
    $ pawl run w.yaml --thread w --json > out &
    > until pawl status w --json 2>/dev/null | grep -q '"waits":"work"'; do sleep 0.05; done
    > pawl runs --json | pawl eval -c 'map(.owner != null)'
    > pawl cancel w --json; wait; pawl eval -c .status out
    [true,false]
    {"run":2,"thread":"w","status":"cancelled","checkpoint":2}
    "cancelled"

A process that is stuck gets the request when it wakes up
    $ printf 'name: w\nnodes:\n  - {name: a, shell: "sleep 30", output: a}\n' > w.yaml
    $ pawl run w.yaml --thread w --json > out & pid=$!
    > until pawl status w --json 2>/dev/null | grep -q '"waits":"work"'; do sleep 0.05; done
    > kill -STOP $pid; pawl cancel w; kill -CONT $pid; wait $pid; pawl eval -c .status out
    w is running.
    "cancelled"
    2> pawl cancel: pid * on * runs it and was asked to cancel it. (glob)
    2> pawl cancel: it has not done so within 5 seconds. The request stands until that process sees it or dies.

What a run left behind goes with it
    $ printf 'nodes:\n  - {name: a, shell: "echo x", output: a}\n' > w.yaml
    $ pawl run w.yaml --thread one -q >/dev/null; pawl run w.yaml --thread two -q >/dev/null
    $ cd .pawl/pawl.db-work; mkdir 1-9.1 2-9.1; touch 1-9.1/out 1-9.1/lock
    $ sleep 0.1; pawl prune --runs --older-than 50ms --thread one
    Removed 2 checkpoints and kept 0 in 1 run; 1 run went whole.
    $ ls .pawl/pawl.db-work
    2-9.1

Help names every status
    $ pawl help runs | grep -o 'failed|cancelled'
    failed|cancelled
