#!/bin/sh
# 62-compilers.sh SOURCE: GCC 12 to 14 and clang, those that are here: no warnings,
# and the tests of types, ops and kernels
set -eu
top=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
test -f "$top/configure" || "$top/autogen.sh" >/dev/null 2>&1
tests='quant/test_types cpu/check_kernels cpu/test_ops_ref gguf/test_gguf_order'
for cc in gcc-11 gcc-12 gcc-13 gcc-14 gcc-15 clang clang-19; do
    command -v $cc >/dev/null || continue
    mkdir "$work/$cc" && cd "$work/$cc"
    "$top/configure" -q CC=$cc --enable-werror --without-cuda --without-mpi CFLAGS=-O2
    make -s -j"$(nproc)" && make -s -C tests check TESTS="$tests" >log 2>&1 || {
        grep '^FAIL' log
        exit 1
    }
    echo "$cc: $($cc -dumpfullversion 2>/dev/null || $cc -dumpversion): built, tests pass"
    cd / && rm -rf "${work:?}/$cc"
done
