#!/bin/bash
# bench.sh - how near the tools come to what the machine could do
#
#   bench/bench.sh [OPTION]... MODEL...
#
# MODEL is a file; or SHAPE:TYPE, which is made once: that shape with random
# weights of that type. bench/README.md lists the shapes.
#
#   -r, --runs N           of each contestant (5); medians are printed
#   -t, --threads N        (one for each processor)
#   -p, --prompt N         ids of a prompt (512)
#   -n, --generate N       ids that are decoded (64)
#   -b, --batch SIZES      sequences of a batch ("8")
#   -w, --what LIST        of "bounds speed batch start pipe threads train encode";
#                          encode: MODEL is a projector file
#       --peer COMMAND     is run with the arguments MODEL THREADS NPROMPT NGEN,
#                          and prints tokens/s of prefill and of decoding
#       --kernels [WORD]   times kernels instead; WORD: those named so
#
# bench/README.md says what the rows mean and how to compare two revisions.
set -eu
export LC_ALL=C
unset GG_MODEL # each is named
runs=5 threads=$(nproc) prompt=512 generate=64 peer= kernels= sizes=8
what='bounds speed start pipe'
misused() {
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
}
while test $# -gt 0; do
    case $1 in
    -r | --runs) runs=$2 ;;
    -t | --threads) threads=$2 ;;
    -p | --prompt) prompt=$2 ;;
    -n | --generate) generate=$2 ;;
    -b | --batch) sizes=$2 ;;
    -w | --what) what=$2 ;;
    --peer) peer=$2 ;;
    --kernels)
        kernels=yes
        shift
        break
        ;;
    -*) misused ;;
    *) break ;;
    esac
    shift 2 || misused
done
top=$(cd "$(dirname "$0")/.." && pwd)
build=${GG_BUILD-$top}
if test -n "$kernels"; then
    exec "$build/tests/cpu/check_kernels" --bench "$@"
fi
test $# -gt 0 || misused
PATH=$build/bench:$PATH
PATH=$build/bench/.libs:$PATH # programs themselves, not libtool's scripts
for t in bench tokenize eval sample loop generate train encode; do
    PATH=$build/bin/gg-$t/.libs:$build/bin/gg-$t:$PATH
done
# ours COMMAND...: those find the library that was built with them.
ours() {
    LD_LIBRARY_PATH=$build/lib/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} "$@"
}
d=$(mktemp -d)
trap 'rm -rf "$d"' EXIT

# ---- numbers: one a line in a file -------------------------------------------

median() { # FILE
    sort -g "$1" | awk '{ x[NR] = $1 }
        END { half = int((NR + 1) / 2)
              if (NR) print (x[half] + x[NR + 1 - half]) / 2 }'
}
each() { # EXPRESSION FILE...: of the fields of the files' lines, side by side
    local expression=$1
    shift
    paste "$@" | awk "{ print $expression }"
}
# Fields that do not apply are "-".
row() {
    local IFS=$'\t'
    printf '%s\n' "$*"
}
short() { # NUMBER: four digits of it
    awk -v x="$1" 'BEGIN {
        if (x == "-" || x == "") { print "-"; exit }
        digits = (x >= 1000) ? 0 : (x >= 100) ? 1 : (x >= 10) ? 2 : 3
        printf "%." digits "f\n", x }'
}

# ---- bounds ------------------------------------------------------------------

print_bounds() {
    local counts=1
    test "$threads" = 1 || counts=1,$threads
    ours gg-bench --bounds --tsv -t "$counts" | tail -n +2 |
        while IFS=$'\t' read -r name isa n value unit; do
            test "$isa" = - || name="$name $isa"
            row "bound $name" - - "$n" "$value" "$unit" - - - - - - - -
        done
}

# ---- tokens a second ---------------------------------------------------------

# measure OPTION... MODEL: a line of gg-bench's figures, for each of its calls:
# rate, min, max, GB/s, GOP/s, the bound's rate, fraction.
measure() {
    ours gg-bench -q --tsv -t "$threads" "$@" | tail -n +2 | cut -f 12-16,18-
}
# Ours and the peer's in turn; without a peer gg-bench makes all runs by itself.
run_speed() { # MODEL PROMPT SEQUENCES
    local i with= rounds=1 each=$runs
    rm -f "$d"/run.*
    if test -n "$peer" && test "$3" = 1; then
        with=peer rounds=$runs each=1
    fi
    for ((i = 0; i < rounds; i++)); do
        test "$3" != 1 ||
            measure -r "$each" -p "$2" -n 0 "$1" >>"$d/run.1"
        measure -r "$each" -p 0 -n "$generate" -d "$2" -b "$3" "$1" >>"$d/run.2"
        test -z "$with" ||
            $peer "$1" "$threads" "$prompt" "$generate" >>"$d/run.peer"
    done
}

