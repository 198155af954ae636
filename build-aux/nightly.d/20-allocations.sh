#!/bin/sh
# 20-allocations.sh BUILD: every allocation of the tools that make files fails,
# one after the other: tests/cli/allocations.sh with all points
set -eu
top_srcdir=$(cd "$(dirname "$0")/../.." && pwd)
top_builddir=$(cd "$1" && pwd)
GG_MODEL=$top_srcdir/demo/gg-story.gguf
GG_CUDA_MODULE=none
GG_ALLOC_POINTS=0
export top_srcdir top_builddir GG_MODEL GG_CUDA_MODULE GG_ALLOC_POINTS
make -s -C "$top_builddir/lib" && make -s -C "$top_builddir/bin"
make -s -C "$top_builddir/tests" check TESTS=
for t in "$top_builddir"/bin/gg-*; do
    PATH=$t:$PATH
done
PATH=$top_builddir/tests:$PATH
export PATH
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/work" && cd "$dir/work"
status=0
sh "$top_srcdir/tests/cli/allocations.sh" >../stdout 2>../stderr || status=$?
cat ../stderr >&2
test $status != 77 || exit 0
diff -u "$top_srcdir/tests/cli/allocations.stdout" ../stdout
test $status = 0 && test ! -s ../stderr
