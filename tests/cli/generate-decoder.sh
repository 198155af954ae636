# A model with an encoder and a decoder in all tools: the prompt is the
# encoder's, however many there are, and the answer the decoder's.
for m in flan-t5-f32 flan-t5-q8_0; do
    "$top_builddir/tests/make_model" $m $m.gguf || exit 99
done
GG_MODEL=flan-t5-f32.gguf
export GG_MODEL
generate() {
    gg-generate --seed 3 -n 20 --ignore-eog "$@"
}
same() { # WHAT: got is what want is
    cmp want got && test -s want && echo "$1"
}

echo '-- one text'
generate -p 'hello abc' >want
for options in '-t 1' '-t 3' '--batch-size 7' '-c 40' --no-mmap \
        '--draft flan-t5-q8_0.gguf' '--draft prompt'; do
    generate $options -p 'hello abc' >got
    same "$options"
done
generate -n 7 --save state -p 'hello abc' >got
generate -n 13 --load state --seed 4 -p '' </dev/null >rest
cmp -n "$(wc -c <got)" got want && test -s rest && echo 'a state'
"$top_builddir/tests/split_model" $GG_MODEL part 3 || exit 99
generate -m part-00001-of-00003.gguf -p 'hello abc' >got
same 'a file in three parts'
"$top_builddir/tests/make_adapter" $GG_MODEL lora.gguf || exit 99
generate --lora lora.gguf=0 -p 'hello abc' >got
same 'an adapter that counts nothing'
generate --lora lora.gguf -p 'hello abc' >got
cmp -s want got || echo 'and one that does'

echo '-- several'
seq 9 | sed 's/.*/some text, number &, & words & of it/' >texts
while read -r text; do
    echo "$text" | generate --temp 0 --lines
done <texts >want
for options in '--batch 1' '--batch 4 --slots 2' '--batch 9 -t 2' '-c 64'; do
    generate --temp 0 --lines $options texts >got
    same "$options"
done

echo '-- answers that are given'
printf 'abc\ndef\nghij\n' >answers
while read -r answer; do
    ids=$(printf 'hello abc' | gg-tokenize)
    echo "$ids $(printf %s "$answer" | gg-tokenize --no-bos)" |
        gg-eval --score | cut -f 4
done <answers | LC_ALL=C sort -gr >want
gg-generate -p 'hello abc' --choice 'abc,def,ghij' --scores |
    cut -f 1 >got
same choices
gg-generate -p 'hello abc' --choice 'abc,def,ghij' && echo

echo '-- what it cannot'
gg-generate -p '' -n 3 </dev/null
gg-generate -p "$(seq 300)" -n 3
gg-generate -c 12 --ignore-eog -p 'hello abc' -n 20 >got
echo 1 2 3 | gg-eval --top 1
echo 299 2 3 | gg-eval --top 1
echo 1 2 299 | gg-eval --embed mean
echo 1 2 299 | gg-train -o out.gguf || echo "status $?"
