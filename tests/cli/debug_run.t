# Runs that a debugger has paused, and runs of recorded results.

A breakpoint pauses the run, which says how to go on
    $ cat > w.yaml <<'END'
    > name: w
    > nodes:
    >   - {name: a, jq: '{n: 1}'}
    >   - {name: b, shell: 'echo once >> done; echo x', output: b}
    >   - {name: c, jq: '{c: true}'}
    > END
    $ pawl run w.yaml --thread t --break b
    2> a  completed  *.??s (glob)
    2> Paused before b: breakpoint 1 (w.yaml:4)
    2> Look and step with: pawl debug t
    2> Go on without a debugger with: pawl resume t
    [3]
    $ pawl status t
    t  run 1 of w  checkpoint * (glob)
    paused
      paused before b: breakpoint 1
    Look and step with: pawl debug t
    Go on without a debugger with: pawl resume t
    $ pawl status t --json | pawl eval -c '.status, (.frames[] | [.frame, .node, .waits, .pause.position, .pause.reason, .pause.breakpoints])'
    "paused"
    [1,"b","pause","before","breakpoint",[1]]
    $ pawl runs --status paused --json | pawl eval -c '.[].thread'
    "t"
    $ ls .pawl/pawl.db-work
    $ pawl resume t -q | pawl eval -c .
    {"n":1,"b":{"stdout":"x","exit_code":0},"c":true}
    $ cat done
    once

Where it paused is in the result, and in the stream of events
    $ cat > w.yaml <<'END'
    > name: w
    > nodes: [{name: a, jq: '{n: 1}'}, {name: b, jq: '{b: .n}'}]
    > END
    $ pawl run w.yaml --thread t --break 'b if .n == 1' --json | pawl eval -c '.status, (.paused[] | [.frame, .node, .position, .reason, .breakpoints])'
    "paused"
    [1,"b","before","breakpoint",[1]]
    $ pawl run w.yaml --thread u --pause-on-start --stream events | pawl eval -c 'select(.type == "paused" or .type == "final") | [.type, .node, .reason, .status]'
    ["paused","a","initial",null]
    ["final",null,null,"paused"]
    $ pawl run w.yaml --thread v --break 'b if .n == 2' -q
    {
      "n": 1,
      "b": 1
    }

A breakpoint that is none is refused before anything is kept
    $ cat > w.yaml <<'END'
    > name: w
    > nodes: [{name: build, jq: '{n: 1}'}]
    > END
    $ pawl run w.yaml --break 'build if .n == ('
    2> pawl run: --break `build if .n == (`: `condition`, line 1, column 8: Unexpected end of the expression.
    2> Try `pawl help run`.
    [2]
    $ pawl run w.yaml --break ''
    2> pawl run: --break ``: * (glob)
    2> Try `pawl help run`.
    [2]
    $ ls -A
    w.yaml
    $ pawl run w.yaml --break bild -q
    2> pawl run: --break: No node is called `bild`; did you mean `build`?
    {
      "n": 1
    }

A run that is kept in memory cannot be gone on with
    $ cat > w.yaml <<'END'
    > name: w
    > nodes: [{name: a, jq: '{n: 1}'}]
    > END
    $ pawl run w.yaml --store memory: --pause-on-start
    2> Paused before a: at the start (w.yaml:2)
    2> pawl run: the run was kept in memory, so no other process can resume it; keep it with --store sqlite:PATH or --store file:DIR.
    [3]

