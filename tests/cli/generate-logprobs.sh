# logprobs in OpenAI's batch files: the numbers of gg-eval.
"$top_builddir/tests/make_model" llama-q4_0 random.gguf || exit 99
GG_MODEL=random.gguf SOURCE_DATE_EPOCH=1700000000
export GG_MODEL SOURCE_DATE_EPOCH
echo '{"prompt":"a"}' | gg-generate --jsonl -n 1 2>&1 |
    grep 'without Jansson' >&2 && exit 77
generate() {
    gg-generate --jsonl --template alpaca "$@"
}

cat >in <<'END'
{"custom_id":"1","body":{"prompt":"a b","seed":1,"max_tokens":12,"logprobs":3}}
{"custom_id":"2","body":{"prompt":"a b","seed":1,"max_tokens":12,"logprobs":0,"temperature":1.5,"top_k":0,"logit_bias":{"40":5}}}
{"custom_id":"3","body":{"messages":[{"role":"user","content":"a b"}],"seed":1,"max_tokens":12,"logprobs":true,"top_logprobs":4}}
{"custom_id":"4","body":{"messages":[{"role":"user","content":"a b"}],"seed":1,"max_tokens":12,"logprobs":true,"n":2}}
{"custom_id":"5","body":{"messages":[{"role":"user","content":"a b"}],"seed":1,"max_tokens":12,"logprobs":false}}
{"custom_id":"6","body":{"prompt":"a b","seed":1,"max_tokens":12,"top_k":0,"temperature":1.2,"logprobs":3}}
END
generate in >out
echo "[$?]"
generate --batch 2 -t 2 in | cmp - out
generate --draft prompt in | cmp - out
# They change no answer.
jq -c 'del(.body.logprobs, .body.top_logprobs)' in | generate | jq -c '[.response.body.choices[]|.text//.message.content]' >want
jq -c '[.response.body.choices[]|.text//.message.content]' out | cmp - want

echo "-- the model's, whatever is drawn from"
one() { sed -n "$1p" out | jq -c ".response.body.choices[0].logprobs"; }
check() {
    # Ids are not in the answers: those of the same text as a record of ours.
    sed -n "$1p" in | jq -c '.body | del(.logprobs, .top_logprobs)' |
        gg-generate --jsonl | jq -r '.ids[]' >ids
    { sed -n "$1p" in | jq -j .body.prompt | gg-tokenize; cat ids; } |
        gg-eval --top "${2:-1000}" >rows
}
for i in 1 2 6; do
    check $i
    awk 'BEGIN { while ((getline id < "ids") > 0) want[++n] = id }
        /^$/ { k++ }
        k < n && $4 == want[k + 1] { print $5 }' rows >want
    one $i | jq -r '.token_logprobs[]' | paste - want |
        awk '{ d = $1 - $2; if (d * d > 1e-8) print "differs: " $0; n++ } END { print n }'
done
check 1 3
awk '/^$/ { next } { print $5 }' rows | head -n 36 >want
one 1 | jq -r '.top_logprobs[] | [.[]] | sort | reverse | .[:3][]' | head -n 36 |
    paste - want | awk '{ d = $1 - $2; if (d * d > 1e-8) print "differs: " $0; n++ } END { print n }'

echo "-- their form"
one 2 | jq -c '[keys_unsorted, (map(length) | unique)]'
one 2 | jq -c '.top_logprobs | map(length) | unique'
one 3 | jq -c '[keys_unsorted, .refusal, (.content | length),
    (.content[0] | keys_unsorted), (.content | map(.top_logprobs | length) | unique),
    (.content[0].top_logprobs[0] | keys_unsorted)]'
sed -n 4p out | jq -c '[.response.body.choices[].logprobs.content | length]'
one 5
# The bytes are those of the ids.
sed -n 3p in | jq -c '.body | del(.logprobs, .top_logprobs)' | generate |
    jq -r '.ids | join(" ")' | gg-tokenize -d | od -An -v -tu1 | tr -s ' \n' ' ' >want
one 3 | jq -r '[.content[].bytes[]] | map(tostring) | join(" ")' | tr '\n' ' ' |
    sed 's/^/ /' | cmp - want

echo "-- thoughts are apart"
cat >template <<'END'
{{ '<think></think>' if false }}<|user|>{% for m in messages %}{{ m.content }}{% endfor %}<|answer|>
END
printf '%s' "$(cat template)" >template
"$top_builddir/tests/make_chain" chain.gguf template -c '<|end|>' -c '<|user|>' \
    -c '<|answer|>' -u '<think>' -u '</think>' \
    -s '<|answer|><think>abc</think>\nxy<|end|>' || exit 99
for n in 20 3; do
    jq -nc --argjson n $n '{custom_id: "t", body: {temperature: 0, max_tokens: $n,
        logprobs: true, messages: [{role: "user", content: "q"}]}}' |
        gg-generate --jsonl -m chain.gguf |
        jq -c '.response.body.choices[0] | .message,
            [.logprobs.content[].token], .finish_reason'
done

# Offsets are those of tokens in the text.
test -f "$top_srcdir/demo/gg-story.gguf" || exit 0
jq -nc '{custom_id: "a", body: {prompt: "Once", seed: 1, max_tokens: 30, logprobs: 1}}' >in
generate -m "$top_srcdir/demo/gg-story.gguf" in >out
jq -c '.response.body.choices[0] | . as $c | .logprobs
    | [range(.tokens | length) as $i
    | $c.text[.text_offset[$i]:][:(.tokens[$i] | length)] == .tokens[$i]] | unique' out
jq -j '.response.body.choices[0].text' out >want
jq -c '.body.stop = "."' in | generate -m "$top_srcdir/demo/gg-story.gguf" >out
jq -c '.response.body.choices[0] | (.logprobs.tokens | join("") | contains(".")), .finish_reason' out
gg-generate --jsonl -m "$top_srcdir/demo/gg-story.gguf" --echo in |
    jq -c '.response.body.choices[0] | . as $c | .logprobs
    | ([range(.tokens | length) as $i
    | $c.text[.text_offset[$i]:][:(.tokens[$i] | length)] == .tokens[$i]] | unique),
    .text_offset[0]'
# Also where bytes are no characters, each of which is one in JSON.
jq -nc '{custom_id: "a", body: {prompt: "a b", seed: 1, max_tokens: 60, logprobs: 0}}' >in
gg-generate --jsonl in | jq -c '.response.body.choices[0]
    | (.text | length) - .logprobs.text_offset[-1] - 1' |
    awk '{ print ($1 >= -1 && $1 < 9) }'
