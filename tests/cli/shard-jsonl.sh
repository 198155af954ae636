# --shard I/N of records in JSON and of OpenAI's batch files, --numbered there,
# and parts that are killed and resumed.
"$top_builddir/tests/make_model" llama-q4_0 model.gguf || exit 99
GG_MODEL=$PWD/model.gguf
export GG_MODEL
unset SOURCE_DATE_EPOCH
echo '{"prompt":"a"}' | gg-generate --jsonl -n 1 2>&1 |
    grep 'without Jansson' >&2 && exit 77
in_turn() { paste -d '\n' "$@" | head -n "$(cat "$@" | wc -l)"; }
printf '%s' '{{ strftime_now("%Y-%m-%d") }}{% for m in messages %}{{ m.content }}{% endfor %}' >date.jinja
cat >job.jsonl <<'END'
{"id":1,"prompt":"a b","n":5}
{"id":2,"messages":[{"role":"user","content":"a"}],"n":4}

not JSON
{"id":4,"prompt":"b","n":5,"seed":7}
{"id":5,"prompt":"b","top_p":2}
{"custom_id":"6","url":"/v1/completions","body":{"prompt":"ab","max_tokens":6,"n":2}}
{"id":7,"prompt":"ba","n":5,"greedy":true}
{"custom_id":"8","url":"/v1/completions","body":{}}
END
generate() {
    gg-generate --jsonl --template date.jinja -q -s 3 --date 2024-02-29 "$@"
}

echo "-- parts"
generate job.jsonl >whole 2>said
echo "[$?]"
cat said
for n in 2 3; do
    rm -f part.*
    for i in $(seq $n); do
        generate --shard $i/$n job.jsonl >part.$i 2>said.$i
        echo "$i/$n [$?]"
    done
    in_turn part.* | cmp - whole
    cat said.[1-$n] | sort >all
    sort said | cmp - all
done

echo "-- one that was killed"
generate --shard 1/2 job.jsonl >want 2>/dev/null
for n in 0 1 100 $(($(head -n 2 want | wc -c))) $(($(wc -c <want) - 1)); do
    head -c "$n" want >got
    generate --shard 1/2 --resume got job.jsonl 2>/dev/null
    echo "$n of $(wc -c <want): [$?]"
    cmp want got
done
# What another part has written is none of it.
generate --shard 2/2 job.jsonl >got 2>/dev/null
generate --shard 1/2 --resume got job.jsonl
echo "[$?]"

echo "-- the numbers that records say"
awk 'NF { print (NR < 4 ? NR : NR - 1) "\t" $0 }' job.jsonl | sed '3d' |
    sed 's/^\([0-9]*\)\t{/{"number":\1,/' >numbered.jsonl
sort -r numbered.jsonl >shuffled.jsonl
generate --numbered numbered.jsonl 2>/dev/null | sort >numbered
# With them an answer is that of its place.
sed '3d; s/{"id":\([0-9]\)/{"number":0,"id":\1/' whole >want
sed 's/"number":[1-9]/"number":0/' numbered | sort >got
sort want | cmp - got
generate --numbered shuffled.jsonl 2>said | sort | cmp - numbered
cat said
for i in 1 2 3; do
    generate --numbered --shard $i/3 shuffled.jsonl 2>/dev/null
done | sort | cmp - numbered
split -n r/2 shuffled.jsonl piece.
for f in piece.a?; do generate --numbered "$f" 2>/dev/null; done | sort |
    cmp - numbered
printf '%s\n' '{"prompt":"a"}' '{"prompt":"a","number":-1}' \
    '{"prompt":"a","number":1.5}' '{"prompt":"a","number":"1"}' \
    '{"prompt":"a","number":9007199254740992}' >bad
generate --numbered bad
echo "[$?]"
echo '{"prompt":"a","number":5,"n":1,"seed":1}' | generate | cut -c 1-25

echo "-- what a part must be told"
gg-generate --jsonl --greedy --shard 1/2 job.jsonl
sed -n 2p job.jsonl | sed p >chats
gg-generate --jsonl -s 1 --shard 1/2 --template date.jinja chats
sed -n 7p job.jsonl >batch
gg-generate --jsonl -s 1 --shard 1/2 batch
gg-tokenize --chat --lines --shard 1/2 --template date.jinja chats
# Which it need not where the environment says the date, or nobody asks for it.
generate --shard 2/2 job.jsonl >want 2>/dev/null
SOURCE_DATE_EPOCH=1709164800 gg-generate --jsonl -q -s 3 --shard 2/2 \
    --template date.jinja job.jsonl 2>/dev/null | cmp - want
sed -n 1,2p job.jsonl | gg-generate --jsonl -s 3 --shard 1/2 | cut -c 1-15
gg-generate --jsonl -s 3 --shard 1/2 --template alpaca -n 1 chats | cut -c 1-15
