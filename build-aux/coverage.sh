#!/bin/sh
# coverage.sh BUILD - how many lines of each module of BUILD's library ran, by what
# gcov says of the counts that programs left there; a header's are those of the
# module it is in.
set -eu
cd "$1/lib"
find . -name '*.gcda' | LC_ALL=C sort | while read -r counts; do
    (cd "$(dirname "$counts")" && gcov -n "$(basename "$counts")" 2>/dev/null)
done | awk -v OFS='\t' '
    /^File / {
        file = substr($0, 7, length($0) - 7)
        if (file ~ /^\/usr\//)
            file = ""
        sub(/.*\/lib\//, "", file)
        if (file !~ /^[a-z]+\//)
            file = ""
    }
    # A header that several include counts as where most of it ran.
    /^Lines executed:/ && file {
        split(substr($0, 16), part, /% of /)
        ran = part[1] * part[2] / 100
        if (!(file in all) || ran > hit[file]) {
            hit[file] = ran
            all[file] = part[2]
        }
        file = ""
    }
    END {
        for (file in all) {
            module = file
            sub(/\/.*/, "", module)
            ran_of[module] += hit[file]
            lines_of[module] += all[file]
            ran_all += hit[file]
            lines += all[file]
        }
        for (module in lines_of)
            printf "%-10s %6d lines %5.1f%%\n", module, lines_of[module],
                100 * ran_of[module] / lines_of[module] | "LC_ALL=C sort"
        close("LC_ALL=C sort")
        if (lines)
            printf "%-10s %6d lines %5.1f%%\n", "all", lines,
                100 * ran_all / lines
    }'
