#!/bin/sh
# 91-dockerfile.sh SOURCE: the CPU stages of packaging/Dockerfile, step by step in
# bare Debians, without Docker; root and mmdebstrap are needed
set -eu
source=$(cd "$1" && pwd)
test "$(id -u)" = 0 && command -v mmdebstrap >/dev/null || {
    echo 'root and mmdebstrap are needed' >&2
    exit 77
}
mirror=${GG_DEBIAN_MIRROR-http://deb.debian.org/debian}
file=$source/packaging/Dockerfile
work=$(mktemp -d)
unmount() {
    for root in "$work"/*/; do
        umount "$root/proc" 2>/dev/null || :
    done
    rm -rf --one-file-system "$work"
}
trap unmount EXIT
trap 'exit 1' INT TERM

# The lines of a stage, those that end with a backslash joined.
stage() {
    sed -e ':a' -e '/\\$/{N;s/\\\n *//;ba' -e '}' "$file" |
        awk -v name="$1" '$1 == "FROM" { on = $4 == name; next } on'
}
run() { # STAGE
    root=$work/$1
    mmdebstrap --quiet --variant=minbase --include=ca-certificates bookworm "$root" "$mirror"
    mount -t proc proc "$root/proc"
    cp /etc/resolv.conf "$root/etc/"
    stage "$1" | while read -r step words; do
        echo "-- $1: $step $words"
        case "$step $words" in
        'COPY . /src') mkdir "$root/src" && git -C "$source" archive HEAD | tar x -C "$root/src" ;;
        'COPY --from=build /out/ /') cp -a "$work/build/out/." "$root/" ;;
        RUN*) env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin ${http_proxy:+http_proxy="$http_proxy"} \
            chroot "$root" sh -ec "$words" >"$work/log" 2>&1 </dev/null || {
            tail -n 20 "$work/log"
            exit 1
        } ;;
        esac
    done
}
run build
run cpu
chroot "$work/cpu" sh -ec 'cd /; for t in /usr/bin/gg-*; do $t --version; done
    test "$(gg-generate -q -n 20 --seed 1 -p "Once upon a time" | wc -w)" -ge 5'
