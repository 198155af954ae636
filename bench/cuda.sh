#!/bin/bash
# cuda.sh - builds the CUDA module, checks it, and measures it, on a machine
# with an NVIDIA GPU and without a network; in less than ten minutes
#
#   bench/cuda.sh [OPTION]... [MODEL...]
#
# MODEL is SHAPE:TYPE, made on the spot with random weights, or a GGUF file; by
# default llama3.1-8b and llama3.2-1b of bf16, q8_0, q4_K and q4_0.
#
#   -b, --build DIR     where to build (cuda-build), and what is built there
#                       already is taken
#   -p, --prompt N      ids of a prompt (2048)
#   -n, --generate N    ids that are decoded (128)
#   -s, --sequences N   of a batch (32)
#       --peer COMMAND  is run with the arguments MODEL NPROMPT NGEN, and prints
#                       tokens/s of prefill and of decoding
#       --limit S       begins no other model after so many seconds (540)
#       --no-build      everything is built in DIR, here or on another machine
#       --only-build    builds everything, and ends
#       --no-check      measures only
#       --no-measure    checks only
#       --quick         fewer checks
#       --sanitize      checks by compute-sanitizer, too (half an hour)
#
# What fails is a row that says FAILED, and the rest goes on; the end is 1 then.
# bench/README.md says what the rows mean.
set -u
export LC_ALL=C
top=$(cd "$(dirname "$0")/.." && pwd)
build=cuda-build prompt=2048 generate=128 sequences=32 peer= limit=540
make=yes check=yes measure=yes sanitize= failed=0
parts='face ops fuse attention products training opt' families= types='f32 f16 bf16 q4_0 mxfp4'
misused() {
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
}
while test $# -gt 0; do
    case $1 in
    --no-build) make= ;;
    --only-build) check='' measure='' ;;
    --no-check) check= ;;
    --no-measure) measure= ;;
    --sanitize) sanitize=yes ;;
    --quick) parts=${CUDA_PARTS-ops fuse} families=llama types=bf16 ;;
    -*)
        test $# -gt 1 || misused
        case $1 in
        -b | --build) build=$2 ;;
        -p | --prompt) prompt=$2 ;;
        -n | --generate) generate=$2 ;;
        -s | --sequences) sequences=$2 ;;
        --peer) peer=$2 ;;
        --limit) limit=$2 ;;
        *) misused ;;
        esac
        shift
        ;;
    *) break ;;
    esac
    shift
done
test $# -gt 0 || set -- llama3.1-8b:{bf16,q8_0} llama3.2-1b:{bf16,q8_0} \
    llama3.1-8b:{q4_K,q4_0} llama3.2-1b:{q4_K,q4_0}

row() {
    local IFS=$'\t'
    printf '%s\n' "$*"
}
say() { printf 'cuda.sh: %4d s: %s\n' "$SECONDS" "$*" >&2; }
fail() {
    failed=1
    row FAILED "$@"
}
die() {
    say "$*"
    exit 1
}

# ---- building --------------------------------------------------------------

build_all() {
    test -f "$top/configure" || (cd "$top" && ./autogen.sh >&2) || return 1
    mkdir -p "$build" || return 1
    if ! test -f "$build/config.status"; then
        say "configuring"
        (cd "$build" && "$top/configure" -q --with-cuda >&2) || return 1
    fi
    say "building"
    make -s -C "$build" -j"$(nproc)" >&2 &&
        make -s -C "$build/bench" shape >&2 &&
        make -s -C "$build/tests" -j"$(nproc)" make_model logit_nmse \
            cuda/device_{face,ops,fuse,attention,products} >&2 || return 1
    make -s -C "$build/bench" cuda_bounds >&2 ||
        say "without cuBLAS's headers there are no bounds"
}
test -z "$make" || build_all || die "the build failed"
build=$(cd "$build" && pwd) || exit 1

