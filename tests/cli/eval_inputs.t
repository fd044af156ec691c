# pawl eval: what it reads.

Documents follow each other, with or without space
    $ printf '1 2\n["c"]{"a":4}"b"null\n\n' | pawl eval -c .
    1
    2
    ["c"]
    {"a":4}
    "b"
    null
    $ printf '' | pawl eval .
    $ printf ' \n\t ' | pawl eval .
    $ printf '1 2' | pawl eval -n '.'
    null

A byte order mark, CRLF and a last line without a newline are fine
    $ printf '\357\273\277{"a":1}\r\n{"a":2}\r\n3' | pawl eval -c .
    {"a":1}
    {"a":2}
    3

All documents as one array
    $ printf '1 2\n' > a.json
    $ printf '3' > b.json
    $ pawl eval -sc . a.json b.json
    [1,2,3]
    $ pawl eval -sc . < /dev/null
    []
    $ pawl eval -nsc . < a.json
    null

Each file ends its last document and its last line
    $ printf '3' > b.json
    $ pawl eval -c . b.json b.json
    3
    3
    $ pawl eval -Rc . b.json b.json
    "3"
    "3"

Lines as strings
    $ printf 'one\ntwo\r\n\nlast' | pawl eval -Rc .
    "one"
    "two\r"
    ""
    "last"
    $ printf 'one\ntwo' | pawl eval -Rsc .
    "one\ntwo"
    $ pawl eval -Rsc . < /dev/null
    ""
    $ pawl eval -Rc . < /dev/null
    $ printf 'a\0b\377c\n' | pawl eval -Rc .
    "a\u0000b�c"
    $ printf 'x' | pawl eval -Rn .
    null

Lines of any length
    $ printf '%0900000d\n%0300000d' 1 2 | pawl eval -R length
    900000
    300000

Events
    $ echo '{"a":[1,{"b":2}]} [] 3' | pawl eval -c --stream .
    [["a",0],1]
    [["a",1,"b"],2]
    [["a",1,"b"]]
    [["a",1]]
    [["a"]]
    [[],[]]
    [[],3]
    $ echo '[1,[2]]' | pawl eval -c -s --stream .
    [[[0],1],[[1,0],2],[[1,0]],[[1]]]
    $ echo '[1,2]' | pawl eval -c --stream 'select(length == 2) | .[1]'
    1
    2

What came before the end of a cut-off document is still there as events
    $ printf '[1,{"a":2' | pawl eval -c --stream .
    [[0],1]
    2> pawl eval: <stdin>: Unfinished JSON term at EOF at line 1, column 9.
    [5]
    $ printf '[1,{"a":2' | pawl eval -c .
    2> pawl eval: <stdin>: Unfinished JSON term at EOF at line 1, column 9.
    [5]

Streams that never end are read as they come
    $ yes '{"a":["b"]}' | pawl eval -c .a | head -n 1
    ["b"]
    $ (printf '['; yes '1,') | pawl eval -c --stream . | head -n 2
    [[0],1]
    [[1],1]
    $ yes | pawl eval -R . | head -n 1
    "y"

Record separators, both ways; what is cut off is passed over
    $ printf '\036{"a":1}\n\036[1,2\n\0363\n\0364' | pawl eval -c --seq .
    \x1e{"a":1} (esc)
    \x1e3 (esc)
    2> pawl eval: <stdin>: Truncated value at line 3, column 1 (passed over).
    2> pawl eval: <stdin>: Potentially truncated top-level numeric value at EOF at line 4, column 2 (passed over).
    $ printf '\036"a"\n' | pawl eval -r --seq '., [.]'
    a
    \x1e[ (esc)
      "a"
    ]
    $ printf '\036[1\n\0362\n' | pawl eval -sc --seq .
    \x1e[2] (esc)
    2> pawl eval: <stdin>: Truncated value at line 2, column 1 (passed over).

