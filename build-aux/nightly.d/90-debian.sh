#!/bin/sh
# 90-debian.sh SOURCE: the packages of debian/, built as a release has them, installed
# in a bare Debian, where their own tests are run, and started next to Debian's
# libggml. Root, mmdebstrap and autopkgtest are needed; $GG_DEBS is a folder with
# packages that are built.
set -eu
source=$(cd "$1" && pwd)
for tool in mmdebstrap autopkgtest; do
    test "$(id -u)" = 0 && command -v $tool >/dev/null || {
        echo "root and $tool are needed" >&2
        exit 77
    }
done
work=$(mktemp -d)
. "$source/build-aux/roots.inc"
trap remove_roots EXIT
trap 'exit 1' INT TERM

git clone -q "$source" "$work/gg"
if test -z "${GG_DEBS-}"; then
    version=$(sed -n 's/^AC_INIT(\[[^]]*\], \[\([^]]*\).*/\1/p' "$source/configure.ac")
    tarball=$work/gg-$version.tar.gz GG_DEBS=$work/debs
    git -C "$work/gg" archive --prefix="gg-$version/" -o "$tarball" HEAD
    mkdir "$GG_DEBS"
    sh "$source/build-aux/release.d/30-debian.sh" "$version" "$tarball" "$GG_DEBS"
fi

# try SUITE PACKAGE...: the tests of the packages in a bare Debian, where these are
# installed, too. Of another suite than the builder's, libraries may have other names.
try() {
    suite=$1
    shift
    make_root "$suite" "$suite" apt-utils "$@"
    autopkgtest "$GG_DEBS"/*[!m]_*_amd64.deb "$GG_DEBS"/*_all.deb "$work/gg" -- \
        chroot "$work/$suite"
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
