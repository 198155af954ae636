#!/bin/bash
# batch.sh - what sequences gain that are evaluated together
#
#   bench/batch.sh [-r RUNS] [-t THREADS] [-n TOKENS] [-b 'SIZES'] MODEL...
#
# For each of SIZES ("1 2 4 8") so many sequences go round in gg-loop at once,
# in gg-eval's batches of as many. Each run generates few tokens, then many, a
# sequence; the difference of the two times over the difference of the counts
# is the cost of a token, free of start-up and of prompts. Runs of all sizes
# alternate; medians count, since machines are noisy. Prints one tab-separated
# line a size: model, sequences, median ms a token, tokens/s of all sequences,
# ratio to the first of SIZES.
set -eu
runs=5 threads=$(nproc) tokens=50 sizes='1 2 4 8'
while getopts r:t:n:b: o; do
    case $o in
    r) runs=$OPTARG ;;
    t) threads=$OPTARG ;;
    n) tokens=$OPTARG ;;
    b) sizes=$OPTARG ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
top=$(cd "$(dirname "$0")/.." && pwd)
build=${GG_BUILD-$top}
for t in tokenize eval sample loop; do
    PATH=$build/bin/gg-$t:$PATH
done
few=$((tokens / 10 + 1))
many=$((few + tokens))
d=$(mktemp -d)
trap 'rm -rf "$d"' EXIT

prompts() { # MODEL SEQUENCES
    for ((s = 1; s <= $2; s++)); do
        printf '%d\t' $s
        printf 'Story %d: once upon a time there was a' $s |
            gg-tokenize -q -m "$1"
    done
}
loop() { # MODEL SEQUENCES TOKENS
    gg-loop --batch "$2" "gg-eval -q -m '$1' -t $threads --batch $2 |
        gg-sample --temp 0 --ignore-eog -n $3" <"$d/prompts.$2" >/dev/null
}

now() { date +%s%N; }
cost() { # MODEL SEQUENCES: nanoseconds a token
    local a b c
    a=$(now)
    loop "$1" "$2" "$few"
    b=$(now)
    loop "$1" "$2" "$many"
    c=$(now)
    echo $(((c - b - (b - a)) / tokens / $2))
}
median() { sort -n "$1" | sed -n "$((runs / 2 + 1))p"; }

for model; do
    rm -f "$d"/*.ns
    for size in $sizes; do
        prompts "$model" "$size" >"$d/prompts.$size"
    done
    for ((run = 0; run < runs; run++)); do
        for size in $sizes; do
            cost "$model" "$size" >>"$d/$size.ns"
        done
    done
    base=$(median "$d/${sizes%% *}.ns")
    for size in $sizes; do
        awk -v m="$(basename "$model")" -v size="$size" -v base="$base" \
            -v ns="$(median "$d/$size.ns")" 'BEGIN {
            printf "%s\t%s\t%.3f\t%.1f\t%.2f\n",
                m, size, ns / 1e6, 1e9 / ns, base / ns }'
    done
done
