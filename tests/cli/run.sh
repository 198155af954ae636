#!/bin/sh
# Runs tests/cli/NAME.sh in a scratch folder, and compares with NAME.stdout,
# .stderr and .exit beside it. An absent file means: empty, empty, 0.
# A script that exits 77 is skipped.
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
: >"$d/empty"
echo 0 >"$d/zero"
for part in stdout stderr exit; do
    want=$t.$part
    test -f "$want" || case $part in
        exit) want=$d/zero ;;
        *) want=$d/empty ;;
    esac
    diff -u "$want" "$d/$part" || failed=1
done
exit ${failed:-0}
