# OpenAI's batch files: what is taken, what is written, what is refused.
"$top_builddir/tests/make_model" llama-q4_0 random.gguf || exit 99
GG_MODEL=random.gguf SOURCE_DATE_EPOCH=1700000000
export GG_MODEL SOURCE_DATE_EPOCH
echo '{"prompt":"a"}' | gg-generate --jsonl -n 1 2>&1 |
    grep 'without Jansson' >&2 && exit 77
generate() {
    gg-generate --jsonl --template alpaca "$@"
}
body() { jq -c '.response.body'; }

echo "-- the form"
cat >in <<'END'
{"custom_id":"one \u00e9\"","method":"POST","url":"/v1/chat/completions","body":{"model":"gpt-x","messages":[{"role":"user","content":"a b"}],"max_tokens":5,"seed":1}}
{"custom_id":"two","method":"POST","url":"/v1/completions","body":{"prompt":"a b","max_tokens":5,"user":"u","stream":true,"store":false,"metadata":{"a":"b"}}}
{"prompt":"a","n":2,"seed":3}
END
generate -s 1 in >out
echo "[$?]"
sed -n 1,2p out | sed 's/"content":"[^"]*"/"content":.../; s/"text":"[^"]*"/"text":.../'
sed -n 3p out | jq -c keys_unsorted
# Others in the batch, and threads, make no difference.
for batch in 1 3; do
    generate -s 1 --batch $batch -t 2 <in | cmp - out
done

echo "-- as the record alone"
text() { sed -n "$1p" "$2" | jq -j ".response.body.choices[$3]|.text//.message.content"; }
alone() {
    json=$1
    shift
    printf '%s\n' "$json" | gg-generate --jsonl "$@" | jq -j .text | cmp - got ||
        echo "differs: $json"
}
text 1 out 0 >got
alone '{"prompt":"a b","n":5,"seed":1}' --template alpaca
text 2 out 0 >got
alone "{\"prompt\":\"a b\",\"n\":5,\"seed\":$(sed -n 2p out | body | jq .seed)}"
# Answers to one prompt: the seed, and one more for each.
cat >in <<'END'
{"custom_id":"n","url":"/v1/completions","body":{"prompt":"a b c","max_tokens":9,"n":5,"seed":7,"temperature":1.5,"top_p":0.9}}
{"custom_id":"m","url":"/v1/chat/completions","body":{"messages":[{"role":"user","content":"b"}],"max_completion_tokens":3,"n":128}}
{"custom_id":"m","url":"/v1/completions","body":{"prompt":["ab"],"max_tokens":4,"n":1}}
END
generate -s 1 --batch 4 in >out
for i in 0 1 2 3 4; do
    text 1 out $i >got
    alone "{\"prompt\":\"a b c\",\"n\":9,\"seed\":$((7 + i)),\"temp\":1.5,\"top_p\":0.9}"
done
seed=$(sed -n 2p out | body | jq .seed)
for i in 0 127; do
    text 2 out $i >got
    alone "{\"prompt\":\"b\",\"n\":3,\"seed\":$((seed + i))}" --template alpaca
done
body <out | jq -c '[(.choices|length), (.choices|map(.index) == [range(length)])]'
for batch in 1 2 9; do
    generate -s 1 --batch $batch -t 2 in | cmp - out
done
generate -s 1 --draft prompt in | cmp - out
# Each prompt is evaluated once, or copied.
jq -nc '{custom_id: "a", body: {prompt: ("a b " * 50), max_tokens: 9, n: 8}}' |
    gg-generate --jsonl -v 2>&1 >/dev/null | grep -o '[0-9]* ids evaluated' | {
    read n rest
    echo $((n < 300))
}

echo "-- usage"
prompt=$(printf 'a b c' | gg-tokenize --count)
jq -c --argjson n "$prompt" 'select(.response.body.object == "text_completion")
    | .response.body.usage, (.response.body.usage.prompt_tokens - $n)' out | head -n 2
jq -nc '[{role: "user", content: "b"}]' |
    gg-tokenize --chat --template alpaca --count >count
sed -n 2p out | body | jq -c --slurpfile n count \
    '.usage, .usage.prompt_tokens == $n[0]'

echo "-- why it ends"
stop=$(gg-generate -p a -s 1 -n 30 | LC_ALL=C tr -cd a-z | head -c 1)
cat >in <<END
{"custom_id":"1","url":"/v1/completions","body":{"prompt":"a","seed":1,"max_tokens":60,"stop":"$stop"}}
{"custom_id":"2","url":"/v1/completions","body":{"prompt":"a","seed":1,"max_tokens":60,"stop":["$stop","x"]}}
{"custom_id":"3","url":"/v1/completions","body":{"prompt":"a","seed":1,"max_tokens":2}}
{"custom_id":"4","url":"/v1/completions","body":{"prompt":"a","seed":1}}
{"custom_id":"5","url":"/v1/completions","body":{"prompt":"a","seed":1,"max_tokens":9,"response_format":{"type":"json_object"}}}
{"custom_id":"6","url":"/v1/completions","body":{"prompt":"a b c","choice":" a, b"}}
END
generate -c 40 in >out
echo "[$?]"
body <out | jq -c '.choices[0].finish_reason'
text 6 out 0 >got
gg-generate -p 'a b c' --choice ' a, b' | cmp - got

