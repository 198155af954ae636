# --choice against the pipe that scores the same ids, and what it refuses.
test -f "$GG_MODEL" || { echo "no demo model" >&2 && exit 77; }
text='Once upon a time, there was a little girl called Mary. One day,'

echo 'the likeliest, and the scores of all:'
gg-generate -p "$text" --choice ' Tom, Mary, asked'
echo
gg-generate -p "$text" --choice ' Tom, Mary, asked' --scores >scores
cut -f 2,3 scores
for label in ' Mary' ' asked' ' Tom'; do
    printf '%s\t%s\n' "$text" "$label"
done | gg-tokenize --lines --fields | gg-eval --score |
    awk '$2 == 2 { print $4 "\t" $3 }' | LC_ALL=C sort -t '	' -k 2,2gr >want
cut -f 1,2 scores | cmp - want

echo 'a blank is in front of a choice, or behind the prompt:'
gg-generate -p "$text " --choice Tom --choice Mary,asked --scores |
    sed 's/	\([^	]*	[^	]*\)$/	 \1/' | cmp - scores
awk -F '\t' '{ sum += $4 } END { printf "%.4f\n", sum }' scores
awk -F '\t' 'NR == 1 { s = $1; p = $4 }
    $4 > 0.001 && (log(p / $4) - (s - $1)) ^ 2 > 1e-6' scores

echo 'more than are evaluated together, in any number of threads:'
many=$(seq -s , 1 30)
for t in 1 3; do
    gg-generate -t $t -p "$text" --choice "$many" --scores | LC_ALL=C sort >many.$t
done
cmp many.1 many.3
seq 30 | sed "s/^/$text	/" | gg-tokenize --lines --fields | gg-eval --score |
    awk '$2 == 2 { print $4 "\t" $3 "\t" $1 }' | LC_ALL=C sort >want
cut -f 1-3 many.1 | cmp - want

echo 'windows that move on while choices are scored:'
"$top_builddir/tests/make_model" mistral-f32 model.gguf || exit 99
long=$(seq -s ' ' 1 300)
for b in 16 512; do
    gg-generate -m model.gguf -c 2000 -p "$long" --choice "$many" --scores \
        --batch-size $b >window.$b
done
cmp window.16 window.512
gg-generate -m model.gguf -c 2000 -p "$long" --choice 7 --scores | cut -f 1-3 >seven
cut -f 1-3 window.16 | grep -Fxf seven | cut -f 3

echo 'an answer, and one that has begun:'
gg-generate --chat --template alpaca -p Hi --choice yes,no --scores >answer
cut -f 3 answer | LC_ALL=C sort
if gg-tokenize --chat --template alpaca </dev/null 2>&1 | grep -q Jansson; then
    :
else
    text='{"role":"user","content":"Hi"}'
    echo "$text" | gg-generate --messages --template alpaca \
        --choice yes,no --scores | cmp - answer
    echo "$text" '{"role":"assistant","content":"y"}' |
        gg-generate --messages --template alpaca --choice es,o --scores |
        wc -l | grep -v 2
fi

echo 'commas, backslashes, newlines, tabs:'
gg-generate -p a --choice '\,,\\,a\n\tb,"' --scores | cut -f 3 | LC_ALL=C sort

echo 'with the prompt, to a file, in a context that is too small:'
gg-generate --echo -p 'a b' --choice ' c' -o file && cat file && echo
gg-generate -c 8 -p 'a b c d e f g h' --choice ' i'
gg-generate -p a --choice a,,b
gg-generate -p a --choice 'a\b'
gg-generate -p a --choice ''
gg-generate -p a --scores
gg-generate --no-bos -p On --choice ce,ly
gg-generate --no-bos -p O --choice ce && echo
