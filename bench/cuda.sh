#!/bin/bash
# cuda.sh - builds the CUDA module, checks it, and measures it, on a machine
# with an NVIDIA GPU and without a network; in less than ten minutes
#
#   bench/cuda.sh [OPTION]... [MODEL...]
#
# MODEL is SHAPE:TYPE, made on the spot with random weights; by default
# llama3.2-1b and llama3.1-8b of bf16, q8_0, q4_K and q4_0.
#
#   -b, --build DIR     where to build (cuda-build), and what is built there
#                       already is taken
#   -p, --prompt N      ids of a prompt (2048)
#   -n, --generate N    ids that are decoded (128)
#   -s, --sequences N   of a batch (32)
#       --peer COMMAND  is run with MODEL NPROMPT NGEN behind it, and prints
#                       tokens/s of the prompt and of decoding
#       --no-check      measures only
#
# bench/README.md says what the rows mean.
set -eu
export LC_ALL=C
top=$(cd "$(dirname "$0")/.." && pwd)
build=cuda-build prompt=2048 generate=128 sequences=32 peer= check=yes
misused() {
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
}
while test $# -gt 0; do
    case $1 in
    -b | --build) build=$2 ;;
    -p | --prompt) prompt=$2 ;;
    -n | --generate) generate=$2 ;;
    -s | --sequences) sequences=$2 ;;
    --peer) peer=$2 ;;
    --no-check)
        check=
        shift
        continue
        ;;
    -*) misused ;;
    *) break ;;
    esac
    shift 2 || misused
done
test $# -gt 0 || set -- llama3.2-1b:{bf16,q8_0,q4_K,q4_0} \
    llama3.1-8b:{bf16,q8_0,q4_K,q4_0}

row() {
    local IFS=$'\t'
    printf '%s\n' "$*"
}
say() { printf 'cuda.sh: %4d s: %s\n' "$SECONDS" "$*" >&2; }

# ---- building --------------------------------------------------------------

test -f "$top/configure" || (cd "$top" && ./autogen.sh >&2)
mkdir -p "$build"
cd "$build"
build=$PWD
if ! test -f config.status; then
    say "configuring"
    "$top/configure" -q --with-cuda >&2
fi
say "building"
make -s -j"$(nproc)" >&2
make -s -C bench cuda_bounds shape speed >&2
PATH=$build/bench:$PATH
for t in tokenize eval sample loop generate; do
    PATH=$build/bin/gg-$t:$PATH
done

# ---- checking --------------------------------------------------------------

# Small models of every family and type, on the GPU against the CPU.
check_model() { # NAME
    make_model "$1" small.gguf
    printf '1 2 3 4 5 6 7 8 9 10\n11\n12\n' >ids
    gg-eval -q -m small.gguf --device cpu ids >cpu.logits
    gg-eval -q -m small.gguf --device cuda ids >cuda.logits
    local result=check
    logit_nmse 5e-3 cpu.logits cuda.logits >nmse || result=FAILED
    row "$result" "$1" "$(cat nmse)" nmse - -
}
if test -n "$check"; then
    say "checking"
    make -s -j"$(nproc)" -C tests make_model logit_nmse >&2
    PATH=$build/tests:$PATH
    for f in $(make_model 2>&1 | sed -n 's/^families: //p'); do
        check_model "$f-q8_0"
    done
    for type in f32 f16 bf16 q4_0 mxfp4; do
        check_model "llama-$type"
    done
    for run in 1 2; do
        gg-generate -q --device cuda --seed 1 -n 100 -p Once >story.$run
    done
    cmp story.1 story.2 && row check same-bytes-twice 1 - - -
fi

# ---- measuring -------------------------------------------------------------

say "measuring what the GPU could do"
cuda_bounds >bounds
cat bounds
bound() { awk -F '\t' -v name="$1" '$1 == name { print $2 }' bounds; }
copy=$(bound copy) bf16=$(bound bf16)

row what model value unit GB/s fraction
# Decoding is bound by reading the weights once a token, prompts by products.
measure() { # NAME MODEL
    local p g rest bytes ops
    IFS=$'\t' read -r p g < <(speed --device cuda "$2" 4 "$prompt" "$generate")
    IFS=$'\t' read -r _ bytes ops < <(speed --work "$2")
    awk -v p="$p" -v g="$g" -v bytes="$bytes" -v ops="$ops" -v copy="$copy" \
        -v bf16="$bf16" -v name="$1" -v n="$prompt" 'BEGIN {
        OFS = "\t"
        print "prompt " n, name, p, "tokens/s", "-",
            sprintf("%.3f of bf16", p * ops * 1e-12 / bf16)
        print "decode", name, g, "tokens/s", sprintf("%.0f", g * bytes * 1e-9),
            sprintf("%.3f of copy", g * bytes * 1e-9 / copy) }'
    IFS=$'\t' read -r _ g < \
        <(speed --device cuda "$2" 4 64 "$generate" "$sequences")
    row "batch $sequences" "$1" "$g" tokens/s - -
    test -z "$peer" || row peer "$1" $($peer "$2" "$prompt" "$generate") - -
}

# The pipe against one process: seconds for the same ids.
seconds() {
    local start
    start=$(date +%s.%N)
    "$@" >/dev/null
    awk -v a="$start" -v b="$(date +%s.%N)" 'BEGIN { printf "%.3f", b - a }'
}
pipe() {
    gg-tokenize -m "$1" <text |
        gg-loop "gg-eval -q -m $1 -c 2048 --keep 64 --device cuda |
            gg-sample -n $2 --ignore-eog --seed 1"
}
one() {
    gg-generate -q -m "$1" -c 2048 --device cuda -f text -n "$2" \
        --ignore-eog --seed 1
}
# From the difference of a long run and a short one, so that starting is out.
compare_pipe() { # NAME MODEL
    local a b c d
    echo 'Once upon a time' >text
    a=$(seconds pipe "$2" 8) b=$(seconds pipe "$2" $((8 + generate)))
    c=$(seconds one "$2" 8) d=$(seconds one "$2" $((8 + generate)))
    awk -v a="$a" -v b="$b" -v c="$c" -v d="$d" -v n="$generate" -v name="$1" '
        BEGIN { OFS = "\t"
            print "pipe", name, sprintf("%.3f", (b - a) * 1000 / n),
                "ms/token", "-", sprintf("%.2f of one process", (d > c) ?
                (b - a) / (d - c) : 0)
            print "generate", name, sprintf("%.3f", (d - c) * 1000 / n),
                "ms/token", "-", "-"
            print "start", name, c, "s", "-", "-" }'
}
for model; do
    say "$model"
    shape "${model%%:*}" "${model#*:}" model.gguf
    measure "$model" model.gguf
    case $model in
    *:q8_0) compare_pipe "$model" model.gguf ;;
    esac
    rm model.gguf
done
say "done"
