#!/bin/sh
# Stands in for a model: reads a prompt of tdd.yaml and prints an answer. What is to be validated passes
# in the second round, and never for a story that is impossible.
prompt=$(cat)
case $prompt in
test.rules:*) echo 'Test sums of small numbers.' ;;
code.rules:*) echo 'One line, no loops.' ;;
*.build:*impossible*) echo 'It cannot be done.' ;;
test.build:*) echo 'assert add(2, 2) == 4' ;;
code.build:*) echo 'def add(a, b): return a + b' ;;
*.validate:*'cannot be done'*) echo 'there is nothing to validate' ;;
*.validate:*'round 1.'*) echo 'a name is missing' ;;
*.validate:*) echo 'pass' ;;
*)
    echo 'this is no prompt of tdd.yaml' >&2
    exit 1
    ;;
esac