Files that cannot be read do not keep it from the others
    $ echo '1 2' > a.json
    $ echo '3' > b.json
    $ pawl eval -c . a.json missing b.json
    1
    2
    3
    2> pawl eval: missing: cannot be opened: No such file or directory.
    [2]
    $ mkdir folder
    $ pawl eval -c . folder b.json
    3
    2> pawl eval: folder: cannot be read: Is a directory.
    [2]
    $ pawl eval -sc . missing b.json b.json
    [3,3]
    2> pawl eval: missing: cannot be opened: No such file or directory.
    [2]
    $ pawl eval -Rc . folder b.json
    "3"
    2> pawl eval: folder: cannot be read: Is a directory.
    [2]
    $ pawl eval -c '.a' missing b.json
    2> pawl eval: missing: cannot be opened: No such file or directory.
    2> pawl eval: b.json, document 1: Cannot index number with string ("a") (expression, line 1, column 1)
    2>     .a
    2>     ^
    [2]
    $ pawl eval . - < b.json
    3
    $ pawl eval . <&-
    2> pawl eval: <stdin>: cannot be read: Bad file descriptor.
    [2]

Text that is not JSON ends its file, after what was good
    $ echo '3' > b.json
    $ printf '1 [2,3] }' | pawl eval -c .
    1
    [2,3]
    2> pawl eval: <stdin>: Unmatched '}' at line 1, column 9.
    [5]
    $ printf '{"a":1} {"a":' > cut.json
    $ pawl eval -c . cut.json b.json
    {"a":1}
    3
    2> pawl eval: cut.json: Unfinished JSON term at EOF at line 1, column 13.
    [5]
    $ pawl eval -sc . cut.json b.json
    2> pawl eval: cut.json: Unfinished JSON term at EOF at line 1, column 13.
    [5]
    $ pawl eval -e . cut.json
    {
      "a": 1
    }
    2> pawl eval: cut.json: Unfinished JSON term at EOF at line 1, column 13.
    [5]
    $ pawl eval . missing cut.json
    {
      "a": 1
    }
    2> pawl eval: missing: cannot be opened: No such file or directory.
    2> pawl eval: cut.json: Unfinished JSON term at EOF at line 1, column 13.
    [2]

Garbage is refused
    $ printf '\200\201\377' | pawl eval .
    2> pawl eval: <stdin>: Invalid numeric literal at EOF at line 1, column 3.
    [5]
    $ printf '1\0002' | pawl eval .
    2> pawl eval: <stdin>: Invalid numeric literal at EOF at line 1, column 3.
    [5]
    $ printf '[1,]' | pawl eval .
    2> pawl eval: <stdin>: Expected another array element at line 1, column 4.
    [5]
    $ printf '"a\nb' | pawl eval .
    2> pawl eval: <stdin>: Unfinished string at EOF at line 2, column 1.
    [5]
    $ printf "'a'" | pawl eval .
    2> pawl eval: <stdin>: Invalid string literal; expected ", but got ' at EOF at line 1, column 3.
    [5]

Bad characters in strings become U+FFFD
    $ printf '"a\377b" "\\ud800" "\\udc00x" "\\ud83d\\ude00"' | pawl eval -c .
    "a�b"
    "�"
    "�x"
    "😀"

Numbers keep what was written
    $ echo '1.000 100000000000000000001 -0 [1.10] 1e1000' | pawl eval -c .
    1.000
    100000000000000000001
    -0
    [1.10]
    1E+1000
    $ echo '1.000 100000000000000000001' | pawl eval -c '. + 0'
    1
    1e+20

An input that is no JSON can be an event
    $ printf '["a",{"b":[1,nope' | pawl eval -c --stream-errors .
    [[0],"a"]
    [[1,"b",0],1]
    ["Invalid numeric literal at EOF at line 1, column 17",[1,"b",1]]
    $ printf '{"a":1} ]' | pawl eval -c --stream-errors .
    [["a"],1]
    [["a"]]
    ["Unmatched ']' at the top-level at line 1, column 9",[]]
