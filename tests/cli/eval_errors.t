# pawl eval: what goes wrong in an expression, and how it says so.

An error while evaluating does not keep it from the next document
    $ echo '1 {"a":2}' | pawl eval .a
    2
    2> pawl eval: <stdin>, document 1: Cannot index number with string ("a") (expression, line 1, column 1)
    2>     .a
    2>     ^
    $ echo '{"a":2} 1' | pawl eval .a
    2
    2> pawl eval: <stdin>, document 2: Cannot index number with string ("a") (expression, line 1, column 1)
    2>     .a
    2>     ^
    [5]
    $ echo '{"a":2} 1' | pawl eval -e .a
    2
    2> pawl eval: <stdin>, document 2: Cannot index number with string ("a") (expression, line 1, column 1)
    2>     .a
    2>     ^
    [5]

The exit code is that of the last document, as in jq
    $ echo '1 {"a":null}' | pawl eval -e .a
    null
    2> pawl eval: <stdin>, document 1: Cannot index number with string ("a") (expression, line 1, column 1)
    2>     .a
    2>     ^
    [1]
    $ echo '{"a":false} 1 {}' | pawl eval -e '.a | values' 2>/dev/null
    false
    [1]
    $ echo '{"a":1} [1]' | pawl eval -e '.a, error("x")' 2>/dev/null
    1
    [5]

Results before an error are kept
    $ pawl eval -n '1, 2, error("stop"), 3'
    1
    2
    2> pawl eval: stop (expression, line 1, column 7)
    2>     1, 2, error("stop"), 3
    2>           ^
    [5]

Errors that are no strings
    $ pawl eval -n 'error(null)'
    2> pawl eval: (not a string): null (expression, line 1, column 1)
    2>     error(null)
    2>     ^
    [5]
    $ pawl eval -n 'error({a:1})'
    2> pawl eval: (not a string): {"a":1} (expression, line 1, column 1)
    2>     error({a:1})
    2>     ^
    [5]
    $ echo '[1]' | pawl eval error
    2> pawl eval: <stdin>, document 1: (not a string): [1] (expression, line 1, column 1)
    2>     error
    2>     ^
    [5]
    $ pawl eval -n 'try error({a:1}) catch .a'
    1

A long message is whole
    $ pawl eval -n 'error("x" * 1000)' 2>&1 | head -n 1 | wc -c
    1043

An expression that does not compile
    $ pawl eval '{'
    2> pawl eval: Unexpected end of the expression. (expression, line 1, column 2)
    2>     {
    2>      ^
    [3]
    $ echo 1 | pawl eval '1 +'
    2> pawl eval: Unexpected end of the expression. (expression, line 1, column 4)
    2>     1 +
    2>        ^
    [3]
    $ pawl eval -n '1 | xyzzy(2)'
    2> pawl eval: xyzzy/1 is not defined. (expression, line 1, column 5)
    2>     1 | xyzzy(2)
    2>         ^
    [3]
    $ pawl eval -n '$x'
    2> pawl eval: $x is not defined. (expression, line 1, column 1)
    2>     $x
    2>     ^
    [3]
    $ pawl eval -n '"abc'
    2> pawl eval: A string is not closed; a '"' is missing. (expression, line 1, column 5)
    2>     "abc
    2>         ^
    [3]

The place is named by line, column and a caret
    $ pawl eval -n '1 |
    >   [2
    >   ] | xyzzy'
    2> pawl eval: xyzzy/0 is not defined. (expression, line 3, column 7)
    2>       ] | xyzzy
    2>           ^
    [3]
    $ printf '\t\t"é" |\txyzzy' > tabs.jq
    $ pawl eval -nf tabs.jq
    2> pawl eval: xyzzy/0 is not defined. (tabs.jq, line 1, column 9)
    2>     		"é" |	xyzzy
    2>     		     	^
    [3]
    $ pawl eval -n '"日本語" | xyzzy'
    2> pawl eval: xyzzy/0 is not defined. (expression, line 1, column 9)
    2>     "日本語" | xyzzy
    2>                ^
    [3]
    $ pawl eval -n '"👍" | .a'
    2> pawl eval: Cannot index string with string ("a") (expression, line 1, column 7)
    2>     "👍" | .a
    2>            ^
    [5]
    $ printf '1 |\r\n xyzzy\r\n' > crlf.jq
    $ pawl eval -nf crlf.jq
    2> pawl eval: xyzzy/0 is not defined. (crlf.jq, line 2, column 2)
    2>      xyzzy
    2>      ^
    [3]
    $ printf '"\001\033[31m" | xyzzy' > control.jq
    $ pawl eval -nf control.jq
    2> pawl eval: xyzzy/0 is not defined. (control.jq, line 1, column 12)
    2>     "��[31m" | xyzzy
    2>                ^
    [3]

Of a long line the part around the place is shown
    $ printf '%0200d | xyzzy | %0200d' 1 2 > long.jq
    $ pawl eval -nf long.jq
    2> pawl eval: xyzzy/0 is not defined. (long.jq, line 1, column 204)
    2>     ...0000000000000000000000000000001 | xyzzy | 00000000000000000000000000...
    2>                                          ^
    [3]
    $ printf 'xyzzy | %0200d' 1 > start.jq
    $ pawl eval -nf start.jq
    2> pawl eval: xyzzy/0 is not defined. (start.jq, line 1, column 1)
    2>     xyzzy | 000000000000000000000000000000000000000000000000000000000000...
    2>     ^
    [3]
    $ printf '%0200d | xyzzy' 1 > end.jq
    $ pawl eval -nf end.jq
    2> pawl eval: xyzzy/0 is not defined. (end.jq, line 1, column 204)
    2>     ...000000000000000000000000000000000000000000000000000000000001 | xyzzy
    2>                                                                       ^
    [3]

What the language here leaves out is refused with the reason
    $ pawl eval -n 'halt' 2>&1 | head -n 1
    pawl eval: halt is left out here: an expression cannot end the program that runs it; use error or empty. (expression, line 1, column 1)
    $ pawl eval -n '1 | halt_error(3)' 2>&1 | head -n 1
    pawl eval: halt_error is left out here: an expression cannot end the program that runs it; use error or empty. (expression, line 1, column 5)
    $ pawl eval -n '[inputs]' 2>&1 | head -n 1
    pawl eval: inputs is left out here: an expression sees one document at a time; give it the others in a variable, or all of them in one array. (expression, line 1, column 2)
    $ pawl eval -n 'input_line_number' 2>&1 | head -n 1
    pawl eval: input_line_number is left out here: an expression sees one document at a time; give it the others in a variable, or all of them in one array. (expression, line 1, column 1)
    $ pawl eval -n 'import "a" as a; 1' 2>&1 | head -n 1
    pawl eval: Modules (import, include) are not part of this language; define the function in the expression itself. (expression, line 1, column 1)
    $ pawl eval -n 'halt' 2>/dev/null
    [3]

Lines and events are named as what they are
    $ printf 'a\nb' | pawl eval -R 'select(. == "b") | error("no")'
    2> pawl eval: <stdin>, line 2: no (expression, line 1, column 20)
    2>     select(. == "b") | error("no")
    2>                        ^
    [5]
    $ printf '[1]' | pawl eval --stream 'select(length == 1) | error("no")'
    2> pawl eval: <stdin>, event 2: no (expression, line 1, column 23)
    2>     select(length == 1) | error("no")
    2>                           ^
    [5]
    $ printf '[1]' | pawl eval -s 'error("no")'
    2> pawl eval: all of the input: no (expression, line 1, column 1)
    2>     error("no")
    2>     ^
    [5]
