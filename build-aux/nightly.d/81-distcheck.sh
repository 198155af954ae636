#!/bin/sh
# 81-distcheck.sh SOURCE: a tarball builds, passes all tests, installs,
# uninstalls and is cleaned
set -eu
top=$(cd "$1" && pwd)
git -C "$top" rev-parse HEAD >/dev/null 2>&1 || exit 77
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
git clone -q "$top" "$dir/gg"
cd "$dir/gg"
./autogen.sh >/dev/null 2>&1
./configure -q CFLAGS=-O2 CXXFLAGS=-O2
make -s -j"$(nproc)" distcheck \
    DISTCHECK_CONFIGURE_FLAGS='CFLAGS=-O2 CXXFLAGS=-O2 --with-kernels=native'
