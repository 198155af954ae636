# Fill in the middle: the same ids in every tool; who may have a suffix.
test -f "$GG_MODEL" || { echo "no demo model" >&2 && exit 77; }
cp "$GG_MODEL" gap.gguf && chmod u+w gap.gguf
gg-convert --set tokenizer.ggml.fim_pre_token_id=u32:1000 \
    --set tokenizer.ggml.fim_suf_token_id=u32:1001 \
    --set tokenizer.ggml.fim_mid_token_id=u32:1002 gap.gguf || exit 99
plain=$GG_MODEL
GG_MODEL=$PWD/gap.gguf
export GG_MODEL

echo "-- ids"
printf 'Once upon a time' >prefix
suffix=' lived happily.'
ids() {
    printf '%s' "$1" | gg-tokenize --no-bos
}
gg-tokenize --suffix "$suffix" prefix >got
echo "$(printf '' | gg-tokenize --bos) 1000 $(ids 'Once upon a time') 1001 $(ids "$suffix") 1002" |
    cmp - got
gg-tokenize --no-bos --suffix '' </dev/null
printf 'a\nb\n' | gg-tokenize --no-bos --lines --suffix c >got
printf '%s\t1000 %s 1001 %s 1002\n' 1 "$(ids a)" "$(ids c)" 2 "$(ids b)" "$(ids c)" |
    cmp - got

echo "-- the same bytes"
gg-generate --suffix "$suffix" -s 3 -n 20 prefix >want
gg-tokenize --suffix "$suffix" prefix | gg-loop 'gg-eval | gg-sample -n 20 -s 3' |
    gg-tokenize -d | cmp - want
printf 'One day\nThe cat\n' >lines
gg-generate --suffix "$suffix" -s 3 -n 9 --lines lines >want
gg-tokenize --suffix "$suffix" --lines lines |
    gg-loop 'gg-eval | gg-sample -n 9 -s 3' | gg-tokenize -d --lines | cmp - want
gg-generate --suffix "$suffix" -n 9 -s 3 -p '' >want
gg-tokenize --suffix "$suffix" </dev/null |
    gg-loop 'gg-eval | gg-sample -n 9 -s 3' | gg-tokenize -d | cmp - want
gg-generate --echo --suffix "$suffix" -s 3 -n 2 prefix | head -c 16; echo

echo "-- who has none"
printf 'a' | gg-tokenize -m "$plain" --suffix b
printf 'a' | gg-generate -m "$plain" --suffix b
printf 'a\n' | gg-generate -m "$plain" --lines --suffix b
echo "[$?]"
for with in -d --chat --eos --offsets '--lines --fields' '--max 9' '--budget 9' \
    '--tokenizer greedy'; do
    printf 'a' | gg-tokenize --suffix b $with 2>&1 | head -n 1
done
for with in --chat -i --messages '--choice a,b' '--template chatml'; do
    printf 'a' | gg-generate --suffix b $with 2>&1 | head -n 1
done
printf 'a' | gg-tokenize --special error --suffix '<|endoftext|>'
printf 'a' | gg-generate --special error --suffix '<|endoftext|>'

echo '{"prompt":"a"}' | gg-generate --jsonl -n 1 2>&1 |
    grep 'without Jansson' >&2 && exit 77
echo "-- JSON"
cat >in <<'END'
{"prompt":"Once upon a time","suffix":" lived happily.","seed":3,"n":20}
{"prompt":"","suffix":" lived happily.","seed":3,"n":9}
{"prompt":"One day","suffix":"","seed":3,"n":9}
{"prompt":"One day","suffix":null,"seed":3,"n":9}
{"prompt":"One day","suffix":1}
{"prompt":"One day","suffix":"x","choice":"a,b"}
END
gg-generate --jsonl in >out 2>/dev/null
echo "[$?]"
jq -c 'if .error then .error else .suffix end' out
echo '{"messages":[{"role":"user","content":"a"}],"suffix":"x"}' |
    gg-generate --jsonl --template alpaca 2>/dev/null | jq -c .error
text() { sed -n "$1p" out | jq -j .text; }
gg-generate --suffix "$suffix" -s 3 -n 20 prefix >want
text 1 | cmp - want
gg-generate --suffix "$suffix" -n 9 -s 3 -p '' >want
text 2 | cmp - want
gg-generate -n 9 -s 3 -p 'One day' >want
text 3 | cmp - want
text 4 | cmp - want
sed -n 3,4p in | gg-generate --jsonl --suffix "$suffix" -n 9 >out
gg-generate -n 9 -s 3 -p 'One day' --suffix "$suffix" >want
text 2 | cmp - want