# The binaries that libtool built, in place of its scripts, which hold the path.
for d in bin/gg-{bench,tokenize,eval,sample,loop,generate} bench tests tests/cuda; do
    PATH=$build/$d/.libs:$build/$d:$PATH
done
LD_LIBRARY_PATH=$build/lib/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
GG_CUDA_MODULE=${GG_CUDA_MODULE-$(echo "$build"/lib/.libs/libggml-cuda-*.so)}
export PATH LD_LIBRARY_PATH GG_CUDA_MODULE
test -n "$check$measure$sanitize" || exit 0
work=$(mktemp -d "${TMPDIR:-$PWD}/cuda.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
GG_MODEL=$top/demo/gg-story.gguf
export GG_MODEL
echo 1 >ids
gg-eval -q --device cuda ids >/dev/null || die "the GPU cannot be used"

# ---- checking --------------------------------------------------------------

# Each kernel, by the tests of kernels, against the CPU.
check_kernels() { # PART
    device_$1 >tap 2>&1
    local status=$? bad good
    bad=$(grep -c '^not ok' tap) good=$(grep -c '^ok' tap)
    if test $status -eq 0 -a "$bad" -eq 0 -a "$good" -gt 0; then
        row check "kernels: $1" "$good" passed - -
        return
    fi
    fail "kernels: $1" "$bad" "of $((bad + good))" "status $status" -
    grep '^not ok\|^[^o#1-9]' tap | head -n 20 >&2
}

# Small models of every family and type, on the GPU against the CPU.
check_model() { # NAME
    printf '1 2 3 4 5 6 7 8 9 10\n11\n12\n' >ids
    if make_model "$1" small.gguf &&
        gg-eval -q -m small.gguf --device cpu ids >cpu.logits &&
        gg-eval -q -m small.gguf --device cuda ids >cuda.logits &&
        logit_nmse 5e-3 cpu.logits cuda.logits >nmse; then
        row check "$1" "$(cat nmse)" nmse - -
    else
        fail "$1" "$(cat nmse)" nmse - -
    fi
}

check_all() {
    for part in $parts; do
        check_kernels $part
    done
    for f in ${families:-$(make_model 2>&1 | sed -n 's/^families: //p')}; do
        check_model "$f-q8_0"
    done
    for type in $types; do
        check_model "llama-$type"
    done
    for run in 1 2; do
        gg-generate -q --device cuda --seed 1 -n 40 -p Once >story.$run
    done
    if test -s story.1 && cmp story.1 story.2; then
        row check "same bytes twice" 1 - - -
    else
        fail "same bytes twice" 0 - - -
    fi
}
row what model value unit GB/s fraction
if test -n "$check"; then
    say "checking"
    check_all
fi
if test -n "$sanitize"; then
    say "checking by compute-sanitizer"
    sh "$top/tests/cuda-sanitizer.sh" "$build" >sanitizer || failed=1
    while IFS= read -r line; do
        row sanitizer "$line" - -
    done <sanitizer
fi

# ---- measuring -------------------------------------------------------------

# Fields of gg-bench: tokens/s, GB/s, the bound, the fraction of it.
on_gpu() { # OPTION...
    local bounds=()
    test -z "$copy" || bounds+=(--bandwidth "$copy")
    test -z "$bf16" || bounds+=(--peak "$(awk -v x="$bf16" 'BEGIN { print x * 1000 }')")
    gg-bench -q --tsv --device cuda -t 4 -r 1 --batch-size 2048 "${bounds[@]}" \
        "$@" | tail -n +2 | cut -f 12,15,17,19
}
of_bound() { # BOUND FRACTION
    local name=$1
    test "$1" = memory && name=copy
    test "$1" = - -o "$1" = memory || name=bf16
    if test "$2" = -; then echo -; else echo "$2 of $name"; fi
}

measure() { # NAME MODEL
    local p= g= gbs= bound= fraction=
    IFS=$'\t' read -r p _ bound fraction < <(on_gpu -p "$prompt" -n 0 "$2")
    if test -z "$fraction"; then
        fail "$1" speed - - -
        return
    fi
    row "prefill $prompt" "$1" "$p" tokens/s - "$(of_bound "$bound" "$fraction")"
    IFS=$'\t' read -r g gbs bound fraction < \
        <(on_gpu -p 0 -n "$generate" -d "$prompt" "$2")
    if test -z "$fraction"; then
        fail "$1" speed - - -
        return
    fi
    row decode "$1" "$g" tokens/s "$gbs" "$(of_bound "$bound" "$fraction")"
    measure_batch "$1" "$2"
    test -z "$peer" || measure_peer "$1" "$2" "$p" "$g"
}

measure_batch() { # NAME MODEL
    local g=
    IFS=$'\t' read -r g _ < \
        <(on_gpu -p 0 -n "$generate" -d 64 -b "$sequences" "$2")
    if test -n "$g"; then
        row "batch $sequences" "$1" "$g" tokens/s - -
    else
        fail "$1" "batch $sequences" - - -
    fi
}

ratio() { # OURS THEIRS
    awk -v x="$1" -v y="$2" 'BEGIN {
        if (y > 0) printf "%.3f of ours", x / y
        else print "-" }'
}
measure_peer() { # NAME MODEL OURS OURS
    local p= g=
    read -r p g < <($peer "$2" "$prompt" "$generate")
    if test -z "$g"; then
        fail "$1" "peer" - - -
        return
    fi
    row "peer prefill $prompt" "$1" "$p" tokens/s - "$(ratio "$3" "$p")"
    row "peer decode" "$1" "$g" tokens/s - "$(ratio "$4" "$g")"
}

