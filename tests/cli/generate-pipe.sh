# One process, gg-loop's pipe and a named pipe's give the same bytes, with any
# number of threads, and every process ends 0.
"$top_builddir/tests/make_model" llama-q4_0 random.gguf || exit 99
printf 'It was a dark \377\000and stormy night\n' >prompt

compare() {
    n=$1 s=$2
    gg-generate -f prompt -n "$n" -s "$s" >want || echo "gg-generate: $?"
    for t in 1 2 3; do
        gg-generate -t $t -n "$n" --seed "$s" <prompt | cmp - want
        bash -o pipefail -c "gg-tokenize <prompt |
            gg-loop 'gg-eval -t $t | gg-sample -n $n --seed $s' |
            gg-tokenize -d | cmp - want" || echo "gg-loop: $?"
        rm -f loop
        mkfifo loop
        bash -o pipefail -c "{ gg-tokenize <prompt && cat; } <loop |
            gg-eval -t $t | gg-sample -n $n --seed $s | tee loop |
            gg-tokenize -d | cmp - want" || echo "named pipe: $?"
    done
}
if test -f "$GG_MODEL"; then
    compare 20 1
    compare 300 2 # it may end before
fi
GG_MODEL=random.gguf
export GG_MODEL
compare 1 1
compare 80 18446744073709551615
gg-generate -f prompt -n 80 -s 3 --temp 1.5 --top-k 0 --top-p 1 >want
gg-tokenize <prompt | gg-eval --f16 >logits && test -s logits
gg-tokenize <prompt | gg-loop 'gg-eval | gg-sample -n 80 -s 3 --temp 1.5 \
    --top-k 0 --top-p 1' | gg-tokenize -d | cmp - want
gg-generate -f prompt -n 20 --greedy >want
gg-tokenize <prompt | gg-loop 'gg-eval --top 1 | gg-sample -n 20' |
    gg-tokenize -d | cmp - want
