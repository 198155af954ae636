# Records with echo and logprobs: how likely the tokens of prompts are.
echo '{"prompt":"a"}' | gg-generate --jsonl -n 1 2>&1 |
    grep 'without Jansson' >&2 && exit 77
SOURCE_DATE_EPOCH=1700000000
export SOURCE_DATE_EPOCH

cat >in <<'END'
{"custom_id":"a","url":"/v1/completions","body":{"prompt":"Once upon a horse","echo":true,"logprobs":2,"max_tokens":0}}
{"custom_id":"b","url":"/v1/completions","body":{"prompt":"Once upon a","echo":true,"logprobs":1,"max_tokens":3,"temperature":0,"n":2}}
{"prompt":"Once upon a horse","echo":true,"logprobs":2,"max_tokens":0}
{"prompt":"Once upon a","echo":true,"max_tokens":0}
{"prompt":[763,940],"echo":true,"logprobs":0,"max_tokens":0}
{"prompt":"Once upon","logprobs":1,"max_tokens":2,"temperature":0}
END
gg-generate --jsonl in >out
echo "status $?"

echo '-- the shape'
sed -n 1p out | jq -c '.response.body | .choices[0].text, .usage,
    (.choices[0].logprobs | .tokens, .text_offset, (.token_logprobs[0], .top_logprobs[0]),
    (.top_logprobs[1:] | map(length)))'
sed -n 3p out | jq -c 'keys_unsorted, .stop_reason'
sed -n 1p out | jq -c .response.body.choices[0].logprobs >a
sed -n 3p out | jq -c .logprobs | cmp - a
sed -n 4,5p out | jq -c '.text, .ids, .logprobs.tokens, .logprobs.token_logprobs[0]'
sed -n 6p out | jq -c '.logprobs.tokens, .logprobs.text_offset'

echo '-- the sums are those of gg-eval --score'
sum() { jq '.token_logprobs[1:] | add'; }
near() { awk '{ getline x <"want"; d = $1 - x; print (d < 1e-4 && d > -1e-4) }'; }
printf 'Once upon a horse' | gg-tokenize | gg-eval --score | cut -f 4 >want
sum <a | near
sed -n 5p out | jq .logprobs | sum >got
echo 763 940 | gg-eval --score | cut -f 4 >want
near <got

echo '-- and the answer goes on as without'
sed -n 2p out | jq -c '.response.body.choices[] | .text, .logprobs.tokens, .logprobs.text_offset'
gg-generate -p 'Once upon a' -n 3 --temp 0 --echo; echo
for batch in 1 3; do
    gg-generate --jsonl --batch $batch -t 2 in | cmp - out
done
head -n 2 out >part
gg-generate --jsonl --resume part in && cmp part out

echo '-- what does not go'
cat >in <<'END'
{"prompt":"a","max_tokens":0}
{"prompt":"a","echo":true,"logprobs":21}
{"prompt":"a","echo":"yes"}
{"messages":[{"role":"user","content":"a"}],"echo":true}
{"prompt":"a","echo":true,"logprobs":1,"choice":["a","b"]}
{"prompt":"a","echo":true,"logprobs":1,"suffix":"b"}
END
gg-generate --jsonl --template alpaca -n 1 in 2>/dev/null | jq -c .error
gg-generate --jsonl --chat --template alpaca -n 1 2>/dev/null <<'END' | jq -c .error
{"prompt":"a","echo":true}
END