# The pipe against one process: seconds for the same ids.
seconds() {
    local start
    start=$(date +%s.%N)
    "$@" >/dev/null || return 1
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
    if ! { a=$(seconds pipe "$2" 8) && b=$(seconds pipe "$2" $((8 + generate))) &&
        c=$(seconds one "$2" 8) && d=$(seconds one "$2" $((8 + generate))); }; then
        fail "$1" pipe - - -
        return
    fi
    awk -v a="$a" -v b="$b" -v c="$c" -v d="$d" -v n="$generate" -v name="$1" '
        BEGIN { OFS = "\t"
            ratio = d > c ? (b - a) / (d - c) : 0
            print "pipe", name, sprintf("%.3f", (b - a) * 1000 / n),
                "ms/token", "-", sprintf("%.2f of one process", ratio)
            print "generate", name, sprintf("%.3f", (d - c) * 1000 / n),
                "ms/token", "-", "-"
            print "start", name, c, "s", "-", "-" }'
}

# A link to a file that is there, or a model of a shape.
make_one() { # MODEL
    rm -f model.gguf
    case $1 in
    *.gguf) ln -s "$1" model.gguf ;;
    *) shape "${1%%:*}" "${1#*:}" model.gguf ;;
    esac
}
if test -n "$measure"; then
    say "measuring what the GPU could do"
    : >bounds
    "${CUDA_BOUNDS-cuda_bounds}" >bounds || fail bounds - - - -
    awk -F '\t' '{ print "bound", $1, $2, $3, "-", "-" }' OFS='\t' bounds
    bound() { awk -F '\t' -v name="$1" '$1 == name { print $2 }' bounds; }
    copy=$(bound copy) bf16=$(bound bf16)
    for model; do
        if test "$SECONDS" -gt "$limit"; then
            say "no time is left for $model"
            continue
        fi
        say "$model"
        make_one "$model" || { fail "$model" shape - - -; continue; }
        measure "$model" model.gguf
        case $model in
        *[qQ]8_0*) compare_pipe "$model" model.gguf ;;
        esac
    done
fi
say "done"
exit $failed
