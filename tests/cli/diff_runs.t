# `pawl diff --runs`: where two runs part.

Runs that did the same are the same
    $ printf 'name: w\nstate: {n: 0}\nnodes:\n  - {name: one, jq: "{n: (.n + 1)}"}\n  - {name: two, jq: "{n: (.n * 2)}"}\n' > w.yaml
    $ pawl run w.yaml --thread a -q > /dev/null
    $ pawl run w.yaml --thread b -q > /dev/null
    $ pawl diff --runs a b
    The runs are the same: 2 steps.
    $ pawl diff --runs a b --json
    {"same":true,"steps":2}
    $ pawl diff --runs a@2 b@2
    The runs are the same: 1 step.

The first step that went another way is shown, and what it left different
    $ printf 'name: w\nstate: {n: 0}\nnodes:\n  - {name: one, jq: "{n: (.n + 1)}"}\n  - {name: two, jq: "{n: (.n * 2)}"}\n  - {name: three, jq: "{}"}\n' > w.yaml
    $ pawl run w.yaml --thread a -q > /dev/null
    $ sed -i 's/[*] 2/* 5/; s/name: three/name: four/' w.yaml
    $ pawl run w.yaml --thread b -q > /dev/null
    $ pawl diff --runs a b
    The runs part after 1 step, in main:
      a@3  two  completed
      b@3  two  completed
    ~ .n: 2 → 5
    [1]
    $ pawl diff a --runs b --json
    {"same":false,"steps":1,"frame":"main","a":{"checkpoint":3,"node":"two","status":"completed","step":2},"b":{"checkpoint":3,"node":"two","status":"completed","step":2},"diff":{"added":[],"removed":[],"changed":[{"path":["n"],"old":2,"new":5}]}}
    [1]
    $ pawl diff a b
    ~ .n: 2 → 5
    $ pawl diff --runs a@3 a
    The runs part after 2 steps, in main:
      a  goes no further
      a@4  three  completed
    [1]

Other inputs are where runs part first
    $ printf 'state: {n: 0}\nnodes:\n  - {name: one, jq: "{n: (.n + 1)}"}\n' > w.yaml
    $ pawl run w.yaml --thread a -q > /dev/null
    $ pawl run w.yaml --thread b --input '{"n": 7}' -q > /dev/null
    $ pawl diff --runs a b
    The runs part at the beginning, in main:
      a@1  started
      b@1  started
    ~ .n: 0 → 7
    [1]

A branch is named by the node that made it
    $ cat > w.yaml <<'END'
    > nodes:
    >   - {name: s, jq: "{}"}
    >   - {name: p, jq: "{p: 1}"}
    >   - {name: q, jq: "{q: (.bump // 0)}"}
    > edges:
    >   - {from: __start__, to: s}
    >   - {from: s, to: [p, q]}
    >   - {from: [p, q], to: __end__}
    > END
    $ pawl run w.yaml --thread a -q > /dev/null
    $ pawl fork a@1 --thread b
    b
    $ pawl resume b -q > /dev/null
    $ sed -i 's,bump // 0,bump // 1,' w.yaml
    $ pawl run w.yaml --thread c -q > /dev/null
    $ pawl diff --runs a b
    The runs are the same: 3 steps.
    $ pawl diff --runs a c
    The runs part after 2 steps, in main/s[1]:
      a@4  q  completed
      c@4  q  completed
    ~ .q: 0 → 1
    [1]

Ways that came to the same are the same: a node passed over, an element that saw another state
    $ cat > w.yaml <<'END'
    > nodes:
    >   - {name: m, map: {over: "[1, 2]", as: i}, do: {jq: "$i * 2"}, output: ms}
    >   - {name: last, jq: "{last: true}"}
    > END
    $ pawl run w.yaml --thread a -q > /dev/null
    $ printf 'break m[] if $i == 1\ncontinue\nset .other = 5\ncontinue\n' | pawl debug w.yaml --thread b > /dev/null
    $ printf 'break m[] if $i == 1\ncontinue\nskip 2\ncontinue\n' | pawl debug w.yaml --thread c > /dev/null
    $ printf 'break last\ncontinue\nskip {"last": true}\n' | pawl debug w.yaml --thread d > /dev/null
    $ printf 'break m[] if $i == 1\ncontinue\nskip 3\ncontinue\n' | pawl debug w.yaml --thread e > /dev/null
    $ for other in b c d e; do pawl diff --runs a $other; done
    The runs are the same: 4 steps.
    The runs are the same: 4 steps.
    The runs are the same: 4 steps.
    The runs part at their first step, in main/m[0]:
      a@3  m[]  completed
      e@9  m[]  skipped
    ~ .: 2 → 3
    [1]

What is not there is an error
    $ printf 'nodes: [{name: a, jq: "{}"}]\n' > w.yaml
    $ pawl run w.yaml --thread a -q > /dev/null
    $ pawl diff --runs a
    2> pawl diff: between what? It takes two of THREAD or THREAD@SEQ.
    2> Try `pawl help diff`.
    [2]
    $ pawl diff --runs a bb
    2> pawl diff: There is no thread `bb` in sqlite:.pawl/pawl.db. `pawl runs` lists all threads.
    [2]
    $ pawl diff --runs a a@9
    2> pawl diff: * (glob)
    [2]

Runs that were pruned are compared by what is left of them
    $ cat > loop.yaml <<'END'
    > state: {n: 0}
    > nodes: [{name: a, jq: '{n: (.n + 1)}'}]
    > edges: [{from: __start__, to: a}, {from: a, to: a, when: .n < .last}, {from: a, to: __end__}]
    > END
    $ pawl run loop.yaml --thread long --input '{"last": 20}' > out 2>&1; pawl run loop.yaml --thread short --input '{"last": 5}' > out 2>&1
    $ pawl prune --keep-last 3
    Removed 21 checkpoints and kept 6 in 2 runs.
    $ pawl diff --runs long short
    The runs part at the beginning, in main:
      long@19  a  completed
      short  goes no further
    [1]
    $ pawl diff --runs short long
    The runs part at their first step, in main:
      short  goes no further
      long@19  a  completed
    [1]
