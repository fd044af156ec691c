# What the tours share: sourced by them, with the path of pawl as $1.
#
#   step WHY COMMAND        says why, shows the command, runs it
#
# On a terminal it waits between the steps; otherwise it goes on.
set -u
pawl=${1:-pawl}
case $pawl in
*/*) PATH=$(cd "$(dirname "$pawl")" && pwd):$PATH ;;
esac

bold= dim= plain=
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ] && [ "${TERM:-dumb}" != dumb ]; then
    bold=$(printf '\033[1m') dim=$(printf '\033[2m') plain=$(printf '\033[0m')
fi
number=0

pause() {
    [ -t 0 ] && [ -t 1 ] || return 0
    printf '%sEnter to go on, q to quit%s ' "$dim" "$plain"
    read -r answer || exit 0
    case $answer in
    [qQ]*) exit 0 ;;
    esac
}

step() {
    [ "$number" -eq 0 ] || pause
    number=$((number + 1))
    printf '\n%s%d. %s%s\n\n' "$bold" "$number" "$1" "$plain"
    printf '%s$ %s%s\n' "$dim" "$2" "$plain"
    sh -c "$2"
    code=$?
    [ "$code" -eq 0 ] || printf '%s[exit code %d]%s\n' "$dim" "$code" "$plain"
}
