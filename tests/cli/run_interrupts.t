# Runs that stop for a person, and what `pawl resume` does with them.

An interrupt stops the run before a node; resume goes on
    $ cat > ship.yaml <<'END'
    > name: ship
    > config: {checkpointer: sqlite, interrupt_before: [deploy]}
    > nodes:
    >   - {name: build, jq: '{built: true}'}
    >   - {name: deploy, jq: '{deployed: .target}'}
    > END
    $ pawl run ship.yaml --thread s --input '{"target": "a"}'
    2> build  completed  *.??s (glob)
    2> Waiting before deploy
    2>     pawl resume s
    [3]
    $ pawl status s
    s  run 1 of ship  checkpoint 3  *Z (glob)
    interrupted
    Waiting before deploy
        pawl resume s
    $ pawl resume s --set target='"b"' -q
    {
      "target": "b",
      "built": true,
      "deployed": "b"
    }
    $ pawl resume s
    2> pawl resume: Thread `s` has completed: there is nothing to resume. `pawl history s` lists its checkpoints; `pawl resume s@SEQ` goes on from one of them.
    [2]

With --json an interrupt is in the result
    $ cat > ship.yaml <<'END'
    > name: ship
    > config: {checkpointer: sqlite, interrupt_after: [build]}
    > nodes:
    >   - {name: build, jq: '{built: true}'}
    >   - {name: deploy, jq: '{deployed: true}'}
    > END
    $ pawl run ship.yaml --thread s --json
    {"run":1,"thread":"s","status":"interrupted","checkpoint":3,"state":{"built":true},"interrupts":[{"id":"i3","node":"build","frame":1,"reason":"after"}]}
    [3]
    $ pawl resume s --json
    {"run":1,"thread":"s","status":"completed","checkpoint":5,"state":{"built":true,"deployed":true},"interrupts":[]}

An approval is answered with one of its options
    $ cat > ask.yaml <<'END'
    > name: ask
    > config: {checkpointer: sqlite}
    > nodes:
    >   - name: ok
    >     approval: {prompt: 'Ship \(.what)?', options: [approve, reject]}
    >   - {name: end, jq: '{said: .decision}'}
    > END
    $ pawl run ask.yaml --thread a --input '{"what": "it"}' -q
    2> Waiting at ok: Ship it?
    2>     pawl resume a --decision approve
    2>     pawl resume a --decision reject
    [3]
    $ pawl resume a -q
    2> pawl resume: Interrupt i2 at `ok` waits for an answer ("Ship it?"). Answer it with --decision approve|reject, or with --value JSON.
    [2]
    $ pawl resume a --decision perhaps -q
    2> pawl resume: `perhaps` is not one of the options of `ok`: approve, reject.
    [2]
    $ pawl resume a --decision approve -q | pawl eval -c '.decision, .said'
    "approve"
    "approve"

Branches that stop are answered each on its own, in any order
    $ cat > three.yaml <<'END'
    > name: three
    > config: {checkpointer: sqlite}
    > state: {done: {default: [], reduce: append}}
    > nodes:
    >   - {name: start, jq: '{}'}
    >   - {name: a, approval: {prompt: "A?", options: [yes]}, output: a}
    >   - {name: b, approval: {prompt: "B?", options: [yes]}, output: b}
    >   - {name: c, approval: {prompt: "C?", options: [yes]}, output: c}
    >   - {name: end, jq: '{all: [.a.decision, .b.decision, .c.decision]}'}
    > edges:
    >   - {from: __start__, to: start}
    >   - {from: start, to: [a, b, c], fan_in: end}
    >   - {from: end, to: __end__}
    > END
    $ pawl run three.yaml --thread t
    2> start  completed  *.??s (glob)
    2> Waiting at a: A?
    2>     pawl resume t --interrupt i3 --decision yes
    2> Waiting at b: B?
    2>     pawl resume t --interrupt i4 --decision yes
    2> Waiting at c: C?
    2>     pawl resume t --interrupt i5 --decision yes
    [3]
    $ pawl resume t --decision yes -q 2>&1 | grep -oE 'Several interrupts are open|Choose one with --interrupt ID.'
    Several interrupts are open
    Choose one with --interrupt ID.
    $ pawl resume t --interrupt nonsense --decision yes
    2> pawl resume: No interrupt `nonsense` is open; these are: i3 (`a`), i4 (`b`), i5 (`c`).
    [2]
    $ id() { pawl status t --json | pawl eval -r --arg n "$1" '.interrupts[] | select(.node == $n) | .id'; }
    > pawl resume t --interrupt "$(id c)" --decision yes -q 2>/dev/null
    > pawl resume t --interrupt "$(id a)" --decision yes -q
    > pawl resume t --interrupt "$(id b)" --decision yes -q | pawl eval -c .all
    ["yes","yes","yes"]
    2> Waiting at b: B?
    2>     pawl resume t --decision yes

