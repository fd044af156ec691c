# What nodes, tasks and steps there are: `pawl kinds`, and the schemas that are made of the same table.

Kinds are listed by dialect
    $ pawl kinds
    graph: what a node of `nodes` does
      jq          a jq expression
      lua         a piece of Lua
      shell       a command
      python      a piece of Python
      javascript  a piece of JavaScript
      http        a request over HTTP
      action      a question that a model or a person answers
      sleep       waits
      approval    waits for a person's decision
      workflow    another workflow, on a level of its own
      map         the same work for each element of an array
      while       nodes that run again and again

    tasks: what a task of `tasks` does
      run_tasks             tasks, one after the other
      run_tasks_concurrent  tasks, all at the same time
      run_task_matrix       one task for each of a list of values
      run_task_background   a task with another beside it
      run_task_options      a task with retries, or whose result is read another way
      run_external_tasks    the tasks of another file
      run_shell             a shell script
      run_command           a program with its arguments
      run_javascript        a piece of JavaScript
      sleep                 waits
      check_http_json       asks over HTTP until the JSON that comes back is right
      check_http_metrics    asks over HTTP until the metrics that come back are right

    pipeline: what a step of `steps` does
      script  a command on this machine
      docker  a command in a container
      agent   the work of an agent

One dialect may be asked for
    $ pawl kinds --dialect pipeline
    pipeline: what a step of `steps` does
      script  a command on this machine
      docker  a command in a container
      agent   the work of an agent
    $ pawl kinds -d tsaks
    2> pawl kinds: --dialect takes one of graph, tasks, pipeline; not `tsaks`.
    2> Try `pawl help kinds`.
    [2]

A kind is shown with its parameters, their types and defaults
    $ pawl kinds run_shell
    run_shell (tasks): a shell script
      command    text, required
                 the script, which the shell reads from its standard input
      shell      text, "bash" unless given
                 the shell
      shellArgs  list of texts, [] unless given
                 arguments for it
      envVars    map of queries
                 variables for the script: queries, whose values are given as JSON
    $ pawl kinds script
    script (pipeline): a command on this machine
      command  text, required
               the command, for /bin/sh
      env      map of jq
               variables for the command: strings as they are, the rest as JSON

Fields of a list stand below it
    $ pawl kinds check_http_metrics | tail -n 17
                         mode           value|delta, "value" unless given
                                        the value itself, or by how much it has
                                        changed since the first answer
                         operator       eq|neq|gt|gte|lt|lte, required
                                        how it is to compare with `value`
                         value          any value, 0 unless given
                                        the number that it is compared with
                         missingMetric  wait|fail|pass
                                        instead of the task's own
                         missingSeries  wait|fail|pass
                                        instead of the task's own
      missingMetric    wait|fail|pass, "wait" unless given
                       what an assertion does whose metric is not there
      missingSeries    wait|fail|pass, "wait" unless given
                       what it does when the metric has no such labels
      resetBehavior    fail|rebaseline|ignore, "fail" unless given
                       what it does in the mode delta when a counter has gone back

A name that two dialects have is shown twice, unless one is meant
    $ pawl kinds sleep
    sleep (graph): waits
      sleep  duration, required
             how long

    sleep (tasks): waits
      duration  duration, required
                how long
    $ pawl kinds sleep --dialect tasks
    sleep (tasks): waits
      duration  duration, required
                how long

What files do not name is not there
    $ pawl kinds merge
    2> pawl kinds: there is no kind `merge`.
    2> Try `pawl help kinds`.
    [2]
    $ pawl kinds callback
    2> pawl kinds: there is no kind `callback`.
    2> Try `pawl help kinds`.
    [2]

A name that is wrong is answered with the nearest one
    $ pawl kinds run_shel
    2> pawl kinds: there is no kind `run_shel`; did you mean `run_shell`?
    2> Try `pawl help kinds`.
    [2]
    $ pawl kinds run_shell --dialect graph
    2> pawl kinds: there is no kind `run_shell` in the dialect graph, but in tasks.
    2> Try `pawl help kinds`.
    [2]
    $ pawl kinds jq lua
    2> pawl kinds: it takes one kind, but was given `lua` too.
    2> Try `pawl help kinds`.
    [2]

