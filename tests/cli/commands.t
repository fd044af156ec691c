# The program itself: finding a command, help, version, completions, the manual page.

Without a command it says on standard error how it is used
    $ pawl
    2> Usage: pawl COMMAND [OPTION...] [ARGUMENT...]
    2>
    2> Commands
    2>   run         run a workflow
    2>   debug       stop inside a run: look, change, step, go back
    2>   dap         debug runs from an editor: a debug adapter
    2>   resume      go on with a run that waits or was stopped
    2>   status      show where a run is and what it waits for
    2>   runs        list the runs
    2>   cancel      end a run for good
    2>   history     list the checkpoints of a run
    2>   logs        show what the nodes of a run printed
    2>   show        show the state of a run
    2>   diff        show what differs between two states
    2>   fork        begin a new run where another one stands or stood
    2>   update      change the state of a run by hand
    2>   check       find what is wrong with workflows
    2>   graph       draw a workflow
    2>   kinds       list the kinds of nodes, tasks and steps
    2>   schema      write the JSON Schema of workflows
    2>   store       look at, verify, compact or back up a store
    2>   secret      keep secrets for workflows in a store
    2>   serve       let others reach the runs of a store over HTTP
    2>   mcp         give an assistant tools to run and debug workflows
    2>   token       say who may ask a server for what
    2>   login       keep a token for a server
    2>   prune       remove old checkpoints
    2>   eval        evaluate a jq expression over JSON
    2>   help        show what the commands do
    2>   version     show the version
    2>   completion  write the completions for a shell
    2>   man         write the manual page
    2>
    2> `pawl help COMMAND` says all about one of them.
    [2]

Help is on standard output when it was asked for, by any of its names
    $ pawl help | head -n 1
    Usage: pawl COMMAND [OPTION...] [ARGUMENT...]
    $ pawl --help | head -n 1
    Usage: pawl COMMAND [OPTION...] [ARGUMENT...]
    $ pawl -h | head -n 1
    Usage: pawl COMMAND [OPTION...] [ARGUMENT...]

Help for a command shows its usage, options and examples
    $ pawl help version
    Usage: pawl version [OPTION...]

    Writes the version of the program.

    Options
          --json                  as a JSON object
      -h, --help                  show this
    $ pawl version --help | head -n 1
    Usage: pawl version [OPTION...]
    $ pawl help eval | grep -c -e '--limit-memory BYTES'
    1

A command that does not exist is answered with the nearest one
    $ pawl evla
    2> pawl: there is no command `evla`; did you mean `eval`?
    2> Try `pawl help`.
    [2]
    $ pawl help vers
    2> pawl: there is no command `vers`; did you mean `version`?
    2> Try `pawl help`.
    [2]
    $ pawl frobnicate
    2> pawl: there is no command `frobnicate`.
    2> Try `pawl help`.
    [2]

An option that does not exist is answered with the nearest one
    $ pawl eval --compat-output .
    2> pawl eval: there is no option --compat-output; did you mean --compact-output?
    2> Try `pawl help eval`.
    [2]
    $ pawl eval -nQ .
    2> pawl eval: there is no option -Q (in -nQ).
    2> Try `pawl help eval`.
    [2]
    $ pawl eval -n -1 && echo 2 | pawl eval '-. + 3'
    -1
    1
    $ pawl eval -n -- -1
    -1
    $ pawl version -x
    2> pawl version: there is no option -x.
    2> Try `pawl help version`.
    [2]

An option without its value is refused
    $ pawl eval --arg name
    2> pawl eval: --arg takes two values: --arg NAME VALUE.
    2> Try `pawl help eval`.
    [2]
    $ pawl eval --indent
    2> pawl eval: --indent takes a value: --indent N.
    2> Try `pawl help eval`.
    [2]
    $ pawl eval --arg=name value
    2> pawl eval: --arg takes two values, without an equals sign: --arg NAME VALUE.
    2> Try `pawl help eval`.
    [2]
    $ pawl version --json=yes
    2> pawl version: --json takes no value.
    2> Try `pawl help version`.
    [2]

An argument too many is refused
    $ pawl version now
    2> pawl version: it takes no arguments, but was given `now`.
    2> Try `pawl help version`.
    [2]
    $ pawl help eval man
    2> pawl help: it takes one command, but was given `man` too.
    2> Try `pawl help help`.
    [2]
    $ pawl completion bash fish
    2> pawl completion: it takes one shell, but was given `fish` too.
    2> Try `pawl help completion`.
    [2]

The version is text or JSON
    $ pawl version
    pawl *.*.* (glob)
    $ pawl --version
    pawl *.*.* (glob)
    $ pawl version --json
    \{"name":"pawl","version":"\d+\.\d+\.\d+"\} (re)

Output that cannot be written is an error
    $ pawl version > /dev/full
    2> pawl: cannot write the output: No space left on device.
    [2]

Completions need a shell that is known
    $ pawl completion
    2> pawl completion: which shell? bash, zsh or fish.
    2> Try `pawl help completion`.
    [2]
    $ pawl completion tcsh
    2> pawl completion: `tcsh` is none of the shells it knows (bash, zsh, fish).
    2> Try `pawl help completion`.
    [2]

