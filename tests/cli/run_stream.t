# --stream: one JSON object a line; the last one says how it ended.

Updates are what each node gives back
    $ printf 'config: {checkpointer: sqlite}\nnodes:\n  - {name: a, jq: "{a: 1}"}\n  - {name: b, jq: "{b: 2}"}\n' > w.yaml
    $ pawl run w.yaml --thread t --stream updates
    {"type":"update","run":1,"thread":"t","node":"a","frame":1,"checkpoint":2,"update":{"a":1}}
    {"type":"update","run":1,"thread":"t","node":"b","frame":1,"checkpoint":3,"update":{"b":2}}
    {"type":"final","run":1,"thread":"t","status":"completed","checkpoint":3,"state":{"a":1,"b":2}}
    $ pawl run w.yaml --thread u --stream values
    {"type":"value","run":2,"thread":"u","node":"a","checkpoint":2,"state":{"a":1}}
    {"type":"value","run":2,"thread":"u","node":"b","checkpoint":3,"state":{"a":1,"b":2}}
    {"type":"final","run":2,"thread":"u","status":"completed","checkpoint":3,"state":{"a":1,"b":2}}
    $ pawl run w.yaml --thread v --stream updates --json
    {"type":"update","run":3,"thread":"v","node":"a","frame":1,"checkpoint":2,"update":{"a":1}}
    {"type":"update","run":3,"thread":"v","node":"b","frame":1,"checkpoint":3,"update":{"b":2}}
    {"type":"final","run":3,"thread":"v","status":"completed","checkpoint":3,"state":{"a":1,"b":2}}
    {"run":3,"thread":"v","status":"completed","checkpoint":3,"state":{"a":1,"b":2},"interrupts":[]}

An interrupt is the last event, and the final one comes after the resume
    $ printf 'config: {checkpointer: sqlite, interrupt_before: [b]}\nnodes:\n  - {name: a, jq: "{a: 1}"}\n  - {name: b, jq: "{b: 2}"}\n' > w.yaml
    $ pawl run w.yaml --thread t --stream updates
    {"type":"update","run":1,"thread":"t","node":"a","frame":1,"checkpoint":2,"update":{"a":1}}
    {"type":"interrupt","run":1,"thread":"t","id":"i3","node":"b","frame":1,"reason":"before","checkpoint":3,"state":{"a":1}}
    [3]
    $ pawl resume t --stream values
    {"type":"value","run":1,"thread":"t","node":"b","checkpoint":5,"state":{"a":1,"b":2}}
    {"type":"final","run":1,"thread":"t","status":"completed","checkpoint":5,"state":{"a":1,"b":2}}

Events are all that happens
    $ printf 'config: {checkpointer: sqlite}\nnodes:\n  - {name: a, shell: "echo hi", output: a}\n  - {name: b, jq: error("no")}\n' > w.yaml
    $ pawl run w.yaml --thread t --stream events > out
    [1]
    $ pawl eval -c '[.type, .node]' out
    ["start",null]
    ["step",null]
    ["node","a"]
    ["log","a"]
    ["step","a"]
    ["node","b"]
    ["step","b"]
    ["final",null]
    $ pawl run w.yaml --thread u --stream debug | pawl eval -c 'select(.type == "step") | [.step, .depth, .frame_name, .state]'
    [0,1,"main",{}]
    [1,1,"main",{"a":{"stdout":"hi","exit_code":0}}]
    [1,1,"main",{"a":{"stdout":"hi","exit_code":0}}]

In a workflow inside another the state is that of the one inside
    $ printf 'nodes:\n  - {name: x, jq: "{x: 1}"}\n  - {name: ask, approval: well?}\n' > in.yaml
    $ printf 'nodes:\n  - {name: a, jq: "{top: 1}"}\n  - {name: s, workflow: in.yaml, input: "{inner: true}", output: out}\n' > w.yaml
    $ pawl run w.yaml --thread t --stream values
    {"type":"value","run":1,"thread":"t","node":"a","checkpoint":2,"state":{"top":1}}
    {"type":"value","run":1,"thread":"t","node":"x","checkpoint":4,"state":{"inner":true,"x":1}}
    {"type":"interrupt","run":1,"thread":"t","id":"i5","node":"ask","frame":1,"reason":"approval","prompt":"well?","options":[],"checkpoint":5,"state":{"inner":true,"x":1}}
    [3]
