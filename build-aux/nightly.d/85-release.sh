#!/bin/sh
# 85-release.sh SOURCE: each file of a release, tried as by a stranger: in bare Debians
# of 12 and 13 without a compiler, and in a system that has musl and busybox alone
#
# A try unpacks or installs, runs one command, and tells how long it took until there
# was a story; archives have $GG_SECONDS, 10, for that. $GG_RELEASE is a folder that
# `make release` has filled, which is made otherwise. Root and mmdebstrap are needed.
set -eu
source=$(cd "$1" && pwd)
work=$(mktemp -d)
. "$source/build-aux/roots.inc"
trap remove_roots EXIT
trap 'exit 1' INT TERM
can_make_roots || {
    echo 'root and mmdebstrap are needed' >&2
    exit 77
}
limit=${GG_SECONDS-10}
tried=0 failed=0

make_release() {
    git clone -q "$source" "$work/gg"
    sh "$source/build-aux/autotools.sh" "$work/autotools"
    (cd "$work/gg" && PATH=$work/autotools/bin:$PATH ./autogen.sh && ./configure -q &&
        make -s release) >"$work/log" 2>&1 || {
        tail -n 40 "$work/log"
        exit 1
    }
    GG_RELEASE=$work/gg/release
}

# try ROOT SECONDS WHAT FILE... -- COMMAND: the command has the files in the folder
# /root/try, and prints a story last. SECONDS 0: however long it takes.
try() {
    root=$1 most=$2 what=$3
    shift 3
    rm -rf "${work:?}/$root/root/try" && mkdir -p "$work/$root/root/try"
    while test "$1" != --; do
        test -e "$1" || {
            echo "$what, $root: the release has no $(basename "$1")"
            return
        }
        cp "$1" "$work/$root/root/try"
        shift
    done
    tried=$((tried + 1))
    start=$(date +%s%N) status=0
    (inside "$root" "cd /root/try; $2") >"$work/story" 2>"$work/log" || status=$?
    took=$((($(date +%s%N) - start) / 100000000))
    words=$(tail -n 1 "$work/story" | wc -w)
    echo "$what, $root: $((took / 10)).$((took % 10)) s, a story of $words words"
    test $status = 0 && test "$words" -ge 30 &&
        { test "$most" = 0 || test $took -le $((most * 10)); } || {
        failed=$((failed + 1))
        echo "$what, $root: FAILED with status $status"
        tail -n 20 "$work/log"
    }
}
story="gg-generate -q -p 'Once upon a time' --seed 1 | tr '\\n' ' '"

# A root of busybox and musl's loader, and no other library; qemu is in it, too.
make_musl() {
    inside bookworm 'apt-get -qq update && mkdir -p /packages && cd /packages &&
        apt-get -qq download busybox-static musl qemu-user-static &&
        for deb in *.deb; do dpkg-deb -x $deb /musl; done' 2>/dev/null
    mkdir "$work/musl" "$work/musl/proc" "$work/musl/etc" "$work/musl/root" \
        "$work/musl/tmp" "$work/musl/dev"
    (cd "$work/bookworm/musl" && cp -a bin lib "$work/musl" &&
        cp usr/bin/qemu-aarch64-static "$work/musl/bin" && cp -a usr/lib "$work/musl")
    ln -s bin "$work/musl/sbin"
    for applet in $(chroot "$work/musl" /bin/busybox --list); do
        test -e "$work/musl/bin/$applet" || ln -s busybox "$work/musl/bin/$applet"
    done
    mount -t proc proc "$work/musl/proc"
    find "$work/musl/lib" -name 'ld-musl*' | grep -q . || return
    test -z "$(find "$work/musl" -xdev -name 'libc.so.6' -o -name 'ld-linux*')"
}

# Debian's packages come with what they depend on, which is fetched.
packages() { # ROOT
    try "$1" 0 'packages' "$GG_RELEASE"/gg-tools_*_amd64.deb \
        "$GG_RELEASE"/gg-story_*.deb "$GG_RELEASE"/gg-media_*_amd64.deb \
        "$GG_RELEASE"/libggml-gg0_*_amd64.deb -- "
        apt-get -qq update && apt-get -qq install -y --no-install-recommends ./*.deb >&2
        rm *.deb && for tool in /usr/bin/gg-*; do \$tool --version >&2; done
        ls /usr/share/doc/gg-tools/examples/farm.sbatch >&2
        $story"
}
archive() { # ROOT MACHINE
    try "$1" "$limit" 'archive' "$GG_RELEASE/gg-$version-linux-$2.tar.gz" -- "
        tar -xzf gg-*.tar.gz && cd gg-*/bin && ./$story"
}
wheel() { # ROOT
    inside "$1" 'apt-get -qq update && apt-get -qq install -y python3-venv' >"$work/log" 2>&1
    try "$1" 0 'wheel' "$GG_RELEASE"/gg*-"$version"-*x86_64*.whl -- "
        python3 -m venv env && env/bin/pip -q install --no-index ./*.whl &&
        env/bin/$story"
}
emulated() {
    try musl 0 'archive for Arm, emulated' \
        "$GG_RELEASE/gg-$version-linux-aarch64.tar.gz" -- "
        tar -xzf gg-*.tar.gz && cd gg-*/bin && qemu-aarch64-static ./$story"
}

test -n "${GG_RELEASE-}" || make_release
(cd "$GG_RELEASE" && sha256sum -c --quiet SHA256SUMS)
version=$(sed -n 's/^AC_INIT(\[[^]]*\], \[\([^]]*\).*/\1/p' "$source/configure.ac")
for suite in bookworm trixie; do
    make_root $suite $suite
    inside $suite 'for c in cc gcc clang tcc; do ! command -v $c || exit 1; done'
    archive $suite x86_64
    packages $suite
    wheel $suite
done
make_musl
archive musl x86_64
emulated
echo "$tried tries, $failed failed"
test $tried -gt 0 && test $failed = 0
