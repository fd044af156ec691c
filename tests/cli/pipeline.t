# Pipelines: steps that are commands on this machine.

Steps run one after the other
    $ cat > ci.yaml <<'END'
    > name: ci
    > steps:
    >   - {id: build, type: script, config: {command: echo building}}
    >   - {name: "Unit tests", type: script, config: {command: 'echo 12 passed'}}
    > END
    $ pawl check ci.yaml
    ci.yaml: fine (ci, 2 nodes)
    $ pawl run ci.yaml --thread ci --json | pawl eval -c '.status, (.state.steps | map_values(del(.seconds)))'
    "completed"
    {"build":{"status":"completed","exit_code":0,"stdout":"building"},"unit-tests":{"status":"completed","exit_code":0,"stdout":"12 passed"}}

A failure ends the run, and a resume tries the step again
    $ cat > ci.yaml <<'END'
    > steps:
    >   - {id: build, type: script, config: {command: 'echo x >> builds'}}
    >   - {id: test, type: script, config: {command: 'test -e mended || { echo "no good" >&2; exit 3; }'}}
    > END
    $ pawl run ci.yaml --thread ci -q
    2> ci.yaml:3:5: error: node test: Command exited with code 3: no good
    2> Try again from there with: pawl resume ci
    [1]
    $ touch mended
    $ pawl resume ci --json | pawl eval -c '[.status, .state.steps.test.status]'
    ["completed","completed"]
    $ cat builds
    x

on_failure: next goes on, and the result says what failed
    $ cat > ci.yaml <<'END'
    > steps:
    >   - {id: lint, type: script, config: {command: 'echo "too long" >&2; exit 1'}, on_failure: next}
    >   - {id: build, type: script, config: {command: 'true'}}
    > END
    $ pawl run ci.yaml --json | pawl eval -c '.status, (.state.steps.lint | del(.seconds)), .state.steps.build.status'
    "completed"
    {"status":"failed","exit_code":1,"stdout":"","error":"Command exited with code 1: too long"}
    "completed"

A home folder is empty unless the step before leaves it
    $ cat > ci.yaml <<'END'
    > steps:
    >   - {id: put, type: script, config: {command: 'touch "$HOME/tool"'}, continue_in_context: true}
    >   - {id: look, type: script, config: {command: 'ls "$HOME"'}}
    >   - {id: again, type: script, config: {command: 'ls "$HOME"'}}
    > END
    $ pawl run ci.yaml --json | pawl eval -c '.state.steps | map_values(.stdout)'
    {"put":"","look":"tool","again":""}

What this version cannot run is refused when its turn comes
    $ cat > ci.yaml <<'END'
    > steps:
    >   - {id: build, type: script, config: {command: 'true'}}
    >   - {id: unit, type: docker, config: {image: "python:3.12", command: pytest -v}}
    > END
    $ pawl check ci.yaml
    ci.yaml: fine (ci, 2 nodes)
    $ pawl run ci.yaml --thread ci -q
    2> ci.yaml:3:5: error: node unit: Step `unit` needs a container (image "python:3.12"), and this version runs `type: script` only: write it as a script where the tools of the image are installed, or as a script that calls docker run.
    2> Try again from there with: pawl resume ci
    [1]
    $ pawl show ci | pawl eval -c '.steps | keys'
    ["build"]

What is wrong with a pipeline is said at once, with places
    $ cat > ci.yaml <<'END'
    > steps:
    >   - {id: build, type: scirpt, config: {command: make}}
    >   - {id: test, type: script, config: {comand: make test}, on_succes: stop}
    > trigers: []
    > END
    $ pawl check ci.yaml
    ci.yaml:2:23: error: `type` must be script, docker or agent, not `scirpt`; did you mean `script`?
          - {id: build, type: scirpt, config: {command: make}}
                              ^~~~~~
    ci.yaml:3:38: error: `command` is missing in `config`, which a script step needs: the command, for /bin/sh.
          - {id: test, type: script, config: {comand: make test}, on_succes: stop}
                                             ^~~~~~~~~~~~~~~~~~~
    ci.yaml:3:39: error: `comand` is no key of the `config` of a script step; did you mean `command`?
          - {id: test, type: script, config: {comand: make test}, on_succes: stop}
                                              ^~~~~~
    ci.yaml:3:59: error: `on_succes` is no key of a step; did you mean `on_success`?
          - {id: test, type: script, config: {comand: make test}, on_succes: stop}
                                                                  ^~~~~~~~~
    ci.yaml:4:1: error: `trigers` is no key of a pipeline; did you mean `triggers`?
        trigers: []
        ^~~~~~~
    [1]

