#!/bin/sh
# 80-reproducible.sh SOURCE: two people make the same tarball, byte for byte,
# elsewhere, at another time, with another umask, time zone and language, and on
# other Debians: 12 with its own autotools, 13 with those of autotools.sh. The
# Debians want root and mmdebstrap.
set -eu
top=$(cd "$1" && pwd)
git -C "$top" rev-parse HEAD >/dev/null 2>&1 || exit 77
work=$(mktemp -d)
. "$top/build-aux/roots.inc"
trap remove_roots EXIT
trap 'exit 1' INT TERM
# All clones are of one commit, whatever is committed meanwhile.
git clone -q "$top" "$work/source" && top=$work/source

make_tarball() { # FOLDER
    git clone -q "$top" "$work/$1" && cd "$work/$1" && ./autogen.sh >/dev/null 2>&1
    mkdir "$work/$1/build" && cd "$work/$1/build"
    ../configure -q --without-cuda CFLAGS=-O0 "$2"
    make -s dist >/dev/null
}
(umask 022 && make_tarball a CXXFLAGS=-O0)
(umask 077 && export TZ=Asia/Tokyo LC_ALL=C.UTF-8 &&
    make_tarball a-longer-path/below CXXFLAGS=-O1)
cmp "$work"/a/build/gg-*.tar.gz "$work"/a-longer-path/below/build/gg-*.tar.gz
sha256sum "$work"/a/build/gg-*.tar.gz

# tarball_in NAME SUITE COMMAND: the tarball that is made there, after the command.
tarball_in() {
    make_root "$1" "$2" autoconf automake curl gcc git libtool make pkgconf zlib1g-dev
    git clone -q "$top" "$work/$1/root/gg"
    inside "$1" "cd /root/gg
        ($3 && ./autogen.sh) >/tmp/log 2>&1 || { cat /tmp/log; exit 1; }
        ./configure -q --without-cuda >/dev/null && make -s dist >/dev/null && sha256sum gg-*.tar.gz"
}
can_make_roots || {
    echo 'root and mmdebstrap are needed to make it on other Debians' >&2
    exit
}
echo '-- on Debian 12'
tarball_in 12 bookworm :
echo '-- on Debian 13'
tarball_in 13 trixie 'sh build-aux/autotools.sh /tmp/autotools &&
    PATH=/tmp/autotools/bin:$PATH'
cmp "$work"/12/root/gg/gg-*.tar.gz "$work"/13/root/gg/gg-*.tar.gz
! sh "$top/build-aux/autotools.sh" --check "$work/a" ||
    cmp "$work"/a/build/gg-*.tar.gz "$work"/13/root/gg/gg-*.tar.gz
