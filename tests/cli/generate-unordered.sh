# Records that are answered as they are done: pieces, cancels, questions, ends.
"$top_builddir/tests/make_model" llama-q4_0 random.gguf || exit 99
GG_MODEL=random.gguf
export GG_MODEL
echo '{"prompt":"a"}' | gg-generate --jsonl -n 1 2>&1 |
    grep 'without Jansson' >&2 && exit 77

# The text of a record's deltas.
text() {
    jq -j --arg id "$1" 'select(.id == $id) | .delta.content // empty' "$2"
}

# An engine whose records go to descriptor 3, and whose lines are in out.
start() {
    rm -f pipe
    mkfifo pipe
    : >out
    gg-generate --jsonl --unordered --shift -q "$@" <pipe >out 2>err &
    engine=$!
    exec 3>pipe
}

# Waits until a line of out has it.
await() {
    i=0
    until grep -q "$1" out; do
        i=$((i + 1))
        test $i -lt 400 || { echo "no $1"; cat out err; kill -9 $engine; exit 1; }
        sleep 0.05
    done
}

finish() {
    exec 3>&-
    wait $engine
    echo "status $?"
}

echo "-- the bytes are those of each alone"
cat >in <<'END'
{"id":"long","prompt":"a b c","seed":1,"n":40,"temperature":1.5,"stream":true}
{"id":"short","prompt":"a","seed":2,"n":2}
{"id":"same","prompt":"a b c a b c a b c a b c","seed":3,"n":9,"stream":true}
{"custom_id":"two","url":"/v1/completions","body":{"prompt":"ab","seed":4,"n":2,"max_tokens":5,"stream":true,"logprobs":1}}
END
gg-generate --jsonl -q in >alone
gg-generate --jsonl --unordered -q --batch 3 --slots 6 in >out
for id in long same; do
    text $id out >got
    jq -j --arg id $id 'select(.id == $id) | .text' alone | cmp - got
done
grep -n '"id":"short"' out | cmp -s - /dev/null && echo "no short"
test "$(grep -n '"short"' out | cut -d: -f1)" -lt \
    "$(grep -n '"long","end"' out | cut -d: -f1)" || echo "the short one waits"
jq '.response.body.choices[1].logprobs.token_logprobs[]?' alone >logprobs
jq 'select(.id == "two" and .index == 1) | .logprobs.token_logprobs[]?' out |
    cmp - logprobs
jq -c 'select(.end) | [.id, .end, .usage.completion_tokens, .seed]' out
jq -c 'select(.start) | [.id, .start.prompt_tokens]' out | sort

echo "-- questions"
cat >in <<'END'
{"tokenize":"a b","id":1}
{"detokenize":[4,5],"id":"two"}
{"count":{"prompt":"a b"}}
{"id":3,"render":{"prompt":"a b"}}
{"id":4,"tokenize":5}
{"id":5,"detokenize":["a"]}
{"id":6,"count":{"prompt":7}}
{"id":7,"drain":"now"}
{"cancel":"nobody"}
END
gg-generate --jsonl --unordered -q in | jq -c 'del(.ids, .text)'
echo '{"stats":true,"id":"s"}' | gg-generate --jsonl --unordered |
    jq -c '[.id, (.stats | keys | length > 10)]'

echo "-- ids of a text"
cat >in <<'END'
{"id":1,"tokenize":{"content":"a b"}}
{"id":2,"tokenize":{"content":"a b","add_special":true,"with_pieces":true}}
{"id":3,"tokenize":{"content":"<|control|>","parse_special":true,"with_pieces":true}}
{"id":4,"tokenize":{"content":"<|control|>","with_pieces":true}}
{"id":5,"tokenize":{"content":"a","with_pieces":1}}
{"id":6,"tokenize":{"text":"a"}}
END
gg-generate --jsonl --unordered -q in >out
jq -c '[.id, (.ids | length), (.tokens // [] | map(.piece)), .error]' out

echo "-- which string ended an answer"
first=$(jq -r 'select(.id == "long") | .text' alone | tr -dc a-z | cut -c 1)
jq -nc --arg s "$first" '["zzz", $s] as $stop |
    {prompt: "a b c", seed: 1, n: 40, temperature: 1.5, stop: $stop} as $r |
    ($r + {id: "s", stream: true}), ($r + {id: "n", stop: ["zzz"], stream: true}),
    {custom_id: "w", url: "/v1/completions",
     body: ($r | del(.n) + {max_tokens: 40})}' |
    gg-generate --jsonl --unordered -q >out