echo "-- addresses without a version, and no token"
cat >in <<'END'
{"custom_id":"1","url":"/chat/completions","body":{"messages":[{"role":"user","content":"a"}],"max_tokens":1}}
{"custom_id":"2","url":"/completions","body":{"prompt":"a b","max_tokens":0}}
{"custom_id":"3","url":"/completions","body":{"prompt":"a b","max_tokens":0,"n":2,"logprobs":1}}
{"custom_id":"4","url":"/v2/completions","body":{"prompt":"a b","max_tokens":0}}
{"custom_id":"5","url":"/v1/chat/completions","body":{"messages":[{"role":"user","content":"a"}],"max_tokens":0}}
END
generate -s 1 in 2>/dev/null >out
echo "[$?]"
jq -c '.response.body | .object, .error.message, .usage.completion_tokens,
    [.choices[]? | .finish_reason, .logprobs.tokens]' out | paste - - - -
sed -n 2p out | jq -c '.response.body.choices[0].text'

echo "-- ids"
ids=$(printf 'a b' | gg-tokenize | tr ' ' ,)
cat >in <<END
{"custom_id":"1","body":{"prompt":[$ids],"seed":1,"max_tokens":9}}
{"custom_id":"2","body":{"prompt":[[$ids]],"seed":1,"max_tokens":9}}
{"prompt":[$ids],"seed":1,"max_tokens":9}
{"custom_id":"4","body":{"prompt":[1,99999]}}
{"custom_id":"5","body":{"prompt":[1,1.5]}}
{"custom_id":"6","body":{"prompt":[1,-1]}}
{"custom_id":"7","body":{"prompt":[]}}
{"prompt":["a","b"]}
{"custom_id":"8","body":{"prompt":["a","b"],"echo":true}}
{"custom_id":"8","body":{"prompt":["a","b",1]}}
{"custom_id":"8","body":{"prompt":["a",""]}}
{"custom_id":"8","body":{"prompt":[[],[1]]}}
{"custom_id":"9","body":{"prompt":[3],"suffix":"b"}}
END
generate in >out 2>/dev/null
for i in 1 2; do
    text $i out 0 >got
    alone '{"prompt":"a b","n":9,"seed":1}'
done
sed -n 3p out | jq -j .text | cmp - got
jq -c '.error // .response.body.error.message // empty' out
# Of several prompts each has its answers.
cat >in <<END
{"custom_id":"1","body":{"prompt":["a b","c",[$ids]],"seed":4,"max_tokens":9,"n":2,"logprobs":1}}
{"custom_id":"2","body":{"prompt":[[$ids],[$ids,5]],"max_tokens":9}}
END
gg-generate --jsonl -s 1 in >out
gg-generate --jsonl -s 1 --batch 1 -t 2 in | cmp - out
jq -c '.response.body | [.choices[].index], .usage' out
i=0
for prompt in '"a b"' '"c"' "[$ids]"; do
    for seed in 4 5; do
        text 1 out $i >got
        alone "{\"prompt\":$prompt,\"seed\":$seed,\"n\":9}"
        i=$((i + 1))
    done
done
seed=$(sed -n 2p out | body | jq .seed)
text 2 out 1 >got
alone "{\"prompt\":[$ids,5],\"seed\":$seed,\"n\":9}"
jq -c '.response.body.choices[0].logprobs | length' out | head -n 1
cat >in <<END
{"custom_id":"1","body":{"prompt":[$ids],"seed":1,"max_tokens":9}}
END
gg-generate --jsonl --echo in >out
text 1 out 0 | head -c 3; echo
echo '{"custom_id":"1","body":{"prompt":"a b","seed":1,"max_tokens":9,"echo":true,"best_of":2,"n":2}}' |
    generate >again
text 1 again 0 >got
text 1 out 0 | cmp - got

echo "-- what is wrong"
chat='"url":"/v1/chat/completions","body":{"messages":[{"role":"user","content":"a"}]'
text='"url":"/v1/completions","body":{"prompt":"a"'
cat >in <<END
{"custom_id":"1","method":"POST","url":"/v1/embeddings","body":{"input":"a"}}
{"custom_id":"2","method":"POST","url":"/v1/responses","body":{"input":"a"}}
{"custom_id":"3","method":"GET",$chat}}
{"custom_id":4,$chat}}
{"custom_id":"5","url":1,"body":{"prompt":"a"}}
{"custom_id":"6","body":[]}
{"custom_id":"7","url":"/v1/chat/completions","body":{"prompt":"a"}}
{"custom_id":"8","url":"/v1/completions","body":{"messages":[]}}
{"custom_id":"9",$text,"n":0}}
{"custom_id":"10",$text,"n":129}}
{"custom_id":"11",$text,"n":1.5}}
{"custom_id":"12",$text,"n":"1"}}
{"custom_id":"13",$text,"echo":true,"logprobs":1}}
{"custom_id":"14",$text,"best_of":2}}
{"custom_id":"15",$text,"logprobs":21}}
{"custom_id":"16",$text,"logprobs":true}}
{"custom_id":"17",$chat,"logprobs":2}}
{"custom_id":"18",$chat,"top_logprobs":2}}
{"custom_id":"19",$chat,"logprobs":true,"top_logprobs":21}}
{"custom_id":"20",$chat,"suffix":"b"}}
{"custom_id":"21",$text,"choice":"a,b","n":2}}
{"custom_id":"22",$text,"temperature":"hot"}}
{"custom_id":"23",$text,"audio":{"a":1}}}
{"custom_id":"24","body":{"prompt":"$(printf '%400s' '' | sed 's/ /a b /g')"}}
{"custom_id":"25",$text,"logit_bias":{"99999":1}}}
{"custom_id":"26",$text,"max_tokens":1}}
END
generate -c 200 -s 1 in >out 2>err
echo "[$?] $(wc -l <err) $(wc -l <out)"
jq -c '.custom_id, .response.status_code, .response.body.error' out | paste - - -
sed -n 1p out