Interrupts need a place to be kept
    $ printf 'config: {interrupt_before: [a]}\nnodes:\n  - {name: a, jq: .}\n' > i.yaml
    $ pawl run i.yaml
    2> i.yaml:1:29: error: Interrupts are defined (`interrupt_before: a`) but there is no checkpointer: set `config.checkpoint_dir` for files or `config.checkpointer` (memory, file or sqlite), or name a store when it is run.
    2>     config: {interrupt_before: [a]}
    2>                                 ^
    [2]
    $ pawl run i.yaml --store memory: -q
    2> Waiting before a
    2> pawl run: the run was kept in memory, so no other process can resume it; keep it with --store sqlite:PATH or --store file:DIR.
    [3]
    $ PAWL_STORE=file:runs pawl run i.yaml -q
    2> Waiting before a
    2>     pawl resume run-1
    [3]

A run goes on with the workflow that it was started with, unless told otherwise
    $ printf 'config: {checkpointer: sqlite, interrupt_before: [b]}\nnodes:\n  - {name: a, jq: "{a: 1}"}\n  - {name: b, jq: "{b: \\"old\\"}"}\n' > w.yaml
    $ pawl run w.yaml --thread one -q; pawl run w.yaml --thread two -q
    2> Waiting before b
    2>     pawl resume one
    2> Waiting before b
    2>     pawl resume two
    [3]
    $ sed -i s/old/new/ w.yaml
    $ pawl resume one -q
    {
      "a": 1,
      "b": "old"
    }
    2> pawl resume: the workflow's file has changed; the run goes on with the workflow that it was started with (--reload takes the file as it is now).
    $ pawl resume two -q --reload
    {
      "a": 1,
      "b": "new"
    }

From another folder a run goes on where it was started
    $ printf 'config: {interrupt_before: [b]}\nnodes:\n  - {name: a, shell: pwd, output: a}\n  - {name: b, shell: pwd, output: b}\n' > w.yaml
    $ mkdir -p there sub; export PAWL_STORE=sqlite:$PWD/runs.db
    > pawl run w.yaml --thread one -q; pawl run w.yaml --thread two -q; pawl run w.yaml --thread three -q
    2> Waiting before b
    2>     pawl resume one
    2> Waiting before b
    2>     pawl resume two
    2> Waiting before b
    2>     pawl resume three
    [3]
    $ export PAWL_STORE=sqlite:$PWD/runs.db; cd there; pawl resume one --json | pawl eval '.state | .a == .b'
    true
    $ sed -i 's/shell: pwd, output: b/shell: basename "$PWD", cwd: sub, output: b/' w.yaml
    $ export PAWL_STORE=sqlite:$PWD/runs.db; cd there; pawl resume two --json | pawl eval '.state | .a == .b'
    true
    2> pawl resume: the workflow's file has changed; the run goes on with the workflow that it was started with (--reload takes the file as it is now).
    $ export PAWL_STORE=sqlite:$PWD/runs.db; cd there; pawl resume three --json --reload | pawl eval .state.b.stdout
    "sub"

A workflow can name the checkpoint to go on from
    $ printf 'config: {checkpointer: sqlite, interrupt_before: [b]}\nnodes:\n  - {name: a, jq: "{a: 1}"}\n  - {name: b, jq: "{b: 2}"}\n' > w.yaml
    $ pawl run w.yaml --thread one -q
    2> Waiting before b
    2>     pawl resume one
    [3]
    $ sed -i 's/checkpointer: sqlite/&, checkpoint: one/' w.yaml
    $ pawl run w.yaml --input '{}' -q
    2> pawl run: the workflow's config.checkpoint says to go on with one, so --input has no place; --set changes its state.
    2> Try `pawl help run`.
    [2]
    $ pawl run w.yaml -q
    {
      "a": 1,
      "b": 2
    }

Without a run, a checkpoint or a store there is nothing to resume
    $ pawl resume
    2> pawl resume: which run? It takes THREAD or THREAD@SEQ.
    2> Try `pawl help resume`.
    [2]
    $ pawl resume nothing
    2> pawl resume: There is no store at .pawl/pawl.db: nothing was run here yet. Start something with `pawl run`, or name another store with --store URL or PAWL_STORE.
    [2]
    $ printf 'nodes:\n  - {name: a, jq: .}\n' > w.yaml
    $ pawl run w.yaml --thread done -q
    {}
    $ pawl resume doen
    2> pawl resume: There is no thread `doen` in sqlite:.pawl/pawl.db; did you mean `done`? `pawl runs` lists all threads.
    [2]
    $ pawl resume done@99
    2> pawl resume: Thread `done` has no checkpoint 99: its last is 2. `pawl history done` lists those that are there.
    [2]
    $ pawl resume done@
    2> pawl resume: `done@` has no checkpoint after the @; it is THREAD or THREAD@SEQ.
    2> Try `pawl help resume`.
    [2]
