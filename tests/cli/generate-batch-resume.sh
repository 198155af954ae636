# OpenAI's batch files: a run that was killed, and one on another day.
"$top_builddir/tests/make_model" llama-q4_0 random.gguf || exit 99
GG_MODEL=random.gguf
export GG_MODEL
unset SOURCE_DATE_EPOCH
echo '{"prompt":"a"}' | gg-generate --jsonl -n 1 2>&1 |
    grep 'without Jansson' >&2 && exit 77
seq 12 | sed 's#.*#{"custom_id":"id-&","method":"POST","url":"/v1/completions","body":{"prompt":"a b &","n":2,"max_tokens":9,"logprobs":1}}#; 3s#completions#embeddings#' >data
generate() {
    gg-generate --jsonl -s 3 "$@"
}

echo "-- killed"
SOURCE_DATE_EPOCH=1700000000 generate data >want 2>/dev/null
mkfifo pipe
for signal in KILL TERM; do
    rm -f out
    SOURCE_DATE_EPOCH=1700000000 default_signals gg-generate --jsonl -s 3 \
        --batch 3 --resume out <pipe 2>/dev/null &
    exec 3>pipe
    head -n 7 data >&3
    until test "$(cat out 2>/dev/null | wc -l)" -ge 5; do
        sleep 0.02
    done
    kill -$signal $!
    { wait $!; } 2>/dev/null
    exec 3>&-
    cmp -n "$(wc -c <out)" out want
    printf '{"id":"batch_req_8","cus' >>out
    # The date is that of the answers that are there.
    generate --resume out data
    echo "[$?]"
    cmp out want
done
head -n 2 want >out
generate --resume out data 2>/dev/null && echo "none failed?"
cmp out want

echo "-- another job"
try() {
    head -n 5 want >out
    "$@" --resume out
    echo "[$?] $(wc -l <out)"
}
try generate data --date 2020-01-01
try gg-generate --jsonl -s 4 data
sed 's/id-2"/id-two"/' data >other
try generate other
sed '5s/a b/b a/' data >other
try generate other
sed 's/"max_tokens"/"seed":1,"max_tokens"/' data >other
try generate other
sed '2s/.*/{"id":"id-2","prompt":"a"}/' data >other
try generate other
head -n 3 data >other
try generate other
sed 's/"created":1700000000/"created":"now"/' want >out
generate --resume out data
echo "[$?]"