In bash, commands, flags, words and files complete
    $ cat > ask.sh <<'END'
    > source <(pawl completion bash)
    > COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    > _pawl 2>/dev/null
    > echo "${COMPREPLY[*]}"
    > END
    $ touch data.json
    $ bash ask.sh pawl e
    eval
    $ bash ask.sh pawl eval --limit-
    --limit-steps --limit-memory --limit-depth
    $ bash ask.sh pawl completion ''
    bash zsh fish
    $ bash ask.sh pawl help ma
    man
    $ bash ask.sh pawl eval . da
    data.json
    $ bash ask.sh pawl eval --indent da

    $ bash ask.sh pawl eval --arg da

    $ bash ask.sh pawl eval --slurpfile name da
    data.json
    $ bash ask.sh pawl run --stream ''
    updates values events debug
    $ bash ask.sh pawl run --mode i
    interactive
    $ bash ask.sh pawl run da
    data.json
    $ bash ask.sh pawl store ''
    info check compact backup
    $ bash ask.sh pawl show da

    $ bash ask.sh pawl version da

Completions for zsh and fish name every option
    $ pawl completion zsh | grep -o -e 'autonomous interactive'
    autonomous interactive
    autonomous interactive
    $ pawl completion fish | grep -o -e '-l format.*json.'
    -l format -s f -x -a 'dot mermaid json'
    $ pawl completion zsh | head -n 1
    #compdef pawl
    $ pawl completion zsh | grep -c -e '--slurpfile'
    1
    $ pawl completion fish | grep -e '-l from-file'
    complete -c pawl -n '__fish_seen_subcommand_from eval' -l from-file -s f -r -F -d 'read the expression from a file'

The manual page has every command
    $ pawl man | grep '^\.S[HS]'
    .SH NAME
    .SH SYNOPSIS
    .SH COMMANDS
    .SS pawl run [OPTION...] FILE
    .SS pawl debug [OPTION...] [FILE|THREAD|RUN]
    .SS pawl dap [OPTION...]
    .SS pawl resume [OPTION...] THREAD[@SEQ]
    .SS pawl status [OPTION...] [THREAD]
    .SS pawl runs [OPTION...]
    .SS pawl cancel [OPTION...] THREAD
    .SS pawl history [OPTION...] THREAD
    .SS pawl logs [OPTION...] THREAD [NODE]
    .SS pawl show [OPTION...] THREAD[@SEQ]
    .SS pawl diff [OPTION...] THREAD[@SEQ] THREAD[@SEQ]
    .SS pawl fork [OPTION...] THREAD[@SEQ]
    .SS pawl update [OPTION...] THREAD[@SEQ]
    .SS pawl check [OPTION...] FILE...
    .SS pawl graph [OPTION...] [FILE]
    .SS pawl kinds [OPTION...] [NAME]
    .SS pawl schema [OPTION...] [DIALECT]
    .SS pawl store [OPTION...] info|check|compact|backup [FILE]
    .SS pawl secret [OPTION...] set|list|remove [NAME]
    .SS pawl serve [OPTION...]
    .SS pawl mcp [OPTION...]
    .SS pawl token [OPTION...] make NAME | list | revoke NAME
    .SS pawl login [OPTION...] URL
    .SS pawl prune [OPTION...]
    .SS pawl eval [OPTION...] EXPRESSION [FILE...]
    .SS pawl help [COMMAND]
    .SS pawl version [OPTION...]
    .SS pawl completion SHELL
    .SS pawl man
    .SH ENVIRONMENT

With --json a reason is on standard output too, whatever it is
    $ pawl run --json
    {"error":{"code":"usage","message":"which workflow? It takes the FILE that it is in."}}
    2> pawl run: which workflow? It takes the FILE that it is in.
    2> Try `pawl help run`.
    [2]
    $ pawl runs --json --limt 3
    {"error":{"code":"usage","message":"there is no option --limt; did you mean --limit?"}}
    2> pawl runs: there is no option --limt; did you mean --limit?
    2> Try `pawl help runs`.
    [2]
    $ echo 'nodes: [{name: a, jq: .}]' > good.yaml; pawl run --json good.yaml --input @nosuch
    {"error":{"code":"usage","message":"nosuch: cannot be opened: No such file or directory."}}
    2> pawl run: nosuch: cannot be opened: No such file or directory.
    [2]
    $ echo 'nodes: [{name: a, jqq: .}]' > bad.yaml; pawl run --json bad.yaml
    {"error":{"code":"syntax","message":"The workflow has errors.","problems":[{"file":"bad.yaml","line":1,"col":19,"severity":"error","message":"There is no kind of node `jqq`; the kinds are jq, lua, shell, python, javascript, http, action, sleep, approval, workflow, map and while; did you mean `jq`?"}]}}
    2> bad.yaml:1:19: error: There is no kind of node `jqq`; the kinds are jq, lua, shell, python, javascript, http, action, sleep, approval, workflow, map and while; did you mean `jq`?
    2>     nodes: [{name: a, jqq: .}]
    2>                       ^~~
    [2]

A store that cannot be used, and a run that another process has, have exit codes of their own
    $ echo 'nodes: [{name: a, jq: .}]' > fine.yaml; pawl run fine.yaml --store file:/proc/none
    2> pawl run: /proc/none: making the store failed: the operating system says `No such file or directory`. What was recorded before is kept; try again when the disk is well.
    [5]
    $ echo garbage > bad.db; pawl store check --store sqlite:bad.db
    2> pawl store: bad.db is not a store of Pawl: it is no SQLite database. Name another store with --store URL or PAWL_STORE.
    [5]
    $ echo 'nodes: [{name: a, shell: "touch begun; sleep 60"}]' > slow.yaml
    $ pawl run slow.yaml --thread s > out 2>&1 & p=$!; while [ ! -e begun ]; do sleep 0.05; done; pawl resume s@1; echo "exit code $?"; kill $p; wait $p
    exit code 4
    2> pawl resume: Thread `s` is under way, so it can only be answered. Wait for it, or cancel it with `pawl cancel s`.
    [3]