jq -c --arg s "$first" 'def told: .finish_reason,
        (.stop | if . == null then . else . == $s end);
    select(.end or .response)
    | [.custom_id // .id, (.end[0] // .response.body.choices[0] | told)]' out |
    sort

echo "-- other than texts, next to one"
cat >others <<'END'
{"custom_id":"likely","url":"/v1/completions","body":{"prompt":"a b c d e f g h i j k l m n o p q r s t u v w x y z a b c d e f","echo":true,"logprobs":2,"max_tokens":3,"seed":7}}
{"custom_id":"embeds","url":"/v1/embeddings","body":{"input":["a b c d e f g h i j k l m n o p q r s t u v w x y z","a"]}}
{"id":"choice","prompt":"a b c d e f g h i j k l m n o p q r s t u v w x y z","choice":["a b","c","d e f"]}
END
gg-generate --jsonl -q --pooling mean others |
    jq -c '[.custom_id // .id, .choices, .text, .response.body.choices,
        .response.body.data]' | sort >want
{
    echo '{"id":"text","prompt":"a b c","seed":1,"n":40,"temperature":1.5,"stream":true}'
    cat others
} | gg-generate --jsonl --unordered -q --pooling mean --batch 4 >out
jq -c 'select(.id != "text") | [.custom_id // .id, .choices, .text,
    .response.body.choices, .response.body.data]' out | sort | cmp - want
text text out >got
jq -j 'select(.id == "long") | .text' alone | cmp - got
jq -c 'select(.response) | [.custom_id, (.response.body.usage |
    has("prompt_tokens_details"))]' out | sort

echo "-- errors"
head -c 200000 /dev/zero | tr '\0' a >many
{
    printf '{"id":"long","stream":true,"prompt":"%s"}\n' "$(cat many)"
    echo '{"id":"bad","stream":true,"prompt":"a","temperature":-1}'
    echo '{"id":"choice","stream":true,"prompt":"a","choice":["b","c"]}'
} | gg-generate --jsonl --unordered -q -c 64 |
    jq -c '.error.message |= (length > 9) | .error.n_prompt_tokens |= (. // 0 > 64)'

echo "-- cancels"
start --batch 1
echo '{"id":"a","prompt":"a","n":100000,"ignore_eos":true,"stream":true}' >&3
await '"a".*delta'
echo '{"id":"b","prompt":"a","n":3,"stream":true}' >&3
echo '{"cancel":"b"}' >&3
await '"b","error"'
echo '{"custom_id":"d","body":{"prompt":"a"}}' >&3
echo '{"cancel":"d"}' >&3
await '"d".*499'
echo '{"id":"c","prompt":"a","n":3,"stream":true}' >&3
echo '{"cancel":"a"}' >&3
await '"c","end"'
finish
jq -c 'select(.error) | [.id, .error]' out
jq -c 'select(.response) | .response.body.error | [.code, .type]' out

echo "-- the end"
start --batch 1 --drain 1 --heartbeat 1
echo '{"id":"a","prompt":"a","n":100000,"ignore_eos":true,"stream":true}' >&3
echo '{"id":"b","prompt":"a","n":3,"stream":true}' >&3
await '"a".*delta'
kill -TERM $engine
finish
jq -c 'select(.error or .end) | [.id, .error.code, .end != null]' out
grep -q beat out || echo "no heartbeat"
start --batch 1
echo '{"id":"a","prompt":"a","n":200,"ignore_eos":true,"stream":true}' >&3
await '"a".*delta'
kill -TERM $engine
finish
jq -c 'select(.error or .end) | [.id, .error.code, .end != null]' out
start --batch 2
echo '{"id":"a","prompt":"a","n":100000,"ignore_eos":true,"stream":true}' >&3
await '"a".*delta'
echo '{"id":"d","drain":0}' >&3
finish
jq -c 'select(.error or .end or .drain) | [.id, .error.code, .drain]' out

echo "-- keys"
p='"prompt":"a b c d e f g h i j k l m n o p q r s t u v w x y z","n":1'
{
    for key in one two one; do
        printf '{%s,"cache_key":"%s","stream":true}\n' "$p" $key
    done
    printf '{%s,"stream":true}\n' "$p"
} | gg-generate --jsonl --unordered -q --batch 1 --slots 4 --cache-ram 1M |
    jq -c 'select(.start) | .start.cached_tokens > 20'

echo "-- options"
gg-generate --unordered -p a
gg-generate --jsonl --unordered --resume x
gg-generate --jsonl --cache-ram 1X </dev/null
gg-generate --jsonl --heartbeat 1 </dev/null
