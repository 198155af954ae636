# What the cache keeps, and in which type: the same text from a pipe, in one
# process, in any batches.
"$top_builddir/tests/make_model" mistral-f32 window.gguf || exit 99
for n in 1 200 512 2000; do
    gg-generate -m window.gguf -c 2000 -p ab -n 1400 -s 1 --batch-size $n |
        cksum
done | uniq | wc -l | tr -d ' '

gg-generate -p 'Once upon a time' -n 30 -s 4 --cache-type q8_0 --batch-size 3 \
    >want
printf 'Once upon a time' | gg-tokenize >prompt
gg-loop 'gg-eval --cache-type q8_0 | gg-sample -n 30 -s 4' <prompt |
    gg-tokenize -d | cmp - want
wc -w <want | awk '{ print ($1 > 10) }'

# Heads of 24 are no whole blocks.
echo 1 | gg-eval -m window.gguf --cache-type q8_0
echo "status $?"