A pipeline is drawn as a graph
    $ cat > ci.yaml <<'END'
    > name: ci
    > steps:
    >   - {id: build, type: script, config: {command: make}, on_failure: "trigger:card-7"}
    >   - {id: test, type: script, config: {command: make test}, on_success: "merge:main"}
    > triggers:
    >   - {type: push, config: {branches: [main]}}
    > END
    $ pawl graph ci.yaml
    digraph "ci" {
      node [shape=box];
      "__start__" [shape=circle, label=start];
      "__end__" [shape=doublecircle, label=end];
      "build" [shape=box, label="build\nscript"];
      "test" [shape=box, label="test\nscript"];
      "build.trigger" [shape=box, label="build.trigger\ntrigger"];
      "test.merge" [shape=box, label="test.merge\nmerge"];
      "__start__" -> "build";
      "build" -> "test";
      "build" -> "build.trigger" [label="error", style=dashed];
      "test" -> "test.merge";
      "build.trigger" -> "__end__";
      "test.merge" -> "__end__";
    }
    $ pawl graph ci.yaml --format mermaid
    flowchart TD
      start((start))
      n0["build<br/>script"]
      n1["test<br/>script"]
      n2["build.trigger<br/>trigger"]
      n3["test.merge<br/>merge"]
      finish(((end)))
      start --> n0
      n0 --> n1
      n0 -.->|"error"| n2
      n1 --> n3
      n2 --> finish
      n3 --> finish
    $ pawl graph ci.yaml --format json | pawl eval -c .triggers
    [{"type":"push","config":{"branches":["main"]}}]

Tasks are drawn inside the tasks that hold them
    $ cat > test.yaml <<'END'
    > name: t
    > tasks:
    >   - {name: run_tasks_concurrent, id: both, config: {tasks: [{name: sleep, id: a, config: {duration: 1s}}]}}
    > cleanupTasks:
    >   - {name: sleep, id: down, config: {duration: 1s}}
    > END
    $ pawl graph test.yaml
    digraph "t" {
      node [shape=box];
      "__start__" [shape=circle, label=start];
      "__end__" [shape=doublecircle, label=end];
      subgraph cluster_0 {
        label="";
        t0 [shape=box, label="both\nrun_tasks_concurrent"];
        t1 [shape=box, label="a\nsleep"];
      }
      subgraph cluster_2 {
        label="cleanup"; style=dashed;
        t3 [shape=box, label="down\nsleep"];
      }
      "__start__" -> t0;
      t0 -> t1 [style=bold];
      t0 -> t3 [label="always", style=dashed];
      t3 -> "__end__";
    }

A step is skipped with what the state is to have of it
    $ printf 'steps:\n  - {id: lint, type: script, config: {command: make lint}}\n  - {id: test, type: script, config: {command: echo fine}}\n' > ci.yaml
    $ printf 'skip {"status": "completed", "exit_code": 0}\ncontinue\n' > commands
    $ pawl debug ci.yaml --thread skipped -x commands > out
    $ pawl show skipped --json | pawl eval -c '.steps.lint, keys'
    {"status":"completed","exit_code":0}
    ["steps"]

PAWL_RUN names the run for other commands
    $ printf 'steps: [{id: a, type: script, config: {command: "echo $PAWL_RUN"}}]\n' > ci.yaml
    $ pawl run ci.yaml --thread mine --json | pawl eval .state.steps.a.stdout
    "mine"
    $ pawl run ci.yaml --json | pawl eval '.thread == .state.steps.a.stdout'
    true
