# `pawl run`: from a file to a final state; the exit codes and the line of --json.

A workflow runs to its end and its final state is written
    $ cat > hello.yaml <<'END'
    > name: hello
    > nodes:
    >   - name: greet
    >     jq: '{greeting: "Hello, \(.who // "World")!"}'
    > END
    $ pawl run hello.yaml
    {
      "greeting": "Hello, World!"
    }
    2> greet  completed  *.??s (glob)
    $ pawl run hello.yaml --input '{"who": "Ada"}' -q
    {
      "who": "Ada",
      "greeting": "Hello, Ada!"
    }
    $ echo '{"who": "Ben"}' > who.json
    $ pawl run hello.yaml --input @who.json -q
    {
      "who": "Ben",
      "greeting": "Hello, Ben!"
    }
    $ pawl run hello.yaml --input - -q < who.json
    {
      "who": "Ben",
      "greeting": "Hello, Ben!"
    }
    $ pawl run hello.yaml --set who='"Cem"' -q
    {
      "who": "Cem",
      "greeting": "Hello, Cem!"
    }

With --json the result is one line
    $ printf 'name: one\nnodes:\n  - {name: a, jq: "{n: 1}"}\n' > one.yaml
    $ pawl run one.yaml --json --thread t1
    {"run":1,"thread":"t1","status":"completed","checkpoint":2,"state":{"n":1},"interrupts":[]}
    $ pawl run one.yaml --json | pawl eval -c 'keys_unsorted'
    ["run","thread","status","checkpoint","state","interrupts"]

A node that fails ends the run with its place and the way to go on
    $ cat > bad.yaml <<'END'
    > name: bad
    > nodes:
    >   - name: works
    >     jq: '{ok: true}'
    >   - name: breaks
    >     jq: error("no way")
    > END
    $ pawl run bad.yaml --thread b
    2> works  completed  *.??s (glob)
    2> breaks  failed  *.??s (glob)
    2> bad.yaml:6:9: error: node breaks: no way
    2> Try again from there with: pawl resume b
    [1]
    $ pawl run bad.yaml --json --thread b2 | pawl eval -c '.status, .state, .error.node'
    "failed"
    {"ok":true}
    "breaks"

A workflow with errors in it does not start
    $ printf 'name: x\nnodes:\n  - {name: a, jqq: .}\n' > wrong.yaml
    $ pawl run wrong.yaml
    2> wrong.yaml:3:15: error: There is no kind of node `jqq`; the kinds are jq, lua, shell, python, javascript, http, action, sleep, approval, workflow, map and while; did you mean `jq`?
    2>       - {name: a, jqq: .}
    2>                   ^~~
    [2]
    $ pawl run missing.yaml
    2> missing.yaml: error: The file cannot be opened: No such file or directory.
    [2]
    $ ls -A
    wrong.yaml

What the command line says has to fit
    $ printf 'nodes:\n  - {name: a, jq: .}\n' > w.yaml
    $ pawl run
    2> pawl run: which workflow? It takes the FILE that it is in.
    2> Try `pawl help run`.
    [2]
    $ pawl run w.yaml w.yaml
    2> pawl run: it takes one workflow, but was given `w.yaml` too.
    2> Try `pawl help run`.
    [2]
    $ pawl run w.yaml --input '[1]'
    2> pawl run: the input of a run is an object; this is of kind array.
    2> Try `pawl help run`.
    [2]
    $ pawl run w.yaml --input '{a: 1}'
    2> pawl run: --input: `{a: 1}` is not JSON (Invalid numeric literal at line 1, column 3); write an object, as '{"key": 1}', or @FILE.
    2> Try `pawl help run`.
    [2]
    $ pawl run w.yaml --input @nothing.json
    2> pawl run: nothing.json: cannot be opened: No such file or directory.
    [2]
    $ pawl run w.yaml --set who=Ada
    2> pawl run: --set: `Ada` is not JSON (Invalid numeric literal at EOF at line 1, column 3); a string is written with its quotes, as '"text"'.
    2> Try `pawl help run`.
    [2]
    $ pawl run w.yaml --set a=1 --set a.b=2
    2> pawl run: --set: Cannot index number with string ("b").
    2> Try `pawl help run`.
    [2]
    $ pawl run w.yaml --thread a@3
    2> pawl run: a thread cannot be called `a@3`: what ends in @ and a number names a checkpoint (THREAD@SEQ).
    2> Try `pawl help run`.
    [2]
    $ pawl run w.yaml --stream everything
    2> pawl run: --stream takes one of updates, values, events, debug; not `everything`.
    2> Try `pawl help run`.
    [2]
    $ pawl run w.yaml --mode manual
    2> pawl run: --mode takes one of autonomous, interactive; not `manual`.
    2> Try `pawl help run`.
    [2]
    $ pawl run - --input - < w.yaml
    2> pawl run: the workflow and the input cannot both come from standard input.
    2> Try `pawl help run`.
    [2]
    $ pawl run w.yaml --store nosuch:thing
    2> pawl run: There is no kind of store called `nosuch`; take sqlite:PATH, file:DIR or memory: (a path with a colon is written sqlite:nosuch:thing).
    [2]
    $ pawl run w.yaml --store sqlite::memory:
    2> pawl run: A database in memory cannot be shared by the parts of the program: write memory: for a store that is gone with the process.
    [2]

A thread's name is given once
    $ printf 'nodes:\n  - {name: a, jq: .}\n' > w.yaml
    $ pawl run w.yaml --thread mine -q
    {}
    $ pawl run w.yaml --thread mine -q
    2> pawl run: There is a thread `mine` in sqlite:.pawl/pawl.db already. Resume it with `pawl resume mine`, or take another name.
    [2]

