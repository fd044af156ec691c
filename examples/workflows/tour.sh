#!/bin/sh
# A short tour of workflows: each step shows a command, then what it really prints.
#
#     examples/workflows/tour.sh [PAWL]
. "$(dirname "$0")/../tour.sh"
folder=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
unset PAWL_STORE
cp "$folder/review.yaml" .

echo "Pawl runs workflows. This one (examples/workflows/review.yaml) tests and reads some files in"
echo "parallel, then asks a person."

step 'Is the file all right?' \
    "pawl check review.yaml"

step 'Run it: two branches at the same time, a map over files, and then it waits. The process ends.' \
    "pawl run review.yaml --thread demo"

step 'Tomorrow, from another process: where are we?' \
    "pawl status demo"

step 'Send it round again. Nothing that was done is done twice.' \
    "pawl resume demo --decision restart"

step 'Now it is good.' \
    "pawl resume demo --decision approve --quiet"

step 'Every step was kept.' \
    "pawl history demo"

step 'What changed between the first question and the second?' \
    "pawl diff demo@11 demo@22"

step 'Go back to the second question and answer it otherwise: the old line of history stays.' \
    "pawl resume demo@22 --decision abort --quiet | tail -n 6; pawl history demo --limit 4"

step 'A mistake is shown where it is.' \
    "sed 's/approval:/aproval:/' review.yaml > mistake.yaml; pawl check mistake.yaml"

printf '\nThat is all. `pawl help` lists the commands; docs/workflows.md and docs/running.md say the rest.\n'
