#!/bin/sh
# What `make run` does: a server with the examples, and one run that is paused at a breakpoint.
#
#     examples/serve.sh [PAWL [FOLDER]]      FOLDER: where its store is; kept from one time to the next
pawl=${1:-pawl}
case $pawl in */*) pawl=$(cd "$(dirname "$pawl")" && pwd)/$(basename "$pawl") ;; esac
examples=$(cd "$(dirname "$0")" && pwd)
mkdir -p "${2:-.}" && cd "${2:-.}" || exit 1
unset PAWL_STORE PAWL_SERVER

# The run to look at: that of last time if it is still paused. Exit code 3: it is paused, as it should be.
demo=demo
count=1
paused=no
while [ $paused = no ] && status=$("$pawl" status "$demo" --json 2>/dev/null); do
    case $status in
    *'"status":"paused"'*) paused=yes ;;
    *) count=$((count + 1)) && demo=demo-$count ;;
    esac
done
if [ $paused = no ]; then
    "$pawl" run "$examples/workflows/release.yaml" --thread "$demo" --break publish --break error \
        --quiet >/dev/null 2>&1
    [ $? -eq 3 ] || echo "serve.sh: the run to look at could not be made." >&2
fi

tell() {
    read -r line || exit 1
    url=$(printf '%s' "$line" | sed 's/.*"url":"\([^"]*\)".*/\1/')
    cat <<END
Pawl listens at $url with the examples and a run that is paused, \`$demo\`. Ctrl-C ends it.

In a browser:
  $url/debug/$demo                             the paused run; F10 steps
  $url                                         all runs, and the examples

In another terminal:
  curl $url/api/v1/runs                       the runs
  curl $url/api/v1/debug/$demo -X POST         take the paused one for a debugger,
  curl $url/api/v1/debug/$demo                 see where it stands,
  curl $url/api/v1/debug/$demo/variables       what its node sees,
  curl $url/api/v1/debug/$demo/step -d '{"kind": "over"}' -H 'Content-Type: application/json'
  curl -N $url/api/v1/events                  what happens, as it happens
  curl $url/api/v1/runs -d '{"workflow": "hello"}' -H 'Content-Type: application/json'

docs/api.md has the rest.
END
    cat >/dev/null
}
trap : INT # the server ends, and says so; then there is nothing left to do
"$pawl" serve --json --next-port --workflows "$examples/workflows" | (trap '' INT; tell)
exit 0
