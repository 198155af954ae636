#!/bin/sh
# 10-debootstrap.sh SOURCE: a bare Debian 12, in which a new user's commands are
# run: quickstart, make install, make check. Its paths are long; it has neither
# /sys nor pseudo-terminals. Root alone can do that; $GG_DEBOOTSTRAP is a folder
# to keep it in, so that it is made once.
set -eu
source=$(cd "$1" && pwd)
test "$(id -u)" = 0 && command -v debootstrap >/dev/null || {
    echo 'root and debootstrap are needed' >&2
    exit 77
}
root=${GG_DEBOOTSTRAP-$(mktemp -d)}
cleanup() {
    umount "$root/proc" 2>/dev/null || :
    test -n "${GG_DEBOOTSTRAP-}" || rm -rf "$root"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

test -x "$root/usr/bin/apt-get" ||
    debootstrap --variant=minbase bookworm "$root" \
        "${GG_DEBIAN_MIRROR-http://deb.debian.org/debian}"
cp /etc/resolv.conf "$root/etc/"
mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"

long=/$(printf '%0180d' 0 | tr 0 x)
rm -rf "${root:?}$long" "$root/usr/local"
mkdir -p "$root$long/tmp" "$root/usr/local"
git clone -q "$source" "$root$long/gg"

# COMMAND, in the clone
inside() {
    env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin TMPDIR="$long/tmp" \
        ${http_proxy:+http_proxy="$http_proxy"} \
        chroot "$root" sh -c "cd '$long/gg' && $1"
}

echo '-- a story from a clean clone'
inside './quickstart >story && cat story && test "$(wc -w <story)" -ge 30'
echo '-- tools start after make install'
inside 'make -s install >/dev/null && cd / && for t in /usr/local/bin/gg-*; do
    $t --version || exit; done
    PATH=/usr/local/bin:$PATH
    test "$(gg-generate -q -n 20 --seed 1 -p "Once upon a time" | wc -w)" -ge 5'
echo '-- make uninstall leaves nothing'
inside 'make -s uninstall >/dev/null &&
    test -z "$(find /usr/local ! -type d | tee /dev/stderr)"'
echo '-- the tests'
inside './quickstart check' || {
    inside 'find tests fuzz -name "*.trs" -exec grep -l "^:test-result: \(FAIL\|ERROR\)" {} + |
        sed "s/trs\$/log/" | xargs -r tail -n 40'
    exit 1
}