For a program there is a JSON Schema of each
    $ pawl kinds run_command --json
    [
      {
        "name": "run_command",
        "dialect": "tasks",
        "help": "a program with its arguments",
        "schema": {
          "type": "object",
          "properties": {
            "command": {
              "type": "array",
              "items": {
                "type": [
                  "string",
                  "number",
                  "boolean"
                ]
              },
              "x-type": "list of texts",
              "description": "the program and its arguments, without a shell"
            },
            "allowed_to_fail": {
              "type": "boolean",
              "x-type": "boolean",
              "default": false,
              "description": "another exit code than 0 is no failure"
            }
          },
          "additionalProperties": false,
          "required": [
            "command"
          ]
        }
      }
    ]
    $ pawl kinds --json | pawl eval 'length'
    27
    $ pawl kinds sleep --json | pawl eval -c 'map([.name, .dialect, .help])'
    [["sleep","graph","waits"],["sleep","tasks","waits"]]
    $ pawl kinds check_http_json --json | pawl eval -c '.[0].schema.properties.assertions.items.properties | map_values(.["x-type"])'
    {"name":"text","query":"text","exists":"boolean","operator":"word","value":"any value","allowMissing":"boolean"}

Names of kinds complete
    $ cat > ask.sh <<'END'
    > source <(pawl completion bash)
    > COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    > _pawl 2>/dev/null
    > echo "${COMPREPLY[*]}"
    > END
    $ bash ask.sh pawl kinds run_task_
    run_task_matrix run_task_background run_task_options
    $ bash ask.sh pawl kinds sl
    sleep
    $ bash ask.sh pawl kinds --dialect ''
    graph tasks pipeline
    $ bash ask.sh pawl schema ''
    graph tasks pipeline

There is a schema of each dialect
    $ for d in graph tasks pipeline; do pawl schema $d | pawl eval -r .title; done
    A Pawl workflow: nodes and edges
    A Pawl test: tasks
    A Pawl pipeline: steps
    $ pawl schema | pawl eval -r .title
    A Pawl workflow: nodes and edges
    $ pawl schema jobs
    2> pawl schema: there is no schema of `jobs`; there are those of graph, tasks and pipeline.
    2> Try `pawl help schema`.
    [2]

Kinds from outside are listed behind them, shown by name, and in the schemas
    $ mkdir -p .pawl/kinds more
    $ printf 'kind: count\nabout: Counts.\ninputs: {properties: {to: {type: [integer, string], default: 3, description: how far}, deep: {}}, required: [deep], additionalProperties: true}\noutputs: {last: .to}\nnodes: [{name: n, jq: "{}"}]\n' > .pawl/kinds/count.yaml
    $ printf 'kind: wrong\nsteps: []\n' > .pawl/kinds/wrong.yaml
    $ printf 'kind: sleep\nabout: Sleeps.\nnodes: [{name: n, jq: "{}"}]\n' > more/sleep.yaml
    $ printf 'no kind\n' > .pawl/kinds/notes.txt
    $ pawl kinds --dialect pipeline --kinds more
    pipeline: what a step of `steps` does
      script  a command on this machine
      docker  a command in a container
      agent   the work of an agent

    from outside: files that every dialect can use
      sleep  more/sleep.yaml         Sleeps. (hidden by the kind of Pawl itself in graph, tasks)
      count  .pawl/kinds/count.yaml  Counts.
      wrong  .pawl/kinds/wrong.yaml  cannot be used: .pawl/kinds/wrong.yaml:2:8: There are no steps; a pipeline has at least one.
    $ pawl kinds count
    count (.pawl/kinds/count.yaml): Counts.
      to    integer|string, 3 unless given
            how far
      deep  value, required
      and any others
      gives back: last
    $ pawl kinds coun
    2> pawl kinds: there is no kind `coun`; did you mean `count`?
    2> Try `pawl help kinds`.
    [2]
    $ pawl kinds count --json | pawl eval -c 'map([.name, .dialect, .outputs, .file, .schema.required])'
    [["count","any",["last"],".pawl/kinds/count.yaml",["deep"]]]
    $ pawl schema graph | pawl eval -c '."$defs".node | [.properties.uses.enum[-1], (.properties.count.properties | keys), .oneOf[-1]]'
    ["count",["deep","to"],{"required":["count"]}]
    $ pawl schema tasks --kinds more | pawl eval -c '."$defs" | [.task.properties.name.enum[-2:], (.config_count.properties | keys)]'
    [["check_http_metrics","count"],["deep","to"]]
    $ pawl schema pipeline --kinds more | pawl eval -c '."$defs" | [.step.properties.type.enum[-2:], .config_count.required]'
    [["sleep","count"],["deep"]]
