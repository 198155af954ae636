#!/bin/sh
# larger.sh - prefill and decoding of a model that is larger than memory, beside
# the disk's speed, the system's own paging and maybe another program
#
# Usage: larger.sh [-r ROUNDS] [-p PROMPT] [-n GENERATE] [-m MIB] [-b GG_BENCH]
#                  [-P PEER] MODEL
#
# As root, with control groups of version 1 or 2. Each program runs in a group
# of MIB (half the model's size), with nothing of the model in memory before.
# PEER is a command that takes MODEL PROMPT GENERATE and prints two numbers,
# tokens/s of either. Rows are medians: the program, tokens/s of prefill, of
# decoding.
set -eu

usage='Usage: larger.sh [-r N] [-p N] [-n N] [-m MIB] [-b GG_BENCH] [-P PEER] MODEL'
rounds=3 prompt=512 generate=32 mib='' peer='' bench=gg-bench
while getopts r:p:n:m:b:P: o; do
    case $o in
    r) rounds=$OPTARG ;;
    p) prompt=$OPTARG ;;
    n) generate=$OPTARG ;;
    m) mib=$OPTARG ;;
    b) bench=$OPTARG ;;
    P) peer=$OPTARG ;;
    *) echo "$usage" >&2; exit 2 ;;
    esac
done
shift $((OPTIND - 1))
model=${1:?"$usage"}
size=$(stat -Lc %s "$model")
mib=${mib:-$((size / 2097152))}

if [ -d /sys/fs/cgroup/memory ]; then
    group=/sys/fs/cgroup/memory/larger$$
    limit=memory.limit_in_bytes
else
    group=/sys/fs/cgroup/larger$$
    limit=memory.max
fi
d=$(mktemp -d)
trap 'rm -rf "$d"; rmdir "$group" 2>/dev/null || :' EXIT

forget()
{
    sync "$model"
    dd of="$model" oflag=nocache conv=notrunc,fdatasync count=0 2>/dev/null
}

# In a group of its own, which ends with it.
limited()
{
    mkdir "$group"
    echo "${mib}M" >"$group/$limit"
    # shellcheck disable=SC2016
    sh -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' "$group" "$@" || echo 0 0
    forget
    rmdir "$group"
}

# Two numbers; "$1" is the memory for weights, or nothing.
ours()
{
    # shellcheck disable=SC2086
    limited env ${1:+GG_WEIGHT_MEMORY=$1} "$bench" -q --tsv --bandwidth 1 \
        --peak 1 -r 1 -p "$prompt" -n "$generate" "$model" |
        awk -F '\t' '$12 + 0 > 0 { printf "%s ", $12 } END { print "" }'
}

# The file's first 2 GB, past the cache.
disk()
{
    LC_ALL=C dd if="$model" of=/dev/null bs=4M count=512 iflag=direct 2>&1 |
        awk '/copied/ { print int($1 / $(NF - 3) / 1e6) }'
}

median()
{
    sort -n | awk '{ x[NR] = $1 } END { print x[int((NR + 1) / 2)] }'
}

row()
{
    printf '%s\t%s\t%s\n' "$1" "$(awk '{ print $1 + 0 }' "$2" | median)" \
        "$(awk '{ print $2 + 0 }' "$2" | median)"
}

forget
for _ in $(seq "$rounds"); do
    disk >>"$d/disk"
    ours '' >>"$d/ours"
    ours 1000000G >>"$d/paging"
    [ -z "$peer" ] ||
        limited "$peer" "$model" "$prompt" "$generate" >>"$d/peer"
done
printf 'disk, MB/s\t%s\n' "$(median <"$d/disk")"
printf 'memory, MiB\t%s of %s\n' "$mib" $((size / 1048576))
printf 'program\tprefill\tdecode\n'
row gg "$d/ours"
row 'gg, the system pages' "$d/paging"
[ -z "$peer" ] || row "${peer##*/}" "$d/peer"
