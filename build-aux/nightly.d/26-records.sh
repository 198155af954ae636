#!/bin/sh
# 26-records.sh BUILD: gg-generate --unordered for long: every allocation of its
# records fails, and 2,000 records at a time come as in a storm, with flat memory
set -eu
top_srcdir=$(cd "$(dirname "$0")/../.." && pwd)
top_builddir=$(cd "$1" && pwd)
export GG_MODEL="$top_srcdir/demo/gg-story.gguf" GG_ALLOC_POINTS=0
export GG_STORM=2000 GG_STORM_SEEDS='11 12 13 14 15 16 17 18'
make -s -C "$top_builddir/lib" && make -s -C "$top_builddir/bin"
make -s -C "$top_builddir/tests" check TESTS=
for case in records-memory generate-storm; do
    . "$top_srcdir/build-aux/nightly.d/cli-case.inc"
    test $status = 77 && continue
    test $status = 0
    want=$top_srcdir/tests/cli/$case.stdout
    test -f "$want" || want=/dev/null
    diff -u "$want" ../stdout
    cd "$top_builddir"
    rm -rf "$dir"
done
