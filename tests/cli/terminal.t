# Nothing that comes from outside drives the terminal; in a pipe or a file it stays as it is.

Text of an expression: control characters of both sets become question marks, lines and tabs stay
    $ echo 'TERM=xterm NO_COLOR=1 script -qec "$1" /dev/null < /dev/null | tr -d "\015"' > on
    $ pawl eval -n '"a\u001b[31mb\u009b2Jc\u007f\u0007d\ne\tf\u0085g é ¡"' > hostile.json
    $ sh on 'pawl eval -r . hostile.json; pawl eval -j . hostile.json; echo; pawl eval --raw-output0 . hostile.json' | tr '\0' '.' | sed 's/\t/<tab>/'
    a?[31mb?2Jc??d
    e<tab>f?g é ¡
    a?[31mb?2Jc??d
    e<tab>f?g é ¡
    a?[31mb?2Jc??d
    e<tab>f?g é ¡. (no-eol)

JSON: what turns the direction of writing, or is not seen, is escaped; the rest of the world's writing stays
    $ echo 'TERM=xterm NO_COLOR=1 script -qec "$1" /dev/null < /dev/null | tr -d "\015"' > on
    $ sh on 'pawl eval -cn "\"a\\u202eb\\u2066c\\u200fd\\ue000\\udb40\\udc41 é ¡ \u5b57\""'
    "a\\u202eb\\u2066c\\u200fd\xee\x80\x80\\udb40\\udc41 \xc3\xa9 \xc2\xa1 \xe5\xad\x97" (esc)

Into a pipe it is written byte by byte as it is
    $ pawl eval -rn '"a\u001bb\u009bc\u007f\r"'
    a\x1bb\xc2\x9bc\x7f\r (esc)

What it logs, and what it says of an error
    $ echo 'TERM=xterm NO_COLOR=1 script -qec "$1" /dev/null < /dev/null | tr -d "\015"' > on
    $ sh on 'pawl eval -n "\"x\\u001b\\u009by\" | stderr | debug | error"' | grep -o 'x??.*'
    x??y["DEBUG:","x\u001b\u009by"]
    x??y (expression, line 1, column 37)
    $ printf 'no[\302\233 \033' > bad.jq
    $ sh on 'pawl eval -nf bad.jq' | grep -c -e "$(printf '\302\233')" -e "$(printf '\033')"
    0
    [1]

Changes of a state, in keys and in values
    $ echo 'TERM=xterm NO_COLOR=1 script -qec "$1" /dev/null < /dev/null | tr -d "\015"' > on
    $ cat > c1.yaml << 'END'
    > state: {a: 1}
    > nodes:
    >   - {name: more, jq: '{a: "x\u009by", "k\u009bz": "\u001b\u0085"}'}
    > END
    $ pawl run c1.yaml -q --thread one > ran
    $ sh on 'pawl diff one@1 one'
    + .["k\u009bz"]: "\u001b\u0085"
    ~ .a: 1 → "x\u009by"
    $ pawl diff one@1 one
    + .["k\xc2\x9bz"]: "\\u001b\xc2\x85" (esc)
    ~ .a: 1 \xe2\x86\x92 "x\xc2\x9by" (esc)

What was asked, how a run failed, what a node wrote and what people look at afterwards
    $ echo 'TERM=xterm NO_COLOR=1 script -qec "$1" /dev/null < /dev/null | tr -d "\015"' > on
    $ cat > ask.yaml << 'END'
    > nodes:
    >   - {name: ask, approval: {prompt: "may I \u009b2J\u001b[2J?", options: ["yes\u009b"]}}
    > END
    $ cat > fail.yaml << 'END'
    > nodes:
    >   - {name: talk, shell: 'printf "loud\302\2332J\033[2J\033]0;t\007\n" >&2; printf "x\302\205"', output: said}
    >   - {name: fall, jq: '"so\u009b2J\u001b[2J\u007f" | error'}
    > END
    $ sh on 'pawl run ask.yaml --thread ask; pawl run fail.yaml --thread fail; pawl status ask; pawl status fail; pawl history fail; pawl runs; pawl show fail' > shown
    $ sed 's/.*\x1b\[J//' shown | grep -e 'may I' -e 'loud' -e 'so?' -e 'yes' -e '"x'
    Waiting at ask: may I ?2J?[2J?
        pawl resume ask --decision 'yes?'
    talk | loud2J]0;t
    fail.yaml:3:53: error: node fall: so?2J?[2J?
    Waiting at ask: may I ?2J?[2J?
        pawl resume ask --decision 'yes?'
      fall: so?2J?[2J?
        "stdout": "x\u0085",
    $ grep -c -e "$(printf '\302[\200-\237]')" -e "$(printf '\033\\[2J')" -e "$(printf '\007')" shown
    0
    [1]

What is quoted of a command line or of a file
    $ echo 'TERM=xterm NO_COLOR=1 script -qec "$1" /dev/null < /dev/null | tr -d "\015"' > on
    $ printf 'nodes: [{name: a, jq: .}]\n' > a.yaml; pawl run a.yaml -q > ran
    $ sh on "pawl run 'no$(printf '\033[2J\302\233').yaml'; pawl eval '--no$(printf '\033[2J\302\233')'; pawl 'no$(printf '\033[2J\302\233')'; pawl show 'no$(printf '\033[2J\302\233')'" > quoted
    $ grep -c 'no?\[2J?' quoted
    4
    $ grep -c -e "$(printf '\302\233')" -e "$(printf '\033')" quoted
    0
    [1]
    $ printf 'nodes:\n  - {name: a, jq: ".", od\302\205d: 1}\n' > odd.yaml
    $ sh on 'pawl check odd.yaml; pawl check --json odd.yaml; pawl graph odd.yaml' > odd
    $ grep -c "$(printf '\302\205')" odd
    0
    [1]
