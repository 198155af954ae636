#!/bin/sh
# cache.sh - what types of the KV cache cost: KL divergence of the next id's
# distribution from that with F16, how often the likeliest is another, perplexity
#
# Usage: cache.sh MODEL IDS [KEYS,VALUES[,off]]...
#
# IDS has one line of ids. `off`: not rotated. The stream with F16 is a file in
# $TMPDIR: four bytes of each id of the vocabulary for each id of the line.
set -eu

model=${1:?"Usage: $0 MODEL IDS [KEYS,VALUES[,off]]..."}
ids=${2:?"Usage: $0 MODEL IDS [KEYS,VALUES[,off]]..."}
shift 2
d=$(mktemp -d)
trap 'rm -rf "$d"' EXIT
mkfifo "$d/other"
[ $# -gt 0 ] || set -- f32,f32 bf16,bf16 q8_0,q8_0 q8_0,q5_0 q8_0,q4_0 q5_0,q5_0 \
    q5_0,q4_0 q4_0,q8_0 q4_0,q4_0 q5_0,q5_0,off q8_0,q4_0,off q4_0,q8_0,off \
    q4_0,q4_0,off

# A row of each record has the divergence, the likeliest ids of both, and the
# probabilities of the id that came.
summary()
{
    awk -F'\t' '
        $2 ~ /^[0-9]+$/ {
            n++; kl += $3; other += $4 != $5
            if ($8 > 0) { ids++; p += log($8) }
        }
        END { printf "%.5f\t%.2f%%\t%.4f\n", kl / n, 100 * other / n,
                     exp(-p / ids) }' "$1"
}

gg-eval -q -m "$model" --every "$ids" >"$d/f16"
printf 'keys\tvalues\trotated\tKL\tother top\tperplexity\n'
for form; do
    k=${form%%,*} rest=${form#*,}
    v=${rest%%,*} rotation=on
    case $form in *,off) rotation=off ;; esac
    gg-eval -q -m "$model" --every --cache-type-k "$k" --cache-type-v "$v" \
        --cache-rotation "$rotation" "$ids" >"$d/other" &
    gg-logits --diff "$d/f16" "$d/other" >"$d/rows"
    wait
    printf '%s\t%s\t%s\t%s\n' "$k" "$v" "$rotation" "$(summary "$d/rows")"
done