A run is replayed with the results of another
    $ cat > w.yaml <<'END'
    > name: w
    > nodes:
    >   - {name: a, shell: 'echo a >> done; echo 1', output: a}
    >   - {name: b, shell: 'echo b >> done; echo 2', output: b}
    > END
    $ pawl run w.yaml --thread t -q | pawl eval -c .
    {"a":{"stdout":"1","exit_code":0},"b":{"stdout":"2","exit_code":0}}
    $ pawl run w.yaml --replay t | pawl eval -c .
    2> a  completed  *.??s (glob)
    2> b  completed  *.??s (glob)
    2> 2 results were taken from t, 0 done anew.
    {"a":{"stdout":"1","exit_code":0},"b":{"stdout":"2","exit_code":0}}
    $ cat done
    a
    b
    $ pawl run w.yaml --replay t --live-from b -q | pawl eval -c .b.stdout
    "2"
    $ cat done
    a
    b
    b
    $ pawl run w.yaml --replay t --live-from c
    2> pawl run: * (glob)
    [2]
    $ pawl run w.yaml --replay nobody
    2> pawl run: There is no thread `nobody` in sqlite:.pawl/pawl.db. `pawl runs` lists all threads.
    [2]
    $ pawl run w.yaml --live-from b
    2> pawl run: --live-from says where the results of --replay THREAD end, and there is no --replay.
    2> Try `pawl help run`.
    [2]

The debugger takes the results of another run, and takes them again when it begins anew
    $ cat > w.yaml <<'END'
    > name: w
    > nodes:
    >   - {name: a, shell: 'echo a >> done; echo 1', output: a}
    >   - {name: b, shell: 'echo b >> done; echo 2', output: b}
    > END
    $ pawl run w.yaml --thread t -q > /dev/null
    $ cat > orders <<'END'
    > next
    > print .a.stdout
    > continue
    > run
    > next
    > print .a.stdout
    > END
    $ pawl debug w.yaml --replay t --live-from b -x orders
    Frame 1 paused before `a` (shell), at the start, w.yaml:3
        3    - {name: a, shell: 'echo a >> done; echo 1', output: a}
    (pawl) next
    Frame 1 paused before `b` (shell), w.yaml:4
        4    - {name: b, shell: 'echo b >> done; echo 2', output: b}
    (pawl) print .a.stdout
    "1"
    (pawl) continue
    b | 2
    The run completed.
    (pawl) run
    Thread run-3 begins.
    Frame 1 paused before `a` (shell), at the start, w.yaml:3
        3    - {name: a, shell: 'echo a >> done; echo 1', output: a}
    (pawl) next
    Frame 1 paused before `b` (shell), w.yaml:4
        4    - {name: b, shell: 'echo b >> done; echo 2', output: b}
    (pawl) print .a.stdout
    "1"
    The run stays as it is. `pawl debug run-3` comes back to it.
    2> 1 result was taken from t, 0 done anew.
    [3]
    $ cat done
    a
    b
    b

What was let go takes the rest of the results
    $ cat > w.yaml <<'END'
    > name: w
    > nodes:
    >   - {name: a, shell: 'echo a >> done; echo 1', output: a}
    >   - {name: b, shell: 'echo b >> done; echo 2', output: b}
    > END
    $ pawl run w.yaml --thread t -q > /dev/null
    $ echo detach | pawl debug w.yaml --replay t
    Frame 1 paused before `a` (shell), at the start, w.yaml:3
        3    - {name: a, shell: 'echo a >> done; echo 1', output: a}
    2> a  completed  *.??s (glob)
    2> b  completed  *.??s (glob)
    {
      "a": {
        "stdout": "1",
        "exit_code": 0
      },
      "b": {
        "stdout": "2",
        "exit_code": 0
      }
    }
    2> 2 results were taken from t, 0 done anew.
    $ cat done
    a
    b

Results are for a run that begins
    $ cat > w.yaml <<'END'
    > name: w
    > nodes: [{name: a, jq: '{n: 1}'}]
    > END
    $ pawl run w.yaml --thread t -q > /dev/null
    $ pawl debug t --replay t
    2> pawl debug: --replay has no place here: the run has begun already.
    2> Try `pawl help debug`.
    [2]
    $ pawl debug w.yaml --replay nobody
    2> pawl debug: There is no thread `nobody` in sqlite:.pawl/pawl.db. `pawl runs` lists all threads.
    [2]
    $ pawl debug w.yaml --replay t --live-from c
    2> pawl debug: No node of `w` is called `c`, to be live from* (glob)
    [2]
    $ pawl debug w.yaml --live-from a
    2> pawl debug: --live-from says where the results of --replay THREAD end, and there is no --replay.
    2> Try `pawl help debug`.
    [2]
