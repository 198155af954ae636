#!/bin/sh
# 20-allocations.sh BUILD: every allocation of the tools that make files fails,
# one after the other: tests/cli/allocations.sh with all points
set -eu
top_srcdir=$(cd "$(dirname "$0")/../.." && pwd)
top_builddir=$(cd "$1" && pwd)
export GG_MODEL="$top_srcdir/demo/gg-story.gguf" GG_ALLOC_POINTS=0
make -s -C "$top_builddir/lib" && make -s -C "$top_builddir/bin"
make -s -C "$top_builddir/tests" check TESTS=
case=allocations
. "$top_srcdir/build-aux/nightly.d/cli-case.inc"
test $status != 77 || exit 0
diff -u "$top_srcdir/tests/cli/allocations.stdout" ../stdout
test $status = 0 && test ! -s ../stderr
