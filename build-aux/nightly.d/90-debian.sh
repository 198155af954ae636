#!/bin/sh
# 90-debian.sh SOURCE: the packages of debian/, built, looked at by lintian,
# installed in a bare Debian, where their own tests are run, and started beside
# Debian's libggml. Wants root, devscripts, lintian, mmdebstrap, autopkgtest
# and what debian/control names; $GG_DEBS is a folder with packages that are built.
set -eu
source=$(cd "$1" && pwd)
for tool in dpkg-buildpackage lintian mmdebstrap autopkgtest; do
    test "$(id -u)" = 0 && command -v $tool >/dev/null || {
        echo "root and $tool are needed" >&2
        exit 77
    }
done
mirror=${GG_DEBIAN_MIRROR-http://deb.debian.org/debian}
work=$(mktemp -d)
trap 'umount "$work"/*/proc 2>/dev/null || :; rm -rf --one-file-system "$work"' EXIT
trap 'exit 1' INT TERM

git clone -q "$source" "$work/gg"
if test -z "${GG_DEBS-}"; then
    GG_DEBS=$work
    (cd "$work/gg" && DEB_BUILD_OPTIONS="nocheck parallel=$(nproc)" \
        dpkg-buildpackage -us -uc >"$work/log" 2>&1) || {
        tail -n 40 "$work/log"
        exit 1
    }
fi
echo '-- lintian'
lintian --fail-on error,warning "$GG_DEBS"/gg_*.changes

# try SUITE PACKAGE...: the tests of the packages in a bare Debian, where these are
# installed, too. Of another suite than the builder's, libraries may have other names.
try() {
    suite=$1
    shift
    root=$work/$suite
    mmdebstrap --quiet --variant=minbase --include="ca-certificates,apt-utils" \
        --aptopt='Acquire::Check-Valid-Until "false"' "$suite" "$root" "$mirror"
    chroot "$root" apt-get update -qq
    test $# = 0 || chroot "$root" apt-get install -qq -y --no-install-recommends "$@" \
        >/dev/null
    mount -t proc proc "$root/proc"
    autopkgtest "$GG_DEBS"/*[!m]_*_amd64.deb "$GG_DEBS"/*_all.deb "$work/gg" -- \
        chroot "$root"
    umount "$root/proc"
    rm -rf --one-file-system "$root"
}
echo '-- in a bare Debian'
try "${GG_SUITE-bookworm}"

# Debian's own library, whose folder LD_LIBRARY_PATH names: tools start.
echo "-- beside Debian's libggml"
deb=$(curl -sf "$mirror/dists/sid/main/binary-amd64/Packages.xz" | xz -dc |
    sed -n 's|^Filename: \(pool/main/g/ggml/libggml0_.*\)|\1|p')
curl -sSf -o "$work/other.deb" "$mirror/$deb" && dpkg-deb -x "$work/other.deb" "$work/other"
for deb in "$GG_DEBS"/gg-tools_*.deb "$GG_DEBS"/libggml-gg0_*.deb "$GG_DEBS"/gg-story_*.deb; do
    dpkg-deb -x "$deb" "$work/ours"
done
ls "$work"/other/usr/lib/x86_64-linux-gnu/libggml.so.0
LD_LIBRARY_PATH=$work/other/usr/lib/x86_64-linux-gnu \
    "$work/ours/usr/bin/gg-generate" -q -n 5 --seed 1 -p Once | grep .
