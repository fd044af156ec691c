# pawl eval: budgets. The first document is hostile, the second must still be served.

Steps
    $ echo '1 2' | pawl eval --limit-steps 100000 'def f: f; if . == 1 then f else . end'
    2
    2> pawl eval: <stdin>, document 1: The expression used more than 100000 steps; raise the limit if that is meant, or look for a loop that does not end. (expression, line 1, column 8)
    2>     def f: f; if . == 1 then f else . end
    2>            ^
    $ echo '1 2' | pawl eval --limit-steps 100000 'if . == 1 then last(range(1e12)) else . end' 2>/dev/null
    2
    $ echo '1' | pawl eval --limit-steps 100000 'def f: f; f' 2>/dev/null
    [5]

A budget cannot be caught
    $ echo '1 2' | pawl eval --limit-steps 100000 'def f: f; if . == 1 then try f catch "caught" else . end' 2>/dev/null
    2

Memory
    $ printf '1 "\\ud800" "a\\u0000"' | pawl eval -c --limit-memory 1M 'if . == 1 then [range(1e12)] else . end' 2>/dev/null
    "�"
    "a\u0000"
    $ echo '1 2' | pawl eval --limit-memory 1M 'if . == 1 then [range(1e12)] else . end'
    2
    2> pawl eval: <stdin>, document 1: The expression needs more than its 1048576 bytes of memory; raise the limit or make it build less at a time. (expression, line 1, column 16)
    2>     if . == 1 then [range(1e12)] else . end
    2>                    ^
    $ echo '1 2' | pawl eval --limit-memory 1M 'if . == 1 then "x" * 1e9 else . end' 2>/dev/null
    2
    $ echo '1 2' | pawl eval --limit-memory 1M 'if . == 1 then [limit(1e9; repeat(1))] else . end' 2>/dev/null
    2
    $ echo '1 2' | pawl eval --limit-memory 1M 'if . == 1 then "x" | until(false; . + .) else . end' 2>/dev/null
    2
    $ echo '1 2' | pawl eval --limit-memory 1M 'if . == 1 then .[999999999] = 0 else . end' 2>/dev/null
    2

Depth
    $ echo '1 2' | pawl eval --limit-depth 1000 'def f: 1 + f; if . == 1 then f else . end'
    2
    2> pawl eval: <stdin>, document 1: Calls are nested more than 1000 deep; raise the limit or look for a recursion that does not end. (expression, line 1, column 12)
    2>     def f: 1 + f; if . == 1 then f else . end
    2>                ^

The budget is for each document anew
    $ pawl eval -n 'range(200)' | pawl eval --limit-steps 1000 '[range(.)] | add' | tail -n 1
    19701

A document larger than the memory is refused, and the next file read
    $ pawl eval -nc '[range(200000)]' > large.json
    $ echo '[3]' > small.json
    $ pawl eval --limit-memory 1M length large.json small.json
    1
    2> pawl eval: large.json: a document takes more memory than --limit-memory allows (passed over).
    [5]
    $ pawl eval length large.json small.json
    200000
    1
    $ pawl eval -s --limit-memory 100K length large.json
    2> pawl eval: large.json: a document takes more memory than --limit-memory allows (passed over).
    [5]
    $ pawl eval -Rs --limit-memory 100K length large.json
    2> pawl eval: large.json: the input takes more memory than --limit-memory allows.
    [5]
    $ pawl eval -R --limit-memory 100K length large.json small.json
    3
    2> pawl eval: large.json: the input takes more memory than --limit-memory allows.
    [5]
    $ pawl eval -c --stream --limit-memory 100K 'select(length == 2 and .[1] == 199999) | .[0][0]' large.json
    199999

Nesting has a limit, in JSON and in expressions
    $ pawl eval -nr '"[" * 100000' > deep.json
    $ echo '[3]' > small.json
    $ pawl eval length deep.json small.json
    1
    2> pawl eval: deep.json: Exceeds depth limit for parsing at line 1, column 10001.
    [5]
    $ pawl eval -nr '("[" * 100000) + ("]" * 100000)' > deep.jq
    $ pawl eval -nf deep.jq 2>&1 | cut -c 1-60 | head -n 1
    pawl eval: The expression is nested too deeply. (deep.jq, li
    $ pawl eval -nr '("(" * 100000) + "1" + (")" * 100000)' > deep.jq
    $ pawl eval -nf deep.jq 2>/dev/null
    [3]
    $ pawl eval -nr '("[" * 9999) + ("]" * 9999)' > ok.json
    $ pawl eval -c . ok.json | cmp - ok.json

Limits are whole numbers; 0 is none
    $ pawl eval -n --limit-steps 0 --limit-memory 0 --limit-depth 0 '[range(1000)] | add'
    499500
    $ pawl eval -n --limit-memory 1G --limit-steps=1m 1
    1
    $ pawl eval -n --limit-steps many 1
    2> pawl eval: --limit-steps takes a whole number such as 1000000 or 64M, not `many`.
    2> Try `pawl help eval`.
    [2]
    $ pawl eval -n --limit-memory -1 1
    2> pawl eval: --limit-memory takes a whole number such as 1000000 or 64M, not `-1`.
    2> Try `pawl help eval`.
    [2]
    $ pawl eval -n --limit-memory 64MB 1
    2> pawl eval: --limit-memory takes a whole number such as 1000000 or 64M, not `64MB`.
    2> Try `pawl help eval`.
    [2]
    $ pawl eval -n --limit-depth '' 1
    2> pawl eval: --limit-depth takes a whole number such as 1000000 or 64M, not ``.
    2> Try `pawl help eval`.
    [2]
    $ pawl eval -n --limit-memory 99999999999G 1
    2> pawl eval: --limit-memory takes a whole number such as 1000000 or 64M, not `99999999999G`.
    2> Try `pawl help eval`.
    [2]
    $ pawl eval -n --limit-steps 1.5 1
    2> pawl eval: --limit-steps takes a whole number such as 1000000 or 64M, not `1.5`.
    2> Try `pawl help eval`.
    [2]

A document that is nested too deeply is passed over; the next one is read
    $ awk 'BEGIN { for (i = 0; i < 20000; i++) printf "["; for (i = 0; i < 20000; i++) printf "]"; print " {\"a\": 1}" }' | pawl eval -c .
    {"a":1}
    2> pawl eval: <stdin>: Exceeds depth limit for parsing at line 1, column 10001.
    [5]

What debug and stderr would write counts too
    $ pawl eval -n --limit-steps 10k 'reduce range(60) as $i (1; [., .]) | debug | type'
    2> pawl eval: The expression used more than 10240 steps; raise the limit if that is meant, or look for a loop that does not end. (expression, line 1, column 38)
    2>     reduce range(60) as $i (1; [., .]) | debug | type
    2>                                          ^
    [5]

A string or a number that is too large is passed over as well
    $ awk 'BEGIN { printf "\""; for (i = 0; i < 200000; i++) printf "\\\""; printf "\" 7 "; for (i = 0; i < 200000; i++) printf "9"; print " {\"a\":8}" }' | pawl eval -c --limit-memory 100K .
    7
    {"a":8}
    2> pawl eval: <stdin>: a document takes more memory than --limit-memory allows (passed over).
    2> pawl eval: <stdin>: a document takes more memory than --limit-memory allows (passed over).
    [5]
