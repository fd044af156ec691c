# `pawl check`: what can be said of a workflow before it runs.

Lua that does not compile is a problem, for `run` too
    $ cat > code.yaml <<'END'
    > nodes:
    >   - name: a
    >     lua: |
    >       local x = 1
    >       return {x = = 2}
    >   - {name: m, map: {over: '[1]'}, do: {lua: 'return ('}}
    > END
    $ pawl check code.yaml
    code.yaml:5:7: error: This is no Lua: unexpected symbol near '='.
              return {x = = 2}
              ^~~~~~~~~~~~~~~~
    code.yaml:6:46: error: This is no Lua: unexpected symbol near <eof>.
          - {name: m, map: {over: '[1]'}, do: {lua: 'return ('}}
                                                     ^
    [1]
    $ pawl run code.yaml --json
    {"error":{"code":"syntax","message":"The workflow has errors.","problems":[{"file":"code.yaml","line":5,"col":7,"severity":"error","message":"This is no Lua: unexpected symbol near '='."},{"file":"code.yaml","line":6,"col":46,"severity":"error","message":"This is no Lua: unexpected symbol near <eof>."}]}}
    2> code.yaml:5:7: error: This is no Lua: unexpected symbol near '='.
    2>           return {x = = 2}
    2>           ^~~~~~~~~~~~~~~~
    2> code.yaml:6:46: error: This is no Lua: unexpected symbol near <eof>.
    2>       - {name: m, map: {over: '[1]'}, do: {lua: 'return ('}}
    2>                                                  ^
    [2]

Sizes past what is kept are problems
    $ cat > sizes.yaml <<'END'
    > nodes:
    >   - {name: a, http: http://localhost/, max_response: 512M}
    >   - {name: b, shell: make, max_output: 1G}
    >   - {name: c, python: return 1, max_output: 257M}
    > END
    $ pawl check sizes.yaml
    sizes.yaml:2:54: error: `max_response` must be at most 256M.
          - {name: a, http: http://localhost/, max_response: 512M}
                                                             ^~~~
    sizes.yaml:3:40: error: `max_output` must be at most 256M.
          - {name: b, shell: make, max_output: 1G}
                                               ^~
    sizes.yaml:4:45: error: `max_output` must be at most 256M.
          - {name: c, python: return 1, max_output: 257M}
                                                    ^~~~
    [1]
