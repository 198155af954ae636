# Objects in JSON: what is passed through, options of a record, what is added.
"$top_builddir/tests/make_model" llama-q4_0 random.gguf || exit 99
GG_MODEL=random.gguf
export GG_MODEL
echo '{"prompt":"a"}' | gg-generate --jsonl -n 1 2>&1 |
    grep 'without Jansson' >&2 && exit 77

echo "-- what is passed through"
cat >in <<'END'
{ "id":7 ,"prompt":"a b","n":1.0e0, "x" : [1,{"}":"\"]"}], "u":"\u00E9\u0000"}
{"big":123456789012345678901234567890,"f":1.10,"prompt":"ab","stop_reason":[]}
   
{"text":"old","prompt":"a","ids":null,"seed":null,"\u0074ext2":0,"max_tokens":2}
END
gg-generate --jsonl -n 3 -s 3 in >out
sed 's/"text":.*/.../' out
jq -c 'keys_unsorted - ["text", "ids", "logprob", "stop_reason", "seed"]' out
# It can be read again, and gives the same; names are told of once, or not.
gg-generate --jsonl -q -n 3 out | jq -cS . >again
jq -cS . out | cmp - again

echo "-- as the record alone"
cat >in <<'END'
{"prompt":"a \\ b","seed":4,"n":20}
{"prompt":"a","seed":5,"n":30,"temperature":1.5,"top_k":0,"top-p":1}
{"prompt":"ab","seed":6,"n":9,"min_p":0.2,"temp":2,"presence_penalty":3.5,"repeat_last_n":8,"logprobs":5}
{"prompt":"b","seed":9007199254740991,"n":20,"greedy":true}
{"prompt":"a b c","n":9}
END
gg-generate --jsonl -q -s 8 -f in -o out
echo "[$?]"
for batch in 1 2; do
    gg-generate --jsonl -q -s 8 --batch $batch -t 2 <in | cmp - out
done
alone() {
    n=$1
    shift
    gg-generate -s "$(sed -n "${n}p" out | jq .seed)" "$@" >want
    # No jq reads bytes that are not UTF-8, but ids are exact.
    sed -n "${n}p" out | jq -r '.ids | join(" ")' | gg-tokenize -d |
        cmp - want || echo "differs: $*"
}
alone 1 -p 'a \ b' -n 20
alone 2 -p a -n 30 --temp 1.5 --top-k 0 --top-p 1
alone 3 -p ab -n 9 --temp 2 --min-p 0.2 --presence-penalty 3.5 --repeat-last-n 8
alone 4 -p b -n 20 --greedy
alone 5 -p 'a b c' -n 9
# The sum of what each id has, given everything before it.
for n in 1 2; do
    sed -n "${n}p" in | jq -j .prompt >prompt
    sed -n "${n}p" out | jq -r '.ids[]' >ids
    { gg-tokenize prompt; cat ids; } | gg-eval --top 1000 | awk '
        BEGIN { while ((getline id < "ids") > 0) want[++n] = id }
        /^$/ { k++ }
        k < n && $4 == want[k + 1] { sum += $5 }
        END { print sum }' >sum
    sed -n "${n}p" out | jq --slurpfile s sum '.logprob - $s[0] | fabs < 0.001'
done

echo "-- why it ends"
text=$(gg-generate -p a -s 1 -n 30 | LC_ALL=C tr -cd a-z | head -c 1)
cat >in <<END
{"prompt":"a","seed":1,"n":2}
{"prompt":"a","seed":1,"n":60,"stop":["not there","$text"]}
{"prompt":"a","seed":1,"n":60}
{"prompt":"a","seed":1,"stop":"not there"}
END
gg-generate --jsonl -c 40 in | jq -r .stop_reason
gg-generate --jsonl -c 40 --stop "$text" in | jq -r .stop_reason | tail -n 2
gg-generate -p a -s 1 -n 30 --stop "$text" >want
sed -n 2p in | gg-generate --jsonl | jq .text >out
jq -Rs . want | cmp - out
if test -f "$top_srcdir/demo/gg-story.gguf"; then
    jq -nc '{prompt: "Once upon a time", seed: 1}' |
        gg-generate -m "$top_srcdir/demo/gg-story.gguf" --jsonl |
        jq -r .stop_reason
else
    echo eog
fi
# A template that needs nothing of the vocabulary.
jq -nc '{messages: [{role: "user", content: "a b"}], n: 5, seed: 1}' >in
gg-generate --jsonl --template alpaca in | jq -r '.ids | join(" ")' |
    gg-tokenize -d >out
gg-generate --chat --template alpaca -p 'a b' -n 5 -s 1 | cmp - out
jq -nc '{prompt: "a b", n: 5, seed: 1}' |
    gg-generate --jsonl --template alpaca | jq -r '.ids | join(" ")' |
    gg-tokenize -d | cmp - out

echo "-- what is wrong"
{
    cat <<'END'
not JSON
[1]
{}
{"prompt":1}
{"prompt":""}
{"prompt":"a","messages":[]}
{"messages":[]}
{"messages":{}}
{"id":1,"messages":[{"role":"user","content":"a"}]}
{"prompt":"a","prompt":"b"}
{"prompt":"a","n":0}
{"prompt":"a","n":1.5}
{"prompt":"a","seed":9007199254740992}
{"prompt":"a","temp":"hot"}
{"prompt":"a","top_p":1.1,"error":"old"}
{"prompt":"a","ignore_eog":1}
{"prompt":"a","stop":["b",""]}
{"prompt":"a","stop":1}
END
    printf '{"prompt":"\377"}\n{"prompt":"a\0"}\n{"prompt":"a\n'
    head -c 200000 /dev/zero | tr '\0' '['
    printf '\n{"prompt":"good","n":1}'
} >in
gg-generate --jsonl -s 1 in >out 2>err
echo "[$?]"
sed 's/\(..*\)"text":.*/\1.../' out
sed 's/^gg-generate: in: //' err | cut -c 1-40 | tail -n 3
{ printf '{"prompt":"'; head -c 17000000 /dev/zero | tr '\0' a; echo '"}'
    echo '{"prompt":"a","n":1,"seed":1}'; } | gg-generate --jsonl 2>/dev/null |
    jq -c '.error, .stop_reason'
