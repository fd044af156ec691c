Secrets are refused wherever their value would be recorded, in a graph
    $ cat > graph.yaml <<'EOF'
    > state: {n: {default: 0, reduce: '$old + $secrets.A'}}
    > nodes:
    >   - {name: compute, jq: '{a: $secrets.A}'}
    >   - {name: ask, approval: 'Is \($secrets.A) right?'}
    >   - {name: go, action: 'Say \($secrets.A)', confirm: '{a: $secrets.A}', system: '\($secrets.A)', command: cat}
    >   - {name: each, map: {over: '[$secrets.A]'}, do: {shell: 'true', env: {A: $secrets.A}}}
    >   - {name: loop, while: '$secrets.A == 1', do: [{name: in, jq: .}]}
    >   - {name: again, shell: 'true', cwd: '\($secrets.A)', retry: {attempts: 2, if: '$secrets.A == 1'}}
    >   - {name: sub, workflow: sub.yaml, input: '{a: $secrets.A}'}
    > edges:
    >   - {from: __start__, to: compute, when: '$secrets.A == 1'}
    >   - {from: __start__, to: compute}
    >   - {from: compute, to: ask}
    >   - {from: ask, to: go}
    >   - {from: go, to: each}
    >   - {from: each, to: loop}
    >   - {from: loop, to: again}
    >   - {from: again, to: sub}
    > EOF
    $ echo 'nodes: [{name: a, jq: .}]' > sub.yaml
    $ pawl check graph.yaml | grep error:
    graph.yaml:1:41: error: $secrets cannot be used here, since what this gives becomes part of the run's record. A secret is for where work is started: env, stdin, headers, body, url.
    graph.yaml:3:30: error: $secrets cannot be used here, since what this gives becomes part of the run's record. A secret is for where work is started: env, stdin, headers, body, url.
    graph.yaml:4:33: error: $secrets cannot be used here, since what this gives becomes part of the run's record. A secret is for where work is started: env, stdin, headers, body, url.
    graph.yaml:5:31: error: $secrets cannot be used here, since what this gives becomes part of the run's record. A secret is for where work is started: env, stdin, headers, body, url.
    graph.yaml:5:59: error: $secrets cannot be used here, since what this gives becomes part of the run's record. A secret is for where work is started: env, stdin, headers, body, url.
    graph.yaml:5:84: error: $secrets cannot be used here, since what this gives becomes part of the run's record. A secret is for where work is started: env, stdin, headers, body, url.
    graph.yaml:6:32: error: $secrets cannot be used here, since what this gives becomes part of the run's record. A secret is for where work is started: env, stdin, headers, body, url.
    graph.yaml:7:26: error: $secrets cannot be used here, since what this gives becomes part of the run's record. A secret is for where work is started: env, stdin, headers, body, url.
    graph.yaml:8:42: error: $secrets cannot be used here, since what this gives becomes part of the run's record. A secret is for where work is started: env, stdin, headers, body, url.
    graph.yaml:8:82: error: $secrets cannot be used here, since what this gives becomes part of the run's record. A secret is for where work is started: env, stdin, headers, body, url.
    graph.yaml:9:49: error: $secrets cannot be used here, since what this gives becomes part of the run's record. A secret is for where work is started: env, stdin, headers, body, url.
    graph.yaml:11:43: error: $secrets cannot be used here, since what this gives becomes part of the run's record. A secret is for where work is started: env, stdin, headers, body, url.

