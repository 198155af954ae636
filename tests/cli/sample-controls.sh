# The order of stages, the dynamic temperature, adaptive-p, a least number of
# tokens and banned strings: the pipe's bytes are gg-generate's, and those of a
# record.
gg-tokenize -q --chat --template alpaca /dev/null 2>&1 |
    grep 'without Jansson' >&2 && exit 77
prompt='Once upon a time'
printf '%s' "$prompt" >prompt
gg-tokenize <prompt >ids

compare() {
    gg-generate -f prompt -n 50 "$@" --logprobs 3 3>want.log >want
    shown=
    for word in "$@"; do
        shown="$shown '$word'"
    done
    gg-loop "gg-eval | gg-sample -n 50 $shown --logprobs 3 3>>got.log" <ids |
        gg-tokenize -d >got
    cmp got want && cmp got.log want.log
    rm -f got.log
    gg-generate -f prompt -n 50 "$@" --draft prompt -t 1 | cmp - want
    cat want >>all
    echo >>all
}
for seed in 1 2; do
    compare -s $seed --samplers 'top_k;typ_p;top_p;min_p;xtc;temperature'
    compare -s $seed --samplers temp,top-k --dynatemp-range 0.5 --temp 1
    compare -s $seed --dynatemp-range 0.7 --dynatemp-exp 2
    compare -s $seed --adaptive-target 0.2 --adaptive-decay 0.5 --min-tokens 50
    compare -s $seed --ban was --ban ' there' --ban 'e ' --ban o
    compare -s $seed --ban ' there was a' --ban ' One day' --ban '. '
    compare -s $seed --ban he --repeat-penalty 1.3 --mirostat 2
    compare -s $seed --ban he --adaptive-target 0.2 --dry-multiplier 1
done
sort -u all | wc -l

echo "-- banned"
gg-generate -f prompt -n 80 -s 1 --greedy >plain
for ban in little 'a l' ' the' 'e' "$(tail -c 30 plain | head -c 12)"; do
    gg-generate -f prompt -n 80 --greedy --ban "$ban" >without
    grep -cF -- "$ban" plain without
    test "$(wc -c <without)" -gt 100 || echo 'hardly a text'
done
cut -c 1-20 plain >begin
gg-generate -p "$(cat plain)" -n 5 -s 1 --ban 'Once' | wc -c | grep -cv '^0$'
echo '{"properties":{"a":{"type":"string","maxLength":30},
    "b":{"enum":["cat","cow"]}},"required":["a","b"]}' >schema
compare -s 5 --json-schema schema --ban ca --ban '":"'
tail -n 1 all | jq -r .b
printf 'root ::= "cat"' >grammar
gg-generate -f prompt --grammar grammar --ban cat
gg-loop 'gg-eval | gg-sample --grammar grammar --ban cat' <ids
echo "[$?]"
gg-eval ids | gg-sample --greedy --ban time | gg-tokenize -d | grep -c time

echo "-- a context shift, conversations, recurrent states"
gg-generate --shift -p a --ban b
gg-loop "gg-eval --shift | gg-sample -n 40 -s 1 --ban ' there was a' --ban ' girl n'" <ids |
    grep '!'
echo '{"prompt":"a","ban":["b"]}' | gg-generate --shift --jsonl
set -- -q --template alpaca -n 30 -s 2 --ban was --ban e
printf 'Of a cat.\nAnd then?\n' | gg-generate "$@" -i >want
for say in 'Of a cat.' 'And then?'; do
    gg-generate "$@" --chat --state talk -p "$say" && echo
done | cmp - want
for model in mamba2 rwkv7 lfm2; do
    "$top_builddir/tests/make_model" $model-f32 $model.gguf || exit 99
    (
        export GG_MODEL=$model.gguf
        gg-tokenize <prompt >ids
        compare -s 1 --ban a --ban er --ban ' s'
        compare -s 2 --ban a --ban er --ban ' s'
    )
done
gg-tokenize <prompt >ids

