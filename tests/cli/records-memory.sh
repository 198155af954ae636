# Memory runs out while records are answered as they are done: those that lack it
# have an error that says so, all others the answers that they have otherwise; or
# the tool says so once, and ends with status 1. GG_ALLOC_POINTS of the allocations
# after the model was opened are tried (0: all), each once alone and once with all
# that follow it.
if ! (ulimit -v 300000 && gg-convert --version) >/dev/null 2>&1; then
    echo 'sanitizers have a malloc() of their own' >&2
    exit 77
fi
"$top_builddir/tests/make_model" llama-q4_0 random.gguf || exit 99
GG_MODEL=random.gguf
export GG_MODEL
echo '{"prompt":"a"}' | gg-generate --jsonl -n 1 2>&1 |
    grep 'without Jansson' >&2 && exit 77
failing=$top_builddir/tests/.libs/failing_alloc.so

cat >in <<'END'
{"id":"whole","prompt":"a b c","seed":1,"n":5,"temperature":1.5}
{"id":"stream","prompt":"a b","seed":2,"n":6,"stream":true,"logprobs":1}
{"id":"choice","prompt":"a b","choice":["c","d e"]}
{"custom_id":"embeds","url":"/v1/embeddings","body":{"input":["a","b c"]}}
{"custom_id":"likely","url":"/v1/completions","body":{"prompt":"a b","echo":true,"logprobs":1,"max_tokens":0}}
{"id":"ids","tokenize":{"content":"a b","with_pieces":true}}
END

# gg-generate, of which allocation $1 fails.
run() {
    GG_FAIL_ALLOC="gg-generate $1" GG_COUNT_ALLOC=count LD_PRELOAD=$failing \
        gg-generate --jsonl --unordered -q --device cpu -t 1 --batch 3 --pooling mean "$2" \
        >out 2>err
}

# Lines without what depends on time, and of errors who has them.
plain() {
    jq -c 'def short: .error.code // .response.body.error.code
            | if . == "out_of_memory" then . else empty end;
        select((.start or .progress) | not)
        | del(.timings, .response.body.created, .response.body.id,
              .response.request_id, .response.body.usage.prompt_tokens_details,
              .usage)
        | [.id // .custom_id, short // .]' "$@"
}

run 100000000 /dev/null
from=$(cat count)
run 100000000 in
to=$(cat count)
plain out | sort -u >good
test "$(wc -l <good)" -gt 8 || { echo 'too little'; cat out err; }
points=${GG_ALLOC_POINTS:-6}
step=$(((to - from) / (points > 0 ? points : to)))
test "$step" -gt 0 || step=1
failed=0
at=$from
while test $at -lt $to; do
    for all in '' +; do
        run "$at$all" in
        status=$?
        plain out 2>/dev/null | sort -u >lines
        grep -v '"out_of_memory"\]$' lines | comm -23 - good >other
        ends=$(jq -c 'select(.delta or .start or .progress | not)' out \
            2>/dev/null | wc -l)
        failed=$((failed + $(grep -c '"out_of_memory"\]$' lines)))
        if test -s other || { test $status = 1 && ! grep -q memory err; } ||
            { test $status != 1 && test "$ends" != 6; } || test $status -gt 3; then
            echo "allocation $at$all: status $status, $ends ends"
            cat other err
        fi
    done
    at=$((at + step))
done
test $failed -gt 0 || echo 'nothing failed'

echo '-- a record that wants much'
{
    printf '{"id":"much","stream":true,"prompt":"a","x":['
    yes '{},' | head -n 800000 | tr -d '\n'
    printf '{}]}\n'
    sed -n 1p in
} >large
(
    ulimit -v 250000
    gg-generate --jsonl --unordered -q --device cpu -t 1 large >out 2>err
    echo "status $?"
)
jq -c '[.id, .error]' out
cat err
