#!/bin/sh
# 50-sanitizers.sh SOURCE: all tests, and the kernels, under gcc's sanitizers
set -eu
source=$(cd "$1" && pwd)
test -f "$source/configure" || "$source/autogen.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$source/configure" -q --enable-werror --enable-sanitize CFLAGS='-O1 -g1'
make -s -j"$(nproc)"
status=0
make -s -j"$(nproc)" check >check.log 2>&1 || status=$?
grep -E '^(# [A-Z]|FAIL|ERROR)' check.log || :
exit $status
