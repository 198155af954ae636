#!/bin/sh
# 91-dockerfile.sh SOURCE: the CPU stages of packaging/Dockerfile, step by step in
# bare Debians, without Docker; root and mmdebstrap are needed
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
file=$source/packaging/Dockerfile

# The lines of a stage, those that end with a backslash joined.
stage() {
    sed -e ':a' -e '/\\$/{N;s/\\\n *//;ba' -e '}' "$file" |
        awk -v name="$1" '$1 == "FROM" { on = $4 == name; next } on'
}
run() { # STAGE
    root=$work/$1
    make_root "$1" bookworm
    stage "$1" | while read -r step words; do
        echo "-- $1: $step $words"
        case "$step $words" in
        'COPY . /src') mkdir "$root/src" && git -C "$source" archive HEAD | tar x -C "$root/src" ;;
        'COPY --from=build /out/ /') cp -a "$work/build/out/." "$root/" ;;
        RUN*) inside "$(basename "$root")" "$words" >"$work/log" 2>&1 </dev/null || {
            tail -n 20 "$work/log"
            exit 1
        } ;;
        esac
    done
}
run build
run cpu
inside cpu 'cd /; for t in /usr/bin/gg-*; do $t --version; done
    test "$(gg-generate -q -n 20 --seed 1 -p "Once upon a time" | wc -w)" -ge 5'
