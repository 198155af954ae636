#!/bin/sh
# 25-faults.sh BUILD: every write, fsync, rename, close, open, read, mmap and
# thread of the tools that write fails, one after the other, and each of them is
# killed $GG_FAULT_KILLS times, 50 unless it is set: tests/cli/faults.sh with all
# points
set -eu
top_srcdir=$(cd "$(dirname "$0")/../.." && pwd)
top_builddir=$(cd "$1" && pwd)
export GG_FAULT_POINTS=0 GG_FAULT_KILLS="${GG_FAULT_KILLS-50}" GG_VERBOSE=1
export GG_FAULT_KINDS='write short sync rename close cut read open map thread'
make -s -C "$top_builddir/lib" && make -s -C "$top_builddir/bin"
make -s -C "$top_builddir/tests" faults hub_server make_model
case=faults
. "$top_srcdir/build-aux/nightly.d/cli-case.inc"
grep -E ': [0-9]+ (calls|killed), [0-9]+ runs, [0-9]+ bad$' ../stdout |
    awk '{ n[$1] += $(NF - 3); bad[$1] += $(NF - 1) }
        END { for (k in n) print k, n[k], "runs,", bad[k], "bad" }' | sort
test $status != 77 || exit 77
grep -vE ': [0-9]+ (calls|killed), [0-9]+ runs, [0-9]+ bad$' ../stdout |
    diff -u "$top_srcdir/tests/cli/faults.stdout" -
test $status = 0 && test ! -s ../stderr
