#!/bin/sh
# 80-reproducible.sh SOURCE: two people make the same tarball, byte for byte,
# elsewhere, at another time, with another umask, time zone and language
set -eu
top=$(cd "$1" && pwd)
git -C "$top" rev-parse HEAD >/dev/null 2>&1 || exit 77
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT

make_tarball() { # FOLDER
    git clone -q "$top" "$dir/$1" && cd "$dir/$1" && ./autogen.sh >/dev/null 2>&1
    mkdir "$dir/$1/build" && cd "$dir/$1/build"
    ../configure -q --without-cuda CFLAGS=-O0 "$2"
    make -s dist >/dev/null
}
(umask 022 && make_tarball a CXXFLAGS=-O0)
(umask 077 && export TZ=Asia/Tokyo LC_ALL=C.UTF-8 &&
    make_tarball a-longer-path/below CXXFLAGS=-O1)
cmp "$dir"/a/build/gg-*.tar.gz "$dir"/a-longer-path/below/build/gg-*.tar.gz
sha256sum "$dir"/a/build/gg-*.tar.gz
