# What is typed at the debugger's prompt, and what is wrong with it.

Commands with missing, extra or wrong arguments are answered, and the session goes on
    $ cat > w.yaml <<'END'
    > name: w
    > nodes:
    >   - {name: a, jq: '{n: 1}'}
    >   - {name: b, jq: '{m: (.n + 1)}'}
    > END
    $ cat > wrong.txt <<'END'
    > brake b
    > break
    > break b if (
    > break nowhere
    > tbreak
    > condition
    > condition 9 .n
    > ignore 1
    > ignore 1 many
    > catch what
    > logpoint b
    > delete 7
    > enable x
    > disable 7
    > watch
    > watch (
    > unwatch 3
    > info
    > info weather
    > continue 9
    > step frame 9
    > back x
    > skip {
    > retry
    > goto
    > goto nowhere
    > goto @999
    > print
    > print (
    > print .n.x.y
    > set
    > set .n
    > set .n = {
    > unset
    > revoke 4
    > state .nowhere
    > diff 1
    > diff 1 999
    > config set
    > config reset
    > frame x
    > frame 9
    > inject
    > inject before
    > inject before x: {kind: none}
    > uninject 3
    > history x
    > list x
    > export
    > replay @999
    > answer
    > pause 9
    > option
    > option colour blue
    > extend x
    > help nothing
    > continue
    > END
    $ pawl debug w.yaml --thread t -x wrong.txt
    Frame 1 paused before `a` (jq), at the start, w.yaml:3
        3    - {name: a, jq: '{n: 1}'}
    (pawl) brake b
    There is no command `brake`; `help` lists them.
    (pawl) break
    `break` takes a place, a condition or both.
    Usage: break SPEC
    (pawl) break b if (
    `condition`, line 1, column 2: Unexpected end of the expression.
    (pawl) break nowhere
    Breakpoint 1: nowhere, not verified
      No node is called `nowhere`.
    (pawl) tbreak
    `tbreak` takes a place, a condition or both.
    Usage: tbreak SPEC
    (pawl) condition
    `condition` takes the number of a breakpoint first.
    Usage: condition N [EXPR]
    (pawl) condition 9 .n
    There is no breakpoint 9.
    (pawl) ignore 1
    `ignore` takes how many hits to pass over.
    Usage: ignore N COUNT
    (pawl) ignore 1 many
    `ignore` takes how many hits to pass over, not `many`.
    Usage: ignore N COUNT
    (pawl) catch what
    `catch` takes nothing more: `what` is too much.
    Usage: catch [error|caught] [if EXPR]
    (pawl) logpoint b
    `logpoint` takes a place and the text to write there.
    Usage: logpoint PLACE TEXT
    (pawl) delete 7
    There is no breakpoint 7; the only one is 1.
    (pawl) enable x
    `enable` takes numbers of breakpoints, or `group` and a name, not `x`.
    Usage: enable [N... | group NAME]
    (pawl) disable 7
    There is no breakpoint 7; the only one is 1.
    (pawl) watch
    There are no watches.
    (pawl) watch (
    At column 2 of the expression: Unexpected end of the expression.
    (pawl) unwatch 3
    There is no watch 3; there are none.
    (pawl) info
    `info` takes what to tell about.
    Usage: info breakpoints | config | edges | error | frames | injected | node | nodes | pending | session | stack | watches
    (pawl) info weather
    There is nothing to tell about `weather`.
    Usage: info breakpoints | config | edges | error | frames | injected | node | nodes | pending | session | stack | watches
    (pawl) continue 9
    There is no frame 9. `frames` lists them.
    (pawl) step frame 9
    There is no frame 9. `frames` lists them.
    (pawl) back x
    `back` takes how many steps, not `x`.
    Usage: back [N]
    (pawl) skip {
    `{` is not JSON (Unfinished JSON term at EOF at line 1, column 1); a string is written with its quotes, as "text".
    Usage: skip [JSON]
    (pawl) retry
    Frame 1 is paused before its node, and nothing of it has failed: `continue` runs it.
    (pawl) goto
    `goto` takes a node, or @ and a checkpoint.
    Usage: goto NODE | @CHECKPOINT
    (pawl) goto nowhere
    There is no node `nowhere` where frame 1 is.
    (pawl) goto @999
    Thread `t` has no checkpoint 999: its last is 4. `history` lists those that are there.
    (pawl) print
    `print` takes an expression.
    Usage: print [@CHECKPOINT] EXPR
    (pawl) print (
    At column 2 of the expression: Unexpected end of the expression.
    (pawl) print .n.x.y
    null
    (pawl) set
    `set` takes a path, an equals sign and a value.
    Usage: set PATH = JSON
    (pawl) set .n
    `set` takes a path, an equals sign and a value.
    Usage: set PATH = JSON
    (pawl) set .n = {
    `{` is not JSON (Unfinished JSON term at EOF at line 1, column 1); a string is written with its quotes, as "text".
    Usage: set PATH = JSON
    (pawl) unset
    `unset` takes the path of what is to go.
    Usage: unset PATH
    (pawl) revoke 4
    Frame 1 has no pending change 4; there are none.
    (pawl) state .nowhere
    `.` has no key `nowhere`: it is empty.
    (pawl) diff 1
    Nothing changed.
    (pawl) diff 1 999
    Thread `t` has no checkpoint 999: its last is 4. `history` lists those that are there.
    (pawl) config set
    `config` takes a path, an equals sign and a value.
    Usage: config [set PATH = JSON | reset]
    (pawl) config reset
    The config of this node was not edited.
    (pawl) frame x
    `frame` takes the number of a frame, not `x`.
    Usage: frame [N]
    (pawl) frame 9
    There is no frame 9. `frames` lists them.
    (pawl) inject
    `inject` takes a node, as it would stand in the file: NAME: {shell: make}.
    Usage: inject [before | after] [NAME:] NODE
    (pawl) inject before
    `inject` takes a node, as it would stand in the file: NAME: {shell: make}.
    Usage: inject [before | after] [NAME:] NODE
    (pawl) inject before x: {kind: none}
    The node cannot be used: There is no kind of node `kind`; the kinds are jq, lua, shell, python, javascript, http, action, sleep, approval, workflow, map and while.
    (pawl) uninject 3
    There is no injected node 3 that has not begun; there are none.
    (pawl) history x
    `history` takes a number, @ and a checkpoint, or `all`, not `x`.
    Usage: history [N] [@CHECKPOINT] [all]
    (pawl) list x
    `list` takes LINE or FILE:LINE, not `x`.
    Usage: list [LINE | FILE:LINE]
    (pawl) export
    `export` takes the file to write.
    Usage: export FILE
    (pawl) replay @999
    Thread `t` has no checkpoint 999: its last is 4. `history` lists those that are there.
    (pawl) answer
    Nothing waits for an answer.
    (pawl) pause 9
    There is no frame 9. `frames` lists them.
    (pawl) option
    Thread t (run 1) of workflow w, w.yaml
    Status: paused, frames paused: 1, selected frame: 1, checkpoint 4
    Options: pause-all on, auto-resume off, idle 1h 00m (1h 00m left)
    (pawl) option colour blue
    There is no option `colour`.
    Usage: option [breakpoints | exceptions | pause-all | auto-resume | steps on|off, idle TIME]
    (pawl) extend x
    `x` is no length of time; it is as 30m, 90s or 2h.
    Usage: extend [TIME]
    (pawl) help nothing
    There is no command `nothing`; `help` lists them.
    Usage: help [COMMAND]
    (pawl) continue
    The run completed.
    $ pawl show t
    {
      "n": 1,
      "m": 2
    }

A place that is no file, no thread and no export is said to be none
    $ pawl debug nosuch.yaml
    2> pawl debug: there is no file `nosuch.yaml`.
    2> Try `pawl help debug`.
    [2]
    $ pawl debug
    2> pawl debug: which workflow or run? It takes a FILE, a THREAD or a RUN.
    2> Try `pawl help debug`.
    [2]
    $ pawl debug --open nosuch.json
    2> pawl debug: Cannot open the file nosuch.json: No such file or directory.
    [2]
    $ echo '{}' > odd.json
    $ pawl debug --open odd.json
    2> pawl debug: This is not an export of a run: there is no `pawl_export` in it. The debugger's `export` writes one.
    [2]
    $ printf 'nodes: [{name: a, jq: "{}"}]' > w.yaml
    $ pawl debug w.yaml --break 'a if (' --store memory:
    2> pawl debug: --break `a if (`: `condition`, line 1, column 2: Unexpected end of the expression.
    2> Try `pawl help debug`.
    [2]
    $ pawl debug w.yaml -x nosuch.txt --store memory:
    2> pawl debug: Cannot open the file nosuch.txt: No such file or directory.
    [2]

Back over a node whose config was edited, `list` shows the workflow's file
    $ cat > edit.txt <<'END'
    > config set .jq = "{n: 7}"
    > next
    > back
    > list
    > END
    $ cat > w.yaml <<'END'
    > name: w
    > nodes:
    >   - {name: a, jq: '{n: 1}'}
    >   - {name: b, jq: '{m: (.n + 1)}'}
    > END
    $ pawl debug w.yaml -x edit.txt --store memory:
    Frame 1 paused before `a` (jq), at the start, w.yaml:3
        3    - {name: a, jq: '{n: 1}'}
    (pawl) config set .jq = "{n: 7}"
    `a` (jq), edited for this execution:
    {"name":"a","jq":"{n: 7}"}
    Resolved:
    {"jq":"{n: 7}"}
    (pawl) next
    Frame 1 paused before `b` (jq), w.yaml:4
        4    - {name: b, jq: '{m: (.n + 1)}'}
    (pawl) back
    At checkpoint 10.
    Frame 1 paused before `a` (jq), edited, w.yaml:3
        3    - {name: a, jq: '{n: 1}'}
    (pawl) list
           1  name: w
           2  nodes:
    =>     3    - {name: a, jq: '{n: 1}'}
           4    - {name: b, jq: '{m: (.n + 1)}'}
    The run was kept in memory only, so it is gone with this process.
    [3]

A run that has ended is said to have failed or completed, and what can be done with it
    $ cat > two.yaml <<'END'
    > name: two
    > nodes: [{name: a, jq: '{n: 1}'}, {name: b, shell: 'exit 3'}]
    > END
    $ pawl run two.yaml --thread two --quiet --store file:runs
    2> two.yaml:2:34: error: node b: Command exited with code 3
    2> Try again from there with: pawl resume two --store file:runs
    [1]
    $ printf 'info node\nabort\n' | pawl debug two --store file:runs
    Thread two (run 1) of workflow two, two.yaml
    Status: failed, selected frame: 1, checkpoint 3
    Options: pause-all on, auto-resume off, idle 1h 00m
    exit: Command exited with code 3
    Frame 1: failed at `b` (shell)
        2  nodes: [{name: a, jq: '{n: 1}'}, {name: b, shell: 'exit 3'}]
    `retry` runs it again, after `set` or `config set` if need be; `back` goes back.
    `b` (shell), two.yaml:2
    {"name":"b","shell":"exit 3"}
    Edges:
      to __end__
    The run is failed: there is nothing to cancel.
    [1]
    $ cat > test.yaml <<'END'
    > name: T
    > tasks: [{name: run_shell, id: bad, config: {command: exit 3}}]
    > cleanupTasks: [{name: run_shell, config: {command: echo clean}}]
    > END
    $ pawl run test.yaml --thread test --quiet --store file:runs
    2> test.yaml:2:9: error: node bad: Command exited with code 3
    2> Its cleanup tasks have run. `pawl history test --store file:runs` shows where to go back to.
    [1]
    $ printf 'retry\n' | pawl debug test --store file:runs
    Thread test (run 2) of workflow T, test.yaml
    Status: failed, selected frame: 1, checkpoint 7
    Options: pause-all on, auto-resume off, idle 1h 00m
    exit: Command exited with code 3
    Frame 1: done
    `back` goes back into it.
    Frame 1 is not paused: it has ended. The run is failed. `back` goes back into it.
    [1]

A run that fails after `detach` says where, and the way out, as `pawl run` does
    $ cat > two.yaml <<'END'
    > name: two
    > nodes: [{name: a, jq: '{n: 1}'}, {name: b, shell: 'exit 3'}]
    > END
    $ echo detach | pawl debug two.yaml --thread two --store file:runs
    Frame 1 paused before `a` (jq), at the start, two.yaml:2
        2  nodes: [{name: a, jq: '{n: 1}'}, {name: b, shell: 'exit 3'}]
    2> a  completed  * (glob)
    2> b  failed  * (glob)
    2> two.yaml:2:34: error: node b: Command exited with code 3
    2> Try again from there with: pawl resume two --store file:runs
    [1]
    $ echo detach | pawl debug two.yaml --store memory: 2>&1 | tail -1
    two.yaml:2:34: error: node b: Command exited with code 3

A node to inject is written as in the file, with a name before it or without
    $ cat > one.yaml <<'END'
    > name: one
    > nodes: [{name: a, jq: '{n: 1}'}]
    > END
    $ cat > inject.txt <<'END'
    > inject jq: '{n: 0}'
    > inject after shell: echo "a: b"
    > inject probe: {shell: env}
    > inject "odd name": {jq: '{}'}
    > inject after probe: shell: env
    > inject sleep: 1s
    > inject map: {over: .x}
    > END
    $ pawl debug one.yaml -x inject.txt --store memory:
    Frame 1 paused before `a` (jq), at the start, one.yaml:2
        2  nodes: [{name: a, jq: '{n: 1}'}]
    (pawl) inject jq: '{n: 0}'
    Node 1, `injected`, runs before the current one: {"jq":"{n: 0}"}
    (pawl) inject after shell: echo "a: b"
    Node 2, `injected`, runs after the current one: {"shell":"echo \"a: b\""}
    (pawl) inject probe: {shell: env}
    Node 3, `probe`, runs before the current one: {"shell":"env"}
    (pawl) inject "odd name": {jq: '{}'}
    The node cannot be used: The name of a node is made of letters, digits, `_`, `.` and `-`, up to 200 of them; `odd name` is not.
    (pawl) inject after probe: shell: env
    Node 4, `probe`, runs after the current one: {"shell":"env"}
    (pawl) inject sleep: 1s
    Node 5, `injected`, runs before the current one: {"sleep":"1s"}
    (pawl) inject map: {over: .x}
    The node cannot be used: `do` is missing, which a map node needs: what to do with each element.
    The run was kept in memory only, so it is gone with this process.
    [3]

Elements of nested maps are told apart by the frame that they are in; the first that stopped is selected
    $ cat > nested.yaml <<'END'
    > name: nested
    > nodes:
    >   - name: out
    >     map: {over: '[1, 2]', as: x, limit: 2}
    >     do:
    >       map: {over: '[3, 4]', as: y, limit: 2}
    >       do: {jq: '$x * $y'}
    > END
    $ printf 'break out[][]\ncontinue\nframes\nprint [$x, $y]\n' > nested.txt
    $ pawl debug nested.yaml -x nested.txt --store memory:
    Frame 1 paused before `out` (map), at the start, nested.yaml:3
        3    - name: out
    (pawl) break out[][]
    Breakpoint 1: out[][], nested.yaml:7
    (pawl) continue
    Frame 4 (map[0]) paused before `out[][]` (jq), breakpoint 1, nested.yaml:7
    Frame 5 (map[1]) paused before `out[][]` (jq), breakpoint 1, nested.yaml:7
    Frame 6 (map[0]) paused before `out[][]` (jq), breakpoint 1, nested.yaml:7
    Frame 7 (map[1]) paused before `out[][]` (jq), breakpoint 1, nested.yaml:7
        7        do: {jq: '$x * $y'}
    (pawl) frames
      FRAME  IN  NAME    DOES                          PLACE
      1          main    joining at `out` (map)        nested.yaml:3
      2      1   map[0]  joining at `out[]` (map)      nested.yaml:6
      3      1   map[1]  joining at `out[]` (map)      nested.yaml:6
    * 4      2   map[0]  paused before `out[][]` (jq)  nested.yaml:7
      5      2   map[1]  paused before `out[][]` (jq)  nested.yaml:7
      6      3   map[0]  paused before `out[][]` (jq)  nested.yaml:7
      7      3   map[1]  paused before `out[][]` (jq)  nested.yaml:7
    (pawl) print [$x, $y]
    [1,3]
    The run was kept in memory only, so it is gone with this process.
    [3]

Going to the end of a run says that nothing comes after it
    $ printf 'name: ends\nnodes: [{name: a, jq: "{a: 1}"}, {name: b, jq: "{b: 1}"}]\n' > ends.yaml
    $ pawl run ends.yaml -q --thread t > ran
    $ printf 'goto @3\nback\ngoto @3\n' > ends.txt
    $ pawl debug t -x ends.txt
    Thread t (run 1) of workflow ends, ends.yaml
    Status: completed, selected frame: 1, checkpoint 3
    Options: pause-all on, auto-resume off, idle 1h 00m
    (pawl) goto @3
    At checkpoint 4, where the run has completed: nothing comes after it, and `back` goes back into it.
    Frame 1: done
    (pawl) back
    At checkpoint 5.
    Frame 1 paused before `b` (jq), ends.yaml:2
        2  nodes: [{name: a, jq: "{a: 1}"}, {name: b, jq: "{b: 1}"}]
    (pawl) goto @3
    At checkpoint 6, where the run has completed: nothing comes after it, and `back` goes back into it.
    Frame 1: done

`config` does not show the passwords of URLs
    $ cat > ask.yaml <<'END'
    > nodes:
    >   - {name: ask, http: {url: 'http://me:hunter2@127.0.0.1:9/x', headers: {a: '"https://me:pa/ss@h"'}}}
    > END
    $ echo config > ask.txt
    $ pawl debug ask.yaml --store memory: -x ask.txt
    Frame 1 paused before `ask` (http), at the start, ask.yaml:2
        2    - {name: ask, http: {url: 'http://***@127.0.0.1:9/x', headers: {a: '"https://***@h"'}}}
    (pawl) config
    `ask` (http):
    {
      "name": "ask",
      "http": {
        "url": "http://***@127.0.0.1:9/x",
        "headers": {
          "a": "\"https://***@h\""
        }
      }
    }
    Resolved:
    {
      "url": "http://***@127.0.0.1:9/x",
      "headers": {
        "a": "https://***@h"
      },
      "parse": "auto",
      "max_response": "16M",
      "redirects": 5,
      "request_timeout": "30s"
    }
    The run was kept in memory only, so it is gone with this process.
    [3]

All that is known of an error
    $ printf 'nodes: [{name: a, shell: "echo one >&2; echo two >&2; exit 7"}]\n' > w.yaml
    $ printf 'info error\ncatch\ncontinue\ninfo error\ncontinue\ninfo error\n' > c.txt
    $ pawl debug w.yaml --store memory: -x c.txt
    Frame 1 paused before `a` (shell), at the start, w.yaml:1
        1  nodes: [{name: a, shell: "echo one >&2; echo two >&2; exit 7"}]
    (pawl) info error
    Nothing has failed in this frame.
    (pawl) catch
    Breakpoint 1: errors (on_error)
    (pawl) continue
    a | one
    a | two
    Frame 1 paused at an error in `a` (shell), breakpoint 1, w.yaml:1
      exit: Command exited with code 7: two
        1  nodes: [{name: a, shell: "echo one >&2; echo two >&2; exit 7"}]
    (pawl) info error
    exit: Command exited with code 7: two
    node: a
    place: w.yaml:1
    exit_code: 7
    stdout: nothing
    stderr:
      one
      two
    (pawl) continue
    The run failed.
      w.yaml:1: node a: Command exited with code 7: two
    (pawl) info error
    exit: Command exited with code 7: two
    node: a
    place: w.yaml:1
    exit_code: 7
    stdout: nothing
    stderr:
      one
      two
    [1]
    $ printf 'nodes:\n  - name: p\n    python: |\n      def f(x):\n          return x["nope"]\n      f({})\n' > p.yaml
    $ printf 'catch\ncontinue\ninfo error\n' | pawl debug p.yaml --store memory: | grep -A2 traceback
    traceback:
      Traceback (most recent call last):
        File "<code 0>", line 3, in node

A frame with branches says where they join; going back past every breakpoint says that this is the start
    $ cat > w.yaml <<'END'
    > nodes:
    >   - {name: begin, jq: "{}"}
    >   - {name: a, jq: "{}"}
    >   - {name: b, jq: "{}"}
    >   - {name: end, jq: "{}"}
    > edges:
    >   - {from: __start__, to: begin}
    >   - {from: begin, to: [a, b], fan_in: end}
    >   - {from: [a, b], to: end}
    >   - {from: end, to: __end__}
    > END
    $ printf 'break a\ncontinue\nframes\nreverse-continue\n' > c.txt
    $ pawl debug w.yaml --store memory: -x c.txt
    Frame 1 paused before `begin` (jq), at the start, w.yaml:2
        2    - {name: begin, jq: "{}"}
    (pawl) break a
    Breakpoint 1: a, w.yaml:3
    (pawl) continue
    Frame 2 (parallel[0]) paused before `a` (jq), breakpoint 1, w.yaml:3
    Frame 3 (parallel[1]) paused before `b` (jq), since frame 2 stopped, w.yaml:4
        3    - {name: a, jq: "{}"}
    (pawl) frames
      FRAME  IN  NAME         DOES                    PLACE
      1          main         joining at `end` (jq)   w.yaml:5
    * 2      1   parallel[0]  paused before `a` (jq)  w.yaml:3
      3      1   parallel[1]  paused before `b` (jq)  w.yaml:4
    (pawl) reverse-continue
    At checkpoint 9, the start: no breakpoint would have stopped the run before; frames 2 and 3 went back, too.
    Frame 1 paused before `begin` (jq), w.yaml:2
        2    - {name: begin, jq: "{}"}
    The run was kept in memory only, so it is gone with this process.
    [3]

An injected node is shown as it was given
    $ printf 'nodes: [{name: a, jq: "{}"}]\n' > w.yaml
    $ printf 'inject before {shell: "exit 3"}\ncatch\ncontinue\nlist\n' > c.txt
    $ pawl debug w.yaml --store memory: -x c.txt
    Frame 1 paused before `a` (jq), at the start, w.yaml:1
        1  nodes: [{name: a, jq: "{}"}]
    (pawl) inject before {shell: "exit 3"}
    Node 1, `injected`, runs before the current one: {"shell":"exit 3"}
    (pawl) catch
    Breakpoint 1: errors (on_error)
    (pawl) continue
    Frame 1 paused at an error in `injected` (shell), breakpoint 1, injected.yaml:2
      exit: Command exited with code 3
        2    - {"shell":"exit 3","name":"injected"}
    (pawl) list
           1  nodes:
    =>     2    - {"shell":"exit 3","name":"injected"}
           3  name: injected
    The run was kept in memory only, so it is gone with this process.
    [3]

Going back names the frames that go back, too; whoever comes is shown all frames that are paused
    $ cat > w.yaml <<'END'
    > nodes:
    >   - {name: begin, jq: "{}"}
    >   - {name: a, jq: "{}"}
    >   - {name: a2, jq: "{}"}
    >   - {name: b, jq: "{}"}
    >   - {name: b2, jq: "{}"}
    > edges:
    >   - {from: __start__, to: begin}
    >   - {from: begin, to: [a, b]}
    >   - {from: a, to: a2}
    >   - {from: b, to: b2}
    >   - {from: [a2, b2], to: __end__}
    > END
    $ printf 'step\nnext\nframe 3\nnext\nframe 2\nback\nframes\n' > c.txt
    $ pawl debug w.yaml --thread t -x c.txt
    Frame 1 paused before `begin` (jq), at the start, w.yaml:2
        2    - {name: begin, jq: "{}"}
    (pawl) step
    Frame 2 (parallel[0]) paused before `a` (jq), w.yaml:3
    Frame 3 (parallel[1]) paused before `b` (jq), w.yaml:5
        3    - {name: a, jq: "{}"}
    (pawl) next
    Frame 2 (parallel[0]) paused before `a2` (jq), w.yaml:4
        4    - {name: a2, jq: "{}"}
    (pawl) frame 3
    Frame 3 (parallel[1]) paused before `b` (jq), w.yaml:5
    #0  `b` (jq) in w, w.yaml:5
    #1  `begin` (jq) in w, w.yaml:2
    (pawl) next
    Frame 3 (parallel[1]) paused before `b2` (jq), w.yaml:6
        6    - {name: b2, jq: "{}"}
    (pawl) frame 2
    Frame 2 (parallel[0]) paused before `a2` (jq), w.yaml:4
    #0  `a2` (jq) in w, w.yaml:4
    #1  `begin` (jq) in w, w.yaml:2
    (pawl) back
    At checkpoint 16; frame 3 went back, too.
    Frame 2 (parallel[0]) paused before `a` (jq), w.yaml:3
        3    - {name: a, jq: "{}"}
    Frame 3 (parallel[1]) paused before `b` (jq), w.yaml:5
    (pawl) frames
      FRAME  IN  NAME         DOES                    PLACE
      1          main         joining at the end
    * 2      1   parallel[0]  paused before `a` (jq)  w.yaml:3
      3      1   parallel[1]  paused before `b` (jq)  w.yaml:5
    The run stays as it is. `pawl debug t` comes back to it.
    [3]
    $ pawl debug t < /dev/null
    Frame 2 (parallel[0]) paused before `a` (jq), w.yaml:3
        3    - {name: a, jq: "{}"}
    Frame 3 (parallel[1]) paused before `b` (jq), w.yaml:5
    The run stays as it is. `pawl debug t` comes back to it.
    [3]

A checkpoint that is not there is refused before anything is opened
    $ cat > w.yaml <<'END'
    > name: w
    > nodes: [{name: a, jq: '{n: 1}'}]
    > END
    $ pawl run w.yaml --thread t -q
    {
      "n": 1
    }
    $ pawl debug t@99
    2> pawl debug: Thread `t` has no checkpoint 99: its last is 2. `pawl history t` lists those that are there.
    [2]
    $ pawl debug t@99 --json
    {"error":{"code":"not_found","message":"Thread `t` has no checkpoint 99: its last is 2.","thread":"t","checkpoint":99}}
    2> pawl debug: Thread `t` has no checkpoint 99: its last is 2. `pawl history t` lists those that are there.
    [2]
    $ pawl history t | wc -l
    3

A watch of a value that is too large to print says so
    $ cat > w.yaml <<'END'
    > name: w
    > nodes: [{name: a, jq: '{}'}]
    > END
    $ printf 'watch "x" * 30000000\nwatch empty\nwatch\nquit\n' > watch.txt
    $ pawl debug w.yaml --thread large -x watch.txt
    Frame 1 paused before `a` (jq), at the start, w.yaml:2
        2  nodes: [{name: a, jq: '{}'}]
    (pawl) watch "x" * 30000000
    Watch 1: "x" * 30000000
    (pawl) watch empty
    Watch 2: empty
    (pawl) watch
    1: "x" * 30000000 = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx... (too large to print)
    2: empty = no output
    (pawl) quit
    The run stays as it is. `pawl debug large` comes back to it.
    [3]
