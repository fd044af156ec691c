# What nodes printed: pawl logs.

By line with the name of the node, or of one node as it was printed
    $ cat > w.yaml <<'END'
    > nodes:
    >   - {name: build, shell: 'echo building; echo careful >&2; printf "no end"'}
    >   - {name: test, lua: 'print("tested", 3)'}
    > END
    $ pawl run w.yaml --thread t -q
    {
      "stdout": "building\nno end",
      "exit_code": 0
    }
    $ pawl logs t | sort
    build | building
    build | careful
    build | no end
    test | tested	3
    $ pawl logs t test
    tested	3
    $ pawl logs t build --stream stdout
    building
    no end
    $ pawl logs t -n 1
    test | tested	3
    $ pawl logs t -n 2 | wc -l
    2
    $ pawl logs t -n 3 | wc -l
    3
    $ pawl logs t test --json | pawl eval -c '[.node, .stream, .frame, .attempt, .text]'
    ["test","log",1,1,"tested\t3\n"]
    $ pawl logs t test -f --since 1h
    tested	3

What is not there is said
    $ echo "nodes: [{name: test, lua: 'print(1)'}]" > w.yaml
    $ pawl run w.yaml --thread t -q
    {}
    $ pawl logs t nosuch
    2> pawl logs: The workflow of thread `t` has no node `nosuch`. `pawl history t` shows which nodes ran.
    [2]
    $ pawl logs t tset -f
    2> pawl logs: The workflow of thread `t` has no node `tset`; did you mean `test`? `pawl history t` shows which nodes ran.
    [2]
    $ pawl logs t test/tset
    2> pawl logs: The workflow of thread `t` has no node `test/tset`; did you mean `test`? `pawl history t` shows which nodes ran.
    [2]
    $ pawl logs t tset --json
    {"error":{"code":"not_found","message":"The workflow of thread `t` has no node `tset`; did you mean `test`?","thread":"t","node":"tset"}}
    2> pawl logs: The workflow of thread `t` has no node `tset`; did you mean `test`? `pawl history t` shows which nodes ran.
    [2]
    $ pawl logs t test --stream stderr
    2> Node `test` has printed nothing of that.
    $ pawl logs nosuch
    2> pawl logs: There is no thread `nosuch` in sqlite:.pawl/pawl.db. `pawl runs` lists all threads.
    [2]
    $ pawl logs t --since yesterday
    2> pawl logs: --since takes how long ago, as 10m or 2h, or a time such as 2026-11-16T04:35:57.123Z, not `yesterday`.
    2> Try `pawl help logs`.
    [2]
    $ pawl logs t build test
    2> pawl logs: it takes one node, but was given `test` too.
    2> Try `pawl help logs`.
    [2]
    $ pawl logs t@2
    2> pawl logs: it shows what a whole run printed, and not one checkpoint of it.
    2> Try `pawl help logs`.
    [2]
    $ pawl logs
    2> pawl logs: which run? It takes a THREAD.
    2> Try `pawl help logs`.
    [2]
    $ pawl logs t --stream err
    2> pawl logs: --stream takes one of stdout, stderr, log; not `err`.
    2> Try `pawl help logs`.
    [2]

The debugger shows the last lines, of all nodes or of one
    $ echo "nodes: [{name: build, shell: 'for i in 1 2 3; do echo \$i; done', output: x}]" > w.yaml
    $ pawl run w.yaml --thread d -q > /dev/null
    $ printf 'logs build\nlogs build 2\nlogs 1\nlogs build x\n' | pawl debug d | tail -8
    build | 1
    build | 2
    build | 3
    build | 2
    build | 3
    build | 3
    `logs` takes how many lines, not `x`.
    Usage: logs [NODE] [N]
