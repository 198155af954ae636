#!/bin/bash
# decode.sh - milliseconds a generated token: one process, the pipe, a peer
#
#   bench/decode.sh [-r RUNS] [-t THREADS] [-n TOKENS] [-p 'PEER COMMAND'] MODEL...
#
# Each run generates few tokens, then many; the difference of the two times
# over the difference of the counts is the cost of a token, free of start-up.
# Runs of all contestants alternate; medians count, since machines are noisy.
# In PEER COMMAND, {m} {n} {t} stand for model, tokens and threads; it must
# generate exactly {n} tokens. Prints one tab-separated line a contestant:
# model, contestant, median ms a token, tokens/s, ratio to gg-generate.
set -eu
runs=5 threads=$(nproc) tokens=100 peer=
while getopts r:t:n:p: o; do
    case $o in
    r) runs=$OPTARG ;;
    t) threads=$OPTARG ;;
    n) tokens=$OPTARG ;;
    p) peer=$OPTARG ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
top=$(cd "$(dirname "$0")/.." && pwd)
build=${GG_BUILD-$top}
for t in tokenize eval sample loop generate; do
    PATH=$build/bin/gg-$t:$PATH
done
few=$((tokens / 10 + 1))
many=$((few + tokens))
d=$(mktemp -d)
trap 'rm -rf "$d"' EXIT
printf 'Once upon a time there was a little' >"$d/prompt"

# A prompt in a loop that does not end early: the model may like to stop.
one() { # MODEL TOKENS
    gg-generate -q -m "$1" -t "$threads" -f "$d/prompt" -n "$2" \
        --ignore-eog --temp 0 >/dev/null
}
pipe() {
    gg-tokenize -q -m "$1" <"$d/prompt" |
        gg-loop "gg-eval -q -m '$1' -t $threads |
            gg-sample --temp 0 --ignore-eog -n $2" |
        gg-tokenize -q -m "$1" -d >/dev/null
}
other() {
    local command=${peer//\{m\}/$1}
    command=${command//\{n\}/$2}
    eval "${command//\{t\}/$threads}" >/dev/null 2>&1
}

now() { date +%s%N; }
cost() { # CONTESTANT MODEL: microseconds a token
    local a b c
    a=$(now)
    "$1" "$2" "$few"
    b=$(now)
    "$1" "$2" "$many"
    c=$(now)
    echo $(((c - b - (b - a)) / tokens / 1000))
}
median() { sort -n "$1" | sed -n "$((runs / 2 + 1))p"; }

contestants="one pipe"
test -z "$peer" || contestants="$contestants other"
for model; do
    rm -f "$d"/*.us
    for ((run = 0; run < runs; run++)); do
        for who in $contestants; do
            cost "$who" "$model" >>"$d/$who.us"
        done
    done
    base=$(median "$d/one.us")
    for who in $contestants; do
        us=$(median "$d/$who.us")
        awk -v m="$(basename "$model")" -v who="$who" -v us="$us" \
            -v base="$base" 'BEGIN { printf "%s\t%s\t%.3f\t%.1f\t%.3f\n",
            m, who, us / 1000, 1e6 / us, us / base }'
    done
done
