#!/bin/sh
# A short tour of `pawl eval`: each step shows a command, then what it really prints.
#
#     examples/eval/tour.sh [PAWL]
. "$(dirname "$0")/../tour.sh"
cd "$(dirname "$0")" || exit 1

echo "pawl eval answers questions about JSON, in the jq language."
echo "The data is examples/eval/orders.json: a shop and its orders."

step 'Pick fields: one line for each order.' \
    "pawl eval -c '.orders[] | {id, customer, total}' orders.json"

step 'Filter: what has been paid, as plain text for other programs.' \
    "pawl eval -r '.orders[] | select(.status == \"paid\") | \"\\(.customer) paid \\(.total)\"' orders.json"

step 'Update in place: everything that is read stays, only what you name changes.' \
    "pawl eval -c '.orders[1] |= (.status = \"paid\" | .items[].price *= 0.9) | .orders[1]' orders.json"

step 'Reduce: what each customer has spent.' \
    "pawl eval -c 'reduce .orders[] as \$o ({}; .[\$o.customer] += \$o.total)' orders.json"

step 'Numbers are exact: order 9007199254740993 does not become ...992.' \
    "pawl eval '.orders[-1].id' orders.json"

step 'Give it values from your shell, and let the exit code decide (-e).' \
    "pawl eval -e --argjson least 50 'any(.orders[]; .total > \$least)' orders.json && echo 'a large order is there'"

step 'A mistake is shown where it is.' \
    "pawl eval '.orders[] | select(.total > )' orders.json"

step 'An expression that never ends is stopped: every evaluation has a budget.' \
    "pawl eval -n --limit-steps 1000000 'def forever: forever; forever'"

step 'So is one that asks for all the memory.' \
    "pawl eval -n --limit-memory 50000000 '[range(1e12)]'"

printf '\nThat is all. `%s help eval` lists the rest.\n' "$pawl"
