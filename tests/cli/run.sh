#!/bin/sh
# Runs tests/cli/NAME.sh in a scratch folder, and compares with NAME.stdout,
# .stderr and .exit next to it. An absent file means: empty, empty, 0.
# A script that exits 77 is skipped; one that exits 99 could not make what it needs.
# With $GG_RECORD, what it printed is written to these files instead.
t=$(cd "$(dirname "$1")" && pwd)/$(basename "$1" .sh)
d=$(mktemp -d) || exit 99
trap 'rm -rf "$d"' EXIT
mkdir "$d/work" && cd "$d/work" || exit 99
timeout 300 sh "$t.sh" >"$d/stdout" 2>"$d/stderr"
echo $? >"$d/exit"
if grep -qx 77 "$d/exit"; then
    cat "$d/stderr"
    exit 77
fi
if grep -qx 99 "$d/exit"; then
    cat "$d/stderr"
    echo "$(basename "$t").sh ended with 99: it could not make what it needs"
    exit 99
fi
: >"$d/empty"
record() {
    if cmp -s "$1" "$2"; then
        rm -f "$3"
    else
        cp "$1" "$3"
    fi
}
echo 0 >"$d/zero"
if test -n "${GG_RECORD-}"; then
    record "$d/stdout" "$d/empty" "$t.stdout"
    record "$d/stderr" "$d/empty" "$t.stderr"
    record "$d/exit" "$d/zero" "$t.exit"
    exit
fi
for part in stdout stderr exit; do
    want=$t.$part
    test -f "$want" || case $part in
        exit) want=$d/zero ;;
        *) want=$d/empty ;;
    esac
    diff -u "$want" "$d/$part" || failed=1
done
exit ${failed:-0}
