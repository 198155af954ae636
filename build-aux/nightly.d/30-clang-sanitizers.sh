#!/bin/sh
# 30-clang-sanitizers.sh SOURCE: the tools' tests under clang's sanitizers, which
# see what gcc's do not (an offset to a null pointer, a call by another type);
# GG_CHECK_TESTS='cli/NAME.sh ...': only these
set -eu
source=$(cd "$1" && pwd)
command -v clang >/dev/null || {
    echo 'clang is needed' >&2
    exit 77
}
test -f "$source/configure" || "$source/autogen.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
# Kernels do without: they would take minutes each to compile.
GG_KERNEL_CFLAGS=-fno-sanitize=all
export GG_KERNEL_CFLAGS
"$source/configure" -q CC=clang CXX=clang++ --without-cuda \
    --enable-sanitize=undefined CFLAGS='-O1 -g' CXXFLAGS='-O1 -g'
UBSAN_OPTIONS=print_stacktrace=1
export UBSAN_OPTIONS
make -s -j"$(nproc)" -C lib
make -s -j"$(nproc)" -C bin
tests=${GG_CHECK_TESTS-$(cd "$source/tests" && ls cli/*.sh | grep -v '/run\.sh$')}
status=0
make -s -j"$(nproc)" -C tests check TESTS="$(echo $tests)" >check.log 2>&1 ||
    status=$?
grep -E '^(FAIL|ERROR):' check.log || :
grep -h 'runtime error:' tests/cli/*.log | sort | uniq -c || :
exit $status
