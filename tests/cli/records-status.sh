# Each tool in each of its modes with records: 3 where one of them is bad and
# all others are done, 0 where none is. Of one text it is 1.
"$top_builddir/tests/make_model" llama-q4_0 model.gguf || exit 99
GG_MODEL=model.gguf
export GG_MODEL
run() {
    label=$1
    shift
    "$@" >out 2>words
    echo "$label: $?"
}
both() {
    name=$1 good=$2 bad=$3
    shift 3
    run "$name, all well" "$@" "$good"
    run "$name, one bad" "$@" "$bad"
}
long=$(seq -s ' ' 1 90)
printf 'a\nb\n' >lines
printf 'a\n%s\nb\n' "$long" >long
tr '\n' '\0' <lines >nul
tr '\n' '\0' <long >longnul
printf '1\ta\n2\tb\n' >numbers
printf '1\ta\nb\n' >nonumber
printf 'a\nb <|x\n' >special
echo "$long" >one
echo a >short

both 'gg-tokenize --lines' lines long gg-tokenize --lines --max 8
both 'gg-tokenize -0' nul longnul gg-tokenize -0 --max 8
both 'gg-tokenize --lines --count' lines long gg-tokenize --lines --count --max 8
both 'gg-tokenize --lines --pieces' lines long gg-tokenize --lines --pieces --max 8
both 'gg-tokenize --lines --binary' lines long gg-tokenize --lines --binary u32 --max 8
both 'gg-tokenize, one text' short one gg-tokenize --max 8

gg-tokenize --lines lines >ids
gg-tokenize --lines --max 8 long >badids 2>words
gg-tokenize short >oneid
printf '!it was nothing\n' >onebad
both 'gg-tokenize -d' ids badids gg-tokenize -d
both 'gg-tokenize -d --lines' ids badids gg-tokenize -d --lines
both 'gg-tokenize -d -0' ids badids gg-tokenize -d -0
both 'gg-tokenize -d, one text' oneid onebad gg-tokenize -d
both 'gg-eval' ids badids gg-eval
both 'gg-eval --top' ids badids gg-eval --top 1
both 'gg-eval --score' ids badids gg-eval --score
both 'gg-eval --embed' ids badids gg-eval --embed mean
both 'gg-eval --embed, no numbers' oneid onebad gg-eval --embed mean
{ cat oneid; cat onebad; } >later
both 'gg-eval, one text' oneid later gg-eval

gg-eval ids >logits
gg-eval badids >badlogits 2>words
gg-eval oneid >onelogits
gg-eval later >onebadlogits 2>words
both 'gg-sample' logits badlogits gg-sample --greedy
both 'gg-sample, one text' onelogits onebadlogits gg-sample --greedy
both 'gg-logits' logits badlogits gg-logits
both 'gg-logits --to text' logits badlogits gg-logits --to text
both 'gg-logits, one text' onelogits onebadlogits gg-logits
run 'gg-logits --diff, all well' gg-logits --diff logits logits
run 'gg-logits --diff, one bad' gg-logits --diff badlogits badlogits
run 'gg-logits --mix, one bad' gg-logits --mix badlogits=0.5 badlogits=0.5
gg-eval --embed mean ids >vectors
gg-eval --embed mean badids >badvectors 2>words
gg-eval --embed mean later >onebadvectors 2>words
both 'gg-logits --near' vectors badvectors gg-logits --near vectors
both 'gg-logits, vectors' vectors badvectors gg-logits
both 'gg-logits, vectors, no numbers' vectors onebadvectors gg-logits

both 'gg-generate --lines' lines long gg-generate --lines -n 2 -c 64 -s 1
both 'gg-generate -0' nul longnul gg-generate -0 -n 2 -c 64 -s 1
both 'gg-generate --numbered' numbers nonumber gg-generate --lines --numbered -n 2 -s 1
both 'gg-generate --choice' lines long gg-generate --lines --choice x,y -c 64
run 'gg-generate, one text' gg-generate -n 2 -c 64 one
run 'gg-generate, one choice' gg-generate --choice x,y -c 64 one
if echo '{"prompt":"a"}' | gg-generate --jsonl -n 1 2>&1 | grep -q 'without Jansson'; then
    echo 'gg-generate --jsonl, all well: 0'
    echo 'gg-generate --jsonl, one bad: 3'
else
    printf '{"prompt":"a"}\n{"prompt":"b"}\n' >jsonl
    printf '{"prompt":"a"}\n{"prompt":1}\n' >badjsonl
    both 'gg-generate --jsonl' jsonl badjsonl gg-generate --jsonl -n 2 -s 1
fi

echo 'forms that -n cuts:'
echo 'root ::= "aaaaa" "b"*' >form
for n in 2 300; do
    run "gg-generate -n $n" gg-generate -p a --grammar form -n $n -c 400 -s 1 --logit-bias 1=0
    run "gg-generate --lines -n $n" gg-generate --lines --grammar form -n $n -c 400 -s 1 lines
    grep -c 'before its grammar or schema is satisfied' words
    run "gg-sample -n $n" sh -c "gg-loop 'gg-eval -c 400 | gg-sample --grammar form -n $n -s 1' <oneid"
done
