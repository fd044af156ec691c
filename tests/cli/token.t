A token is made, listed and revoked
    $ pawl token make ci --scope read | grep -c '^pawl_[A-Za-z0-9_-]*$'
    1
    2> pawl token: made t1, with the scope `read`. This is the only time that it is shown:
    $ pawl token list
    t1     read   ci                   made ????-??-?? (glob)
    $ pawl token revoke ci
    2> pawl token: `ci` lets nobody in any more.
    $ pawl token list
    2> No token lets anybody in.

Only its hash is kept
    $ pawl token make ci 2> /dev/null > token; grep -r -c -F "$(cat token)" .pawl | grep -v ':0'; stat -c %a .pawl/pawl.db-work/tokens
    600

A name is taken once
    $ pawl token make ci > /dev/null 2>&1; pawl token make ci
    2> pawl token: There is a token called `ci` already.
    [2]
    $ pawl token revoke nobody
    2> pawl token: There is no token `nobody`.
    [2]

What is wrong is said
    $ pawl token
    2> pawl token: what to do is missing; it can `make`, `list` and `revoke` them.
    2> Try `pawl help token`.
    [2]
    $ pawl token shred ci
    2> pawl token: `shred` is nothing to do with tokens; it can `make`, `list` and `revoke` them.
    2> Try `pawl help token`.
    [2]
    $ pawl token make
    2> pawl token: the name of the token is missing.
    2> Try `pawl help token`.
    [2]
    $ pawl token list ci
    2> pawl token: `list` takes no name.
    2> Try `pawl help token`.
    [2]
    $ pawl token make ci --expires yesterday
    2> pawl token: `expires` of `token_make` must be a time, like 2030-01-31T00:00:00Z.
    [2]
    $ pawl token make ci --expires 2001-01-01T00:00:00Z
    2> pawl token: The token would have expired already.
    [2]
    $ pawl token make "$(printf 'a\nb')"
    2> pawl token: The name of a token is text of 1 to 60 bytes without control characters.
    [2]

A server does not listen where others can reach it without a token
    $ pawl serve --listen 0.0.0.0:0
    2> pawl serve: Others can reach the address 0.0.0.0:0, and no token is needed: anybody could run commands here. Start it with --auth, and let people in with `pawl token make NAME`.
    [2]
    $ pawl serve --listen nowhere.invalid:7295 --auth
    2> pawl serve: There is no host 'nowhere.invalid' to listen at.
    [2]
    $ pawl serve --listen 127.0.0.1
    2> pawl serve: '127.0.0.1' is no address to listen at; write it as 127.0.0.1:7295.
    [2]
    $ pawl serve --workflows nowhere
    2> pawl serve: the folder of workflows, nowhere, cannot be read: No such file or directory.
    2> Try `pawl help serve`.
    [2]
    $ pawl serve --tls-cert cert.pem
    2> pawl serve: --tls-cert and --tls-key go together: one is the certificate, and the other its key.
    2> Try `pawl help serve`.
    [2]
