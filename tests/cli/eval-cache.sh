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

# Of other types, of keys and values apart, rotated or not: the same text from a
# pipe, in pieces, by one thread, from a state, with drafts.
printf 'Once upon a time there was a cat' | gg-tokenize | tr '\n' ' ' >line
echo >>line
for o in '--cache-type bf16' '--cache-type q5_0' '--cache-type q4_0' \
    '--cache-type q4_0 --cache-rotation off' \
    '--cache-type-k q8_0 --cache-type-v q4_0' \
    '--cache-type q5_0 --cache-type-v f32'; do
    gg-generate -q -p 'Once upon a time' -n 30 -s 4 $o >want
    gg-loop "gg-eval -q $o | gg-sample -n 30 -s 4" <prompt |
        gg-tokenize -d | cmp - want
    gg-generate -q -p 'Once upon a time' -n 30 -s 4 $o --batch-size 3 -t 1 |
        cmp - want
    gg-generate -q -p 'Once upon a time' -n 30 -s 4 $o --draft prompt |
        cmp - want
    gg-eval -q --every $o line | tail -c 4000 | head -c 3900 >rows
    cut -d ' ' -f 1-5 line >head
    cut -d ' ' -f 6- line >rest
    rm -f state
    gg-eval -q $o --save state head >/dev/null
    gg-eval -q --every $o --load state rest | tail -c 4000 | head -c 3900 | cmp - rows
    gg-inspect -k state.cache.rotation state 2>/dev/null || echo 'not rotated'
    gg-inspect --json state | grep -o '"name": "cache_[kv].0", "type": "[a-z0-9_]*"'
done

# A state says the types and the rotation.
refused() { gg-eval -q --load other "$@" rest >/dev/null; echo "status $?"; }
gg-eval --cache-type q4_0 --save other head >/dev/null
refused --cache-type q4_0 --cache-rotation off
refused --cache-type q4_0 --cache-type-v q5_0
refused --cache-type-k q8_0 --cache-type-v q4_0
refused
gg-inspect --memory -c 512 --cache-type-k q8_0 --cache-type-v q4_0 -q | sed -n 2p
gg-inspect --memory --json -c 512 --cache-type-k q8_0 --cache-type-v q4_0 -q |
    grep type