# Field 1 is of prefill, 2 of decoding.
peer_fields() { # FIELD
    if test -f "$d/run.peer"; then
        each "\$$1" "$d/run.peer" >"$d/peer"
        each '$1 / $2' <(cut -f 1 "$d/run.$1") "$d/peer" >"$d/ratio"
        short "$(median "$d/peer")"
        short "$(median "$d/ratio")"
    else
        echo -
        echo -
    fi
}

# The median of a field of the rounds, its least value, its most.
figure() {
    each "\$$1" "$d/run.$2" >"$d/figure"
    if grep -q '^-$' "$d/figure"; then echo -; else median "$d/figure"; fi
}
least() { each "\$$1" "$d/run.$2" | sort -g | head -n 1; }
most() { each "\$$1" "$d/run.$2" | sort -g | tail -n 1; }

speed_row() { # MODEL WHAT N FIELD
    local gbs=- gops=-
    if test "$4" = 1; then
        gops=$(short "$(figure 5 1)")
    else
        gbs=$(short "$(figure 4 2)")
    fi
    mapfile -t other < <(peer_fields "$4")
    row "$2" "$1" "$3" "$threads" "$(short "$(figure 1 "$4")")" tokens/s \
        "$gbs" "$gops" "$(short "$(figure 6 "$4")")" \
        "$(short "$(figure 7 "$4")")" "$(least 2 "$4")" \
        "$(most 3 "$4")" "${other[@]}"
}

# Prefill with one thread and with all, in turn.
threads_row() { # MODEL NAME
    local all=$threads
    ours gg-bench -q --tsv -r "$runs" -t "1,$all" -p "$prompt" -n 0 "$1" |
        tail -n +2 | cut -f 12 >"$d/rates"
    row threads "$2" "$prompt" "$all" "$(tail -n 1 "$d/rates")" tokens/s - - \
        "$(short "$(awk -v n="$all" 'NR == 1 { print $1 * n }' "$d/rates")")" \
        "$(awk -v n="$all" '{ rate[NR] = $1 }
            END { printf "%.3f", rate[NR] / rate[1] / n }' "$d/rates")" - - - -
}

# ---- whole tools -------------------------------------------------------------

# Milliseconds from exec to the first token.
start_row() { # MODEL NAME
    rm -f "$d/ms"
    for ((i = 0; i < runs; i++)); do
        ours first gg-generate -q -m "$1" -t "$threads" -p 'Once upon a time' -n 1 \
            --temp 0 --ignore-eog | cut -f 1 >>"$d/ms"
    done
    row start "$2" 1 "$threads" "$(short "$(median "$d/ms")")" ms \
        - - - - - - - -
}

# A prompt in a loop that does not end early: the model may like to stop.
one() { # MODEL TOKENS
    ours gg-generate -q -m "$1" -t "$threads" -f "$d/prompt" -n "$2" \
        --ignore-eog --temp 0 >/dev/null
}
pipe() { # MODEL TOKENS
    ours gg-tokenize -q -m "$1" <"$d/prompt" |
        ours gg-loop "gg-eval -q -m '$1' -t $threads |
            gg-sample --temp 0 --ignore-eog -n $2" |
        ours gg-tokenize -q -m "$1" -d >/dev/null
}

# Milliseconds of a token or step: many less few, free of start-up.
cost() { # CONTESTANT MODEL NUMBER
    local a b c few=$(($3 / 8 + 1))
    a=$EPOCHREALTIME
    "$1" "$2" "$few"
    b=$EPOCHREALTIME
    "$1" "$2" "$((few + $3))"
    c=$EPOCHREALTIME
    awk -v a="$a" -v b="$b" -v c="$c" -v n="$3" 'BEGIN {
        print ((c - b) - (b - a)) * 1e3 / n }'
}
pipe_row() { # MODEL NAME
    rm -f "$d/one" "$d/pipe"
    printf 'Once upon a time there was a little' >"$d/prompt"
    for ((i = 0; i < runs; i++)); do
        cost one "$1" "$generate" >>"$d/one"
        cost pipe "$1" "$generate" >>"$d/pipe"
    done
    each '$1 / $2' "$d/one" "$d/pipe" >"$d/fraction"
    row pipe "$2" "$generate" "$threads" "$(short "$(median "$d/pipe")")" \
        ms/token - - "$(short "$(median "$d/one")")" \
        "$(printf %.3f "$(median "$d/fraction")")" - - - -
}

