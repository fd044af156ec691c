# pawl eval: what it writes, and the variables it is given.

A result is written with an indent of two, each on its own lines
    $ echo '{"a":[1,{"b":null}],"c":{},"d":[]}' | pawl eval '.,.a[0]'
    {
      "a": [
        1,
        {
          "b": null
        }
      ],
      "c": {},
      "d": []
    }
    1

Compact, tabs, other indents; the last one given counts
    $ echo '{"a":[1,{}]}' > in.json
    $ pawl eval -c . in.json
    {"a":[1,{}]}
    $ pawl eval --tab . in.json
    {
    	"a": [
    		1,
    		{}
    	]
    }
    $ pawl eval --indent 1 . in.json
    {
     "a": [
      1,
      {}
     ]
    }
    $ pawl eval --indent=3 . in.json
    {
       "a": [
          1,
          {}
       ]
    }
    $ pawl eval --indent 0 . in.json
    {"a":[1,{}]}
    $ pawl eval --tab -c . in.json
    {"a":[1,{}]}
    $ pawl eval -c --indent 7 .a in.json
    [
           1,
           {}
    ]
    $ pawl eval --indent -1 .a in.json
    [
    	1,
    	{}
    ]

An indent that is none is refused
    $ pawl eval --indent 8 .
    2> pawl eval: --indent takes a number from 0 to 7, not `8`.
    2> Try `pawl help eval`.
    [2]
    $ pawl eval --indent two .
    2> pawl eval: --indent takes a number from 0 to 7, not `two`.
    2> Try `pawl help eval`.
    [2]

Raw output writes strings as they are, and only strings
    $ printf '"a\\tb" ["c"] 1' | pawl eval -rc .
    a	b
    ["c"]
    1
    $ echo '"a" 1 ["b"] "c"' | pawl eval -jc .
    a1["b"]c (no-eol)
    $ echo '"a\u0000b"' | pawl eval -r .
    a\x00b (esc)

Raw output with NULs between results refuses a string that has one, and goes on
    $ echo '"a\u0000b" "c" {"d":1}' | pawl eval -c --raw-output0 .
    c\x00{"d":1}\x00 (esc) (no-eol)
    2> pawl eval: <stdin>, document 1: A string with a NUL in it cannot be written with --raw-output0.
    $ echo '"c" "a\u0000b"' | pawl eval -c --raw-output0 .
    c\x00 (esc) (no-eol)
    2> pawl eval: <stdin>, document 2: A string with a NUL in it cannot be written with --raw-output0.
    [5]

ASCII output escapes the rest, raw or not
    $ echo '"é😀" ["é"]' | pawl eval -ac .
    "\u00e9\ud83d\ude00"
    ["\u00e9"]
    $ echo '"é" ["é"]' | pawl eval -rac .
    "\u00e9"
    ["\u00e9"]
    $ echo '"é"' | pawl eval -Cra .
    "\u00e9"

Keys in order, at every level, in what debug shows too
    $ echo '{"b":{"z":1,"a":2},"a":[{"d":1,"c":2}]}' | pawl eval -Sc .
    {"a":[{"c":2,"d":1}],"b":{"a":2,"z":1}}
    $ echo '{"b":1,"a":2}' | pawl eval -Sc 'debug | .b'
    1
    2> ["DEBUG:",{"a":2,"b":1}]

Flags may be bundled and stand anywhere
    $ echo '"x" "y"' | pawl eval -cr . -s
    ["x","y"]
    $ echo '"x"' | pawl eval -nr '"a"'
    a
    $ printf 'x\ny' | pawl eval -sR .
    "x\ny"