echo "-- neighbours"
printf 'Once upon a time\nThe dog\nA cat was\nLily and\nOne day\n' >prompts
set -- -n 40 -s 4 --repeat-penalty 1.1 --min-tokens 30
gg-generate --lines "$@" --ban was --ban the <prompts >want
gg-generate --lines "$@" --ban was --ban the --batch 1 <prompts | cmp - want
gg-generate --lines "$@" --ban was --ban the --batch 3 -t 2 <prompts |
    cmp - want
gg-tokenize --lines <prompts >numbered
for batch in 1 2 8; do
    gg-loop --batch $batch "gg-eval --batch $batch |
        gg-sample $* --ban was --ban the" <numbered | sort -sn >got.$batch
    cmp got.1 got.$batch
done
gg-tokenize -d --lines <got.1 | cut -f 2- >text
grep -c 'was\|the' text want
while read -r line; do
    jq -nc --arg p "$line" '{prompt: $p, ban: ["was", "the"], seed: 4}'
    gg-generate -p "$line" "$@" --ban was --ban the >&3
    echo >&3
done <prompts >records 3>each
gg-generate --jsonl "$@" <records | jq -r .text | cmp - each
head -n 2 want >half
cp half resumed
gg-generate --lines "$@" --ban was --ban the --resume resumed <prompts
cmp resumed want

echo "-- members"
cat >records <<'E2'
{"prompt":"Once","n":9,"samplers":["top_k","temperature"],"dynatemp_range":0.5,"seed":1}
{"prompt":"Once","n":9,"samplers":"top_k;temperature","dynatemp_range":0.5,"dynatemp_exponent":1,"seed":1}
{"prompt":"Once","n":9,"adaptive_target":0.3,"adaptive_decay":0.8,"min_tokens":9,"seed":1}
{"prompt":"Once","n":9,"bad_words":["upon"],"temperature":0}
{"prompt":"Once","n":9,"banned_strings":"upon","temperature":0}
{"prompt":"Once","ban":[""]}
{"prompt":"Once","ban":7}
{"prompt":"Once","samplers":["top_q"]}
{"prompt":"Once","samplers":[7]}
{"prompt":"Once","adaptive_target":2}
{"prompt":"Once","min_tokens":-1}
E2
gg-generate --jsonl <records >answers
echo "[$?]"
jq -r 'if .text then (.text | length > 5) else .error end' answers
jq -r 'select(.text) | .text' answers | uniq -d | wc -l

echo "-- a state goes on"
gg-generate -f prompt -n 20 -s 3 --adaptive-target 0.3 --save state >first
gg-generate --load state -n 20 -s 3 --adaptive-target 0.3 >second
cat first second >both
gg-generate -f prompt -n 40 -s 3 --adaptive-target 0.3 |
    cmp - both

echo "-- too few"
gg-eval --keep 9 ids >few
for list in 'top-k' 'top-p;top-k' 'xtc;top-k' 'temp;min-p' 'typ_p' 'dry;top_k' \
    'top-n-sigma;top-k'; do
    gg-sample --samplers "$list" --xtc-probability 1 --typical-p 0.5 \
        --dry-multiplier 1 --top-n-sigma 1 -s 1 few
done
gg-sample --dynatemp-range 1 -s 1 few
gg-sample --samplers 'top-k;temp' --top-k 9 -s 1 few >some
gg-eval ids | gg-sample --samplers 'top-k;temp' --top-k 9 -s 1 | cmp - some

echo "-- refused"
for word in 'top-q' 'top-k;top_k' mirostat; do
    gg-sample --samplers "$word" few
done
gg-sample --ban '' few
gg-sample --min-tokens -1 few
gg-sample --adaptive-target 1.5 few
gg-sample --adaptive-decay 1 few
gg-sample --dynatemp-range -1 few
gg-sample --eta-cutoff 2 few
printf '5\n-2 7\n' | gg-tokenize -d
printf '5\n-2 7\n' | gg-eval --top 1
echo 1 | gg-loop 'read x; echo "-1 5"'
echo 1 | gg-loop 'read x; printf "5?\n6 7?\n-2 9?\n-1 8?\n4\n3?\n"'
printf '8\t1\n' | gg-loop 'read x; printf "8\t5?\n8\t6?\n8\t-2 9\n8\t7?\n8\t\n"'