# Steps of an adapter of rank 16, each over a row of ids.
steps() { # MODEL NUMBER
    ours gg-train -q -m "$1" -t "$threads" --rank 16 -c "$prompt" --batch 1 \
        --steps "$2" -o "$d/adapter" "$d/ids"
}

# Products with weights, forward and backward through their inputs; what is the
# adapter's own, and attention, is not counted.
train_row() { # MODEL NAME
    local bound gops ops
    rm -f "$d/ms"
    bound=$(ours gg-bench --bounds --tsv -t "$threads" |
        awk -F '\t' '$1 == "f32" && $4 > most { most = $4 } END { print most }')
    ops=$(measure -r 1 -p 0 -n 1 --bandwidth 1 --peak 1 "$1" |
        awk '{ print $5 * 1e9 / $1 }')
    seq 100 $((99 + prompt)) | paste -s -d ' ' >"$d/ids"
    for ((i = 0; i < runs; i++)); do
        cost steps "$1" 4 >>"$d/ms"
    done
    gops=$(each "2 * $ops * $prompt / \$1 / 1e6" "$d/ms" | median -)
    row train "$2" "$prompt" "$threads" \
        "$(short "$(each "$prompt / \$1 * 1e3" "$d/ms" | median -)")" tokens/s \
        - "$(short "$gops")" "$bound" \
        "$(awk -v a="$gops" -v b="$bound" 'BEGIN { printf "%.3f", a / b }')" \
        - - - -
}

# Media that differ: pictures of 1,024 x 768 pixels, or else 29 s of sound.
raw=()
make_media() { # COUNT
    local i head='P6 1024 768 255\n' size=2359296
    if test ${#raw[@]} -gt 0; then
        head= size=928000
    fi
    for ((i = 1; i <= $1; i++)); do
        {
            # shellcheck disable=SC2059
            printf "$head"
            yes "a medium, and its number is $i" | head -c $size
        } >"$d/medium.$i"
    done
}
rows_of_medium() { # PROJECTOR
    ours gg-encode -q --list --mmproj "$1" "${raw[@]}" "$d/medium.1" 2>"$d/why" |
        awk -F '\t' '$2 == "all" { print $3 + 0 }'
}
encode() { # PROJECTOR COUNT
    local files
    mapfile -t files < <(seq -f "$d/medium.%g" "$2")
    ours gg-encode -q -t "$threads" --mmproj "$1" --npy "$d/npy" "${raw[@]}" \
        "${files[@]}"
}

# Milliseconds of a medium, and how many rows it becomes.
encode_row() { # PROJECTOR NAME
    local n i
    raw=()
    make_media 3
    n=$(rows_of_medium "$1")
    if test -z "$n"; then
        raw=(--raw 16000)
        make_media 3
        n=$(rows_of_medium "$1")
    fi
    test -n "$n" || { cat "$d/why" >&2; exit 1; }
    rm -f "$d/ms"
    for ((i = 0; i < runs; i++)); do
        cost encode "$1" 2 >>"$d/ms"
    done
    row encode "$2" "$n" "$threads" "$(short "$(median "$d/ms")")" ms/medium \
        - - - - - - - -
}

# ------------------------------------------------------------------------------

# The file of a shape is made under another name, so that it is whole.
file_of() { # MODEL
    local shape=${1%%:*} type=${1#*:} file
    if test -f "$1" || test "$shape" = "$1"; then
        printf '%s\n' "$1"
        return
    fi
    file=$build/bench/$shape-$type.gguf
    if ! test -f "$file"; then
        ours shape "$shape" "$type" "$file.part" && mv "$file.part" "$file"
    fi
    printf '%s\n' "$file"
}

wants() { [[ " $what " == *" $1 "* ]]; }

row what model n threads value unit GB/s GOP/s bound fraction min max \
    peer ratio
! wants bounds || print_bounds
for model; do
    model=$(file_of "$model")
    name=$(basename "$model")
    cat "$model" >/dev/null # into memory
    if wants speed; then
        run_speed "$model" "$prompt" 1
        speed_row "$name" prefill "$prompt" 1
        speed_row "$name" decode "$generate" 2
    fi
    for size in $(wants batch && echo "$sizes"); do
        run_speed "$model" 16 "$size"
        speed_row "$name" "batch $size" "$generate" 2
    done
    ! wants threads || threads_row "$model" "$name"
    ! wants start || start_row "$model" "$name"
    ! wants pipe || pipe_row "$model" "$name"
    ! wants train || train_row "$model" "$name"
    ! wants encode || encode_row "$model" "$name"
done