The store is --store, what the workflow says, $PAWL_STORE or .pawl/pawl.db
    $ printf 'nodes:\n  - {name: a, jq: .}\n' > w.yaml
    $ pawl run w.yaml -q
    {}
    $ ls -A
    .pawl
    w.yaml
    $ PAWL_STORE=file:runs pawl run w.yaml -q && test -d runs && echo yes
    {}
    yes
    $ PAWL_STORE=file:runs pawl run w.yaml -q --store sqlite:here.db && ls here.db
    {}
    here.db
    $ printf 'config: {checkpoint_dir: saved}\nnodes:\n  - {name: a, jq: .}\n' > c.yaml
    $ PAWL_STORE=file:runs pawl run c.yaml -q && test -d saved && echo yes
    {}
    yes
    $ printf 'config: {checkpointer: memory}\nnodes:\n  - {name: a, jq: .}\n' > m.yaml
    $ mkdir empty && cd empty && pawl run ../m.yaml -q && ls -A
    {}

What nodes write is shown with their names, on standard error
    $ printf 'nodes:\n  - {name: talk, shell: "echo one; echo two >&2", output: said}\n' > talk.yaml
    $ pawl run talk.yaml 2>&1 >/dev/null | grep '|' | sort
    talk | one
    talk | two
    $ pawl run talk.yaml -q | pawl eval -c .said
    {"stdout":"one","exit_code":0}

A run of very many steps is not a line for each
    $ cat > loop.yaml <<'END'
    > name: loop
    > config: {recursion_limit: 10000}
    > state: {n: 0}
    > nodes:
    >   - {name: more, jq: '{n: (.n + 1)}'}
    > edges:
    >   - {from: __start__, to: more}
    >   - {from: more, to: more, when: .n < 5000}
    >   - {from: more, to: __end__}
    > END
    $ pawl run loop.yaml 2>&1 >/dev/null | grep -c completed
    200

On a terminal what runs is drawn, and taken away at the end
    $ printf 'nodes:\n  - {name: nap, shell: "until grep -q nap shown; do sleep 0.05; done", output: slept}\n' > nap.yaml
    $ TERM=xterm NO_COLOR=1 script -qec 'pawl run nap.yaml' /dev/null < /dev/null > shown
    $ grep -q '  nap  [0-9]*\.[0-9]s' shown && echo drawn
    drawn
    $ tail -n 6 shown | tr -d '\r' | sed 's/.*\x1b\[J//'
    {
      "slept": {
        "stdout": "",
        "exit_code": 0
      }
    }

A run stopped by a signal can be resumed, and says how
    $ printf 'nodes:\n  - {name: nap, shell: "sleep 30", output: slept}\n  - {name: z, jq: "{z: 1}"}\n' > nap.yaml
    $ pawl run nap.yaml --thread n -q & pid=$!
    > until pawl status n --json 2>/dev/null | grep -q '"waits":"work"'; do sleep 0.05; done
    > kill -TERM $pid; wait $pid
    2> Stopped. Resume with: pawl resume n
    [3]
    $ pawl status n --json | pawl eval -r .status
    stopped

A command that was being stopped when its process left starts again
    $ printf 'nodes:\n  - {name: a, shell: "trap \\"touch told\\" TERM; echo x >> ran; until [ -e go ]; do sleep 0.02; done; echo x", output: a}\n' > w.yaml
    $ pawl run w.yaml --thread t -q & pid=$!
    > until [ -e ran ]; do sleep 0.02; done
    > kill -INT $pid; until [ -e told ]; do sleep 0.02; done; kill -INT $pid; wait $pid
    2> Left at once. Resume with: pawl resume t
    [130]
    $ touch go; pawl resume t --json | pawl eval -c '[.status, .state.a.stdout]'
    ["completed","x"]
    $ cat ran
    x
    x

Nobody who reads the output any more is no error
    $ printf 'nodes:\n  - {name: a, jq: "{a: 1}"}\n' > w.yaml
    $ pawl run w.yaml --stream events 2> errors | true; ! grep -i -e pipe -e write errors
    $ pawl run w.yaml -q | true

Help says what it does and how it ends
    $ pawl run --help | head -n 1
    Usage: pawl run [OPTION...] FILE
    $ pawl help run | grep -c 'Exit codes'
    1

Options of what a run may reach add up, in any case of letters, and an empty folder is none
    $ echo 'nodes: [{name: a, jq: "{}"}]' > w.yaml
    $ pawl run w.yaml -q --store memory: --root ''
    2> pawl run: --root takes the name of a folder.
    2> Try `pawl help run`.
    [2]
    $ echo 'nodes: [{name: ask, http: "http://127.0.0.1:9/", output: a}]' > ask.yaml
    $ pawl run ask.yaml -q --store memory: --net Any
    2> ask.yaml:1:9: error: node ask: Cannot connect to 127.0.0.1:9: Connection refused. Check that the server runs there, and the address and port.
    [1]
    $ pawl run ask.yaml -q --store memory: --net 10.0.0.0/8 --net PUBLIC
    2> ask.yaml:1:9: error: node ask: 127.0.0.1:9 is not asked: its address, 127.0.0.1, is none that requests may go to here (10.0.0.0/8, PUBLIC).
    [1]
    $ pawl run ask.yaml -q --store memory: --net public --net 127.0.0.1
    2> ask.yaml:1:9: error: node ask: Cannot connect to 127.0.0.1:9: Connection refused. Check that the server runs there, and the address and port.
    [1]
