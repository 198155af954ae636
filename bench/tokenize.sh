#!/bin/bash
# tokenize.sh - MB/s of gg-tokenize: encoding, decoding, threads; start-up time
#
#   bench/tokenize.sh [-r RUNS] [-t THREADS] [-p 'PEER COMMAND'] MODEL TEXT...
#
# For each text (files of some megabytes, say English, code and Chinese):
# encoding with one thread and with THREADS, writing ids as binary and as
# decimal numbers, and decoding. The time of an empty run is taken off, so that
# MB/s are those of the text; what it is, is the line `start`: from exec to the
# ids of a short text, in ms of wall and of user time.
# Runs of all contestants alternate; medians count, since machines are noisy.
# In PEER COMMAND, {m} and {f} stand for model and text; it encodes all of the
# text once. Its time of an empty run is that with an empty file.
# Prints one tab-separated line a contestant and text: model, text, contestant,
# ms, MB/s (10^6 bytes of text), ratio to one thread; `start` last.
set -eu
runs=5 threads=$(nproc) peer=
while getopts r:t:p: o; do
    case $o in
    r) runs=$OPTARG ;;
    t) threads=$OPTARG ;;
    p) peer=$OPTARG ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
test $# -ge 2 || exit 2
model=$1
shift
top=$(cd "$(dirname "$0")/.." && pwd)
build=${GG_BUILD-$top}
PATH=$build/bin/gg-tokenize:$PATH
d=$(mktemp -d)
trap 'rm -rf "$d"' EXIT
: >"$d/empty"

# Contestants, each with a file.
binary() { gg-tokenize -m "$model" --binary u32 "$1" >/dev/null; }
decimal() { gg-tokenize -m "$model" "$1" >/dev/null; }
threaded() {
    gg-tokenize -m "$model" --binary u32 -t "$threads" "$1" >/dev/null
}
decode() { gg-tokenize -m "$model" -d --binary u32 "$1.ids" >/dev/null; }
decode_lines() { gg-tokenize -m "$model" -d "$1.lines" >/dev/null; }
other() {
    local command=${peer//\{m\}/$model}
    eval "${command//\{f\}/$1}" >/dev/null 2>&1
}

now() { date +%s%N; }
once() { # CONTESTANT FILE: microseconds
    local a
    a=$(now)
    "$@"
    echo $((($(now) - a) / 1000))
}
median() { sort -n "$1" | sed -n "$((runs / 2 + 1))p"; }
prepare() { # FILE
    gg-tokenize -q -m "$model" --count "$1" >/dev/null # into memory
    gg-tokenize -m "$model" --binary u32 "$1" >"$1.ids" 2>/dev/null || :
    gg-tokenize -m "$model" "$1" >"$1.lines" 2>/dev/null || :
}

contestants="binary decimal threaded decode decode_lines"
test -z "$peer" || contestants="$contestants other"
name=$(basename "$model")
prepare "$d/empty"
for text; do
    rm -f "$d"/*.us "$d"/*.none
    cp "$text" "$d/text"
    prepare "$d/text"
    for ((run = 0; run < runs; run++)); do
        for who in $contestants; do
            once "$who" "$d/text" >>"$d/$who.us"
            once "$who" "$d/empty" >>"$d/$who.none" 2>/dev/null || :
        done
    done
    size=$(wc -c <"$text")
    for who in $contestants; do
        us=$(($(median "$d/$who.us") - $(median "$d/$who.none")))
        test "$who" != binary || base=$us
        awk -v m="$name" -v t="$(basename "$text")" -v who="$who" \
            -v us="$us" -v size="$size" -v base="$base" 'BEGIN {
                us = us > 0 ? us : 1
                printf "%s\t%s\t%s\t%.1f\t%.1f\t%.2f\n",
                    m, t, who, us / 1000, size / us, base / us }'
    done
done

printf 'Once upon a time' >"$d/short"
rm -f "$d/wall" "$d/user"
TIMEFORMAT='%R %U'
for ((run = 0; run < runs; run++)); do
    { time gg-tokenize -m "$model" "$d/short" >/dev/null; } 2>"$d/time"
    awk '{ print $1 * 1000 }' "$d/time" >>"$d/wall"
    awk '{ print $2 * 1000 }' "$d/time" >>"$d/user"
done
printf '%s\t-\tstart\t%s ms wall\t%s ms user\n' "$name" \
    "$(median "$d/wall")" "$(median "$d/user")"