Colours are for terminals, unless they are asked for
    $ echo '{"a":[null,true,1,"x"]}' | pawl eval -c .
    {"a":[null,true,1,"x"]}
    $ echo '{"a":[null,true,1,"x"]}' | pawl eval -Cc .
    \x1b[1;39m{\x1b[0m\x1b[34;1m"a"\x1b[0m\x1b[1;39m:\x1b[0m\x1b[1;39m[\x1b[0m\x1b[0;90mnull\x1b[0m\x1b[1;39m,\x1b[0m\x1b[0;39mtrue\x1b[0m\x1b[1;39m,\x1b[0m\x1b[0;39m1\x1b[0m\x1b[1;39m,\x1b[0m\x1b[0;32m"x"\x1b[0m\x1b[1;39m]\x1b[0m\x1b[1;39m}\x1b[0m (esc)
    $ pawl eval -nC '[1,{}]'
    \x1b[1;39m[\x1b[0m (esc)
      \x1b[0;39m1\x1b[0m\x1b[1;39m,\x1b[0m (esc)
      \x1b[1;39m{}\x1b[0m (esc)
    \x1b[1;39m]\x1b[0m (esc)
    $ pawl eval -CM -n '[1]'
    [
      1
    ]
    $ pawl eval -Crn '"raw"'
    raw

JQ_COLORS changes the colours
    $ JQ_COLORS='4;31::1' pawl eval -nCc '[null,false,true,1]'
    \x1b[1;39m[\x1b[0m\x1b[4;31mnull\x1b[0m\x1b[1;39m,\x1b[0m\x1b[mfalse\x1b[0m\x1b[1;39m,\x1b[0m\x1b[1mtrue\x1b[0m\x1b[1;39m,\x1b[0m\x1b[0;39m1\x1b[0m\x1b[1;39m]\x1b[0m (esc)
    $ JQ_COLORS='0;31:0;32:0;33:0;34:0;35:0;36:0;37:1;30:1' pawl eval -nCc '{a:[null,"x"]}'
    \x1b[0;37m{\x1b[0m\x1b[1;30m"a"\x1b[0m\x1b[0;37m:\x1b[0m\x1b[0;36m[\x1b[0m\x1b[0;31mnull\x1b[0m\x1b[0;36m,\x1b[0m\x1b[0;35m"x"\x1b[0m\x1b[0;36m]\x1b[0m\x1b[0;37m}\x1b[0m (esc)
    $ JQ_COLORS='red' pawl eval -nCc null
    \x1b[0;90mnull\x1b[0m (esc)
    2> pawl eval: JQ_COLORS is passed over: it takes SGR codes with colons between them, such as 0;90:0;31.
    $ JQ_COLORS='red' pawl eval -nc null
    null

The last result decides with -e, over all documents
    $ pawl eval -e . < /dev/null
    [4]
    $ echo 'null' | pawl eval -e .
    null
    [1]
    $ echo 'false true' | pawl eval -e .
    false
    true
    $ echo 'true false' | pawl eval -e .
    true
    false
    [1]
    $ echo '1 2' | pawl eval -e 'select(. == 1)'
    1
    $ echo '1 2' | pawl eval -e 'select(. == 1) | null'
    null
    [1]
    $ echo '1 2' | pawl eval -e 'empty'
    [4]
    $ pawl eval -rne '"false"'
    false

Variables: text, JSON, documents and text of a file
    $ printf '1 [2]\n3' > docs.json
    $ pawl eval -nc --arg a 1 --argjson b '{"x":1}' --slurpfile c docs.json --rawfile d docs.json '[$a,$b,$c,$d]'
    ["1",{"x":1},[1,[2],3],"1 [2]\n3"]
    $ pawl eval -nc --arg a 1 '$ARGS, $__loc__'
    {"positional":[],"named":{"a":"1"}}
    {"file":"<top-level>","line":1}

Of two variables with one name the first counts
    $ pawl eval -nc --arg a 1 --argjson a 2 --rawfile a missing '[$a, $ARGS.named]'
    ["1",{"a":"1"}]
    $ pawl eval -nc --arg ARGS 1 '$ARGS'
    {"positional":[],"named":{"ARGS":"1"}}

Variables that cannot be had end it
    $ pawl eval -n --argjson a '{' '$a'
    2> pawl eval: the value of --argjson is not JSON: Unfinished JSON term at EOF at line 1, column 1: `{`.
    2> Try `pawl help eval`.
    [2]
    $ pawl eval -n --argjson a '1 2' '$a'
    2> pawl eval: the value of --argjson is not JSON: Unexpected extra JSON values: `1 2`.
    2> Try `pawl help eval`.
    [2]
    $ pawl eval -n --slurpfile a missing '$a'
    2> pawl eval: missing: cannot be opened: No such file or directory.
    [2]
    $ echo '{' > bad.json
    $ pawl eval -n --slurpfile a bad.json '$a'
    2> pawl eval: bad.json: Unfinished JSON term at EOF at line 2, column 0.
    [2]
    $ pawl eval -n --rawfile a missing '$a'
    2> pawl eval: missing: cannot be opened: No such file or directory.
    [2]
    $ pawl eval -n --rawfile a . '$a'
    2> pawl eval: .: cannot be read: Is a directory.
    [2]

Positional arguments come in order, wherever the expression stands
    $ pawl eval -nc '$ARGS.positional' --args a b
    ["a","b"]
    $ pawl eval -nc --args '$ARGS.positional' a b
    ["a","b"]
    $ pawl eval -nc '$ARGS.positional' --args a --jsonargs 1 '{"b":null}' --args c
    ["a",1,{"b":null},"c"]
    $ pawl eval -c --args '[., $ARGS.positional]' a --arg x 1 b < /dev/null
    $ echo 5 > five.json
    $ pawl eval -c '[., $ARGS.positional]' five.json --args a
    [5,["a"]]
    $ pawl eval -nc '$ARGS' --args
    {"positional":[],"named":{}}
    $ pawl eval -nc '$ARGS' --jsonargs 1 '{'
    2> pawl eval: an argument after --jsonargs is not JSON: Unfinished JSON term at EOF at line 1, column 1: `{`.
    2> Try `pawl help eval`.
    [2]

After two dashes nothing is an option
    $ pawl eval -nc --args -- '$ARGS.positional' -a --b --
    ["-a","--b","--"]
    $ pawl eval -n -- -1
    -1
    $ pawl eval . -- missing -n
    2> pawl eval: missing: cannot be opened: No such file or directory.
    2> pawl eval: -n: cannot be opened: No such file or directory.
    [2]

The environment is empty until it is let in
    $ FOO=bar pawl eval -nc '$ENV, env, $ENV.FOO'
    {}
    {}
    null
    $ FOO=bar pawl eval -n --env '$ENV.FOO, env.FOO'
    "bar"
    "bar"

An expression may come from a file, with comments and a first line for the shell
    $ printf '#!/usr/bin/env -S pawl eval -f\n# a comment\n.a # another, that goes on \\\n | nonsense\n| . + 1\n' > prog.jq
    $ echo '{"a":1}' > a.json
    $ pawl eval -f prog.jq a.json a.json
    2
    2
    $ pawl eval a.json -f prog.jq
    2> pawl eval: prog.jq: Invalid numeric literal at line 1, column 15.
    [5]
    $ pawl eval prog.jq -f a.json
    2
    $ pawl eval -nf missing.jq
    2> pawl eval: missing.jq: cannot be opened: No such file or directory.
    [2]
    $ pawl eval -f
    2> pawl eval: --from-file takes a value: --from-file FILE.
    2> Try `pawl help eval`.
    [2]
    $ printf '$ARGS.positional' > args.jq
    $ pawl eval -nc --args -f args.jq x y
    ["x","y"]
    $ printf '1 |\n  xyzzy' > bad.jq
    $ pawl eval -n -f bad.jq
    2> pawl eval: xyzzy/0 is not defined. (bad.jq, line 2, column 3)
    2>       xyzzy
    2>       ^
    [3]
    $ printf '$__loc__' > loc.jq
    $ pawl eval -nc -f loc.jq
    {"file":"<top-level>","line":1}
    $ printf '' > empty.jq
    $ pawl eval -cf empty.jq a.json
    {"a":1}

In a pipe an expression that is not there is the identity
    $ echo '["a"]' | pawl eval -c
    ["a"]
    $ pawl eval -n < /dev/null
    null

debug and stderr write to standard error
    $ echo '[1,"é"]' | pawl eval -c 'debug, debug("at \(.[0])"), stderr'
    [1,"é"]
    [1,"é"]
    [1,"é"]
    2> ["DEBUG:",[1,"é"]]
    2> ["DEBUG:","at 1"]
    2> [1,"é"] (no-eol)
    $ pawl eval -n '"a\nb\n" | stderr | empty'
    2> a
    2> b

Each result is written before what follows goes to standard error
    $ pawl eval -n '1, (2 | debug), error("x")' 2>&1
    1
    ["DEBUG:",2]
    2
    pawl eval: x (expression, line 1, column 17)
        1, (2 | debug), error("x")
                        ^
    [5]

What cannot be written is an error
    $ pawl eval -n 1 > /dev/full
    2> pawl eval: the output cannot be written: No space left on device.
    [2]
    $ pawl eval -n 'range(1e9)' > /dev/full
    2> pawl eval: the output cannot be written: No space left on device.
    [2]
    $ pawl eval -n --unbuffered 'range(1e9)' > /dev/full
    2> pawl eval: the output cannot be written: No space left on device.
    [2]
    $ pawl eval -n 'empty' > /dev/full
    $ pawl eval -n 1 >&-
    2> pawl eval: the output cannot be written: Bad file descriptor.
    [2]

A reader that goes away ends it quietly
    $ pawl eval -n 'range(1e9)' | head -n 1
    0
    $ (trap '' PIPE; pawl eval -n 'range(1e9)'; echo $? > code) | head -n 1
    0
    $ cat code
    2

Help says what there is
    $ pawl eval -h | head -n 1
    Usage: pawl eval [OPTION...] EXPRESSION [FILE...]
    $ pawl eval --help | grep -c -e --raw-output0
    1

Characters that drive a terminal are escaped on one, and are as they are elsewhere
    $ cat > terminal.py <<'END'
    > import pty, sys
    > pty.spawn(["sh", "-c", sys.argv[1]])
    > END
    $ python3 terminal.py "pawl eval -cnM '\"a\\u009bb\\u0080\\u00a0\\u00e9\\u001b\\u007f\"'" | tr -d '\r'
    "a\\u009bb\\u0080\xc2\xa0\xc3\xa9\\u001b\\u007f" (esc)
    $ pawl eval -cn '"a\u009bb\u0080"' | od -An -tx1
     22 61 c2 9b 62 c2 80 22 0a
    $ echo 'nodes: [{name: a, jq: "{n: \"\u009b1m\"}"}]' > one.yaml
    $ pawl run one.yaml --thread t --quiet > out
    $ NO_COLOR=1 python3 terminal.py 'pawl show t -c' | tr -d '\r'
    {"n":"\u009b1m"}