In a test
    $ cat > test.yaml <<'EOF'
    > id: test
    > configVars: {x: $secrets.A}
    > tasks:
    >   - {name: run_shell, title: 'with ${{$secrets.A}}', if: '$secrets.A == 1', config: {command: 'echo ${A}'}}
    >   - {name: run_shell, config: {command: 'true'}, configVars: {shell: $secrets.A}}
    >   - {name: check_http_json, config: {url: 'http://a/', assertions: [{name: a, query: '$secrets.A', exists: true}]}}
    >   - {name: run_task_matrix, configVars: {matrixValues: '| [$secrets.A]'}, config: {task: {name: sleep, config: {duration: 1s}}}}
    >   - {name: sleep, configVars: {duration: $secrets.A}}
    > EOF
    $ pawl check test.yaml | grep error:
    test.yaml:2:17: error: $secrets cannot be used here, since what this gives becomes part of the run's record. A secret is for where work is started: env, stdin, headers, body, url.
    test.yaml:4:59: error: $secrets cannot be used here, since what this gives becomes part of the run's record. A secret is for where work is started: env, stdin, headers, body, url.
    test.yaml:5:70: error: $secrets cannot be used here, since what this gives becomes part of the run's record. A secret is for where work is started: env, stdin, headers, body, url.
    test.yaml:6:87: error: $secrets cannot be used here, since what this gives becomes part of the run's record. A secret is for where work is started: env, stdin, headers, body, url.
    test.yaml:7:60: error: $secrets cannot be used here, since what this gives becomes part of the run's record. A secret is for where work is started: env, stdin, headers, body, url.
    test.yaml:8:42: error: $secrets cannot be used here, since what this gives becomes part of the run's record. A secret is for where work is started: env, stdin, headers, body, url.

In a pipeline there is one place for them
    $ cat > ci.yaml <<'EOF'
    > steps:
    >   - {name: a, type: script, config: {command: 'true', env: {A: $secrets.A, B: '$secrets["B"]', C: '.x + $secrets.A'}}}
    > EOF
    $ pawl check ci.yaml
    ci.yaml: fine (ci, 1 node; secrets A, B)

Their names are written out
    $ cat > names.yaml <<'EOF'
    > nodes:
    >   - {name: a, shell: 'true', env: {A: $secrets}}
    >   - {name: b, shell: 'true', env: {A: '$secrets[.x]'}}
    >   - {name: c, shell: 'true', env: {A: '$secrets | .A'}}
    >   - {name: d, shell: 'true', env: {A: '{$secrets}'}}
    >   - {name: e, shell: 'true', env: {A: '$secrets["a b"]'}}
    >   - {name: f, shell: 'true', env: {A: '.[$secrets] = 1'}}
    >   - {name: g, http: 'http://a/', body: {a: [$secrets.A]}, output: g}
    >   - {name: h, shell: 'true', env: {A: '"x" as $secrets | $secrets', B: '$secrets.A[1:3]', C: '$secrets.A?'}}
    > EOF
    $ pawl check names.yaml | grep error:
    names.yaml:2:39: error: $secrets can only be used with the name of one of its fields, as $secrets.NAME.
    names.yaml:3:40: error: $secrets can only be used with the name of one of its fields, as $secrets.NAME.
    names.yaml:4:40: error: $secrets can only be used with the name of one of its fields, as $secrets.NAME.
    names.yaml:5:41: error: $secrets can only be used with the name of one of its fields, as $secrets.NAME.
    names.yaml:6:40: error: `a b` is no name of a secret; that has letters, digits and `_`, and does not begin with a digit.
    names.yaml:7:52: error: $secrets can only be used with the name of one of its fields, as $secrets.NAME.
    names.yaml:8:40: error: `$secrets` stands in a text here, and would be sent as it is written. Write all of this as one expression, in quotes: '{"key": $secrets.KEY}'.

In a command they are a mistake
    $ echo 'nodes: [{name: a, shell: "curl -u $secrets.A http://a/"}]' > text.yaml
    $ pawl check text.yaml
    text.yaml:1:27: warning: `$secrets` means nothing in a text that stands for itself. Give the secret to the work by its environment.
        nodes: [{name: a, shell: "curl -u $secrets.A http://a/"}]
                                  ^~~~~~~~~~~~~~~~~~~~~~~~~~~~

Outside of a workflow there are none
    $ pawl eval -n '$secrets.A'
    2> pawl eval: $secrets is not defined. (expression, line 1, column 1)
    2>     $secrets.A
    2>     ^
    [3]
    $ echo 'nodes: [{name: a, jq: .}]' > sub.yaml
    $ pawl run sub.yaml --break 'a if $secrets.A == 1' --store memory:
    2> pawl run: --break `a if $secrets.A == 1`: `condition`, line 1, column 1: $secrets cannot be used here, since what this gives becomes part of the run's record. A secret is for where work is started: env, stdin, headers, body, url.
    2> Try `pawl help run`.
    [2]
