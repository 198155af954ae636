#!/bin/sh
# tap-quiet.sh OPTION... -- TEST: Automake's driver of TAP, whose options these
# are, with one line for a test that passes, and for one that fails the checks
# that did; all lines where V is 1
driver=$(dirname "$0")/tap-driver.sh
test "${V-}" != 1 || exec sh "$driver" "$@"
name= before=
for option; do
    test "$before" != --test-name || name=$option
    before=$option
done
out=$(sh "$driver" "$@")
status=$?
printf '%s\n' "$out" | awk -v name="$name" '
    /^(\033\[[0-9;]*m)?PASS/ { passed++; next }
    NF { print; other = 1 }
    END { if (!other) printf "PASS: %s (%d)\n", name, passed }'
exit $status
