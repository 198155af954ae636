# What a model's file says of sampling: who counts, in one process and in the
# pipe; states and jobs that go on; bad values.
set_keys() { # OUT KEY=VALUE...
    out=$1
    shift
    for v; do set -- "$@" --set "general.sampling.$v"; shift; done
    gg-convert -q "$@" "$GG_MODEL" "$out"
}
gen() { gg-generate -q -p Once -n 16 "$@"; }
set_keys zero.gguf temp=0 top_k=20 'sequence=top_k;topp;temp'
for s in 1 2 3; do gen -m zero.gguf -s $s; echo; done | sort | uniq -c | awk '{ print $1 }'
gen --temp 0 >greedy && gen -m zero.gguf -s 9 | cmp - greedy
echo "an option, ours, a file without keys"
gen -s 5 --temp 0.8 --top-k 20 >want && gen -m zero.gguf -s 5 --temp 0.8 --defaults own --top-k 20 | cmp - want
gen -s 5 >want && gen -m zero.gguf -s 5 --defaults own | cmp - want
gen -s 5 --defaults file | cmp - want
echo "the pipe"
set_keys many.gguf temp=1.3 penalty_repeat=1.2 penalty_last_n=-1 top_k=-1 top_p=0.9 min_p=0.01
set_keys miro.gguf mirostat=2 mirostat_tau=3 mirostat_eta=0.2
set_keys xtc.gguf xtc_probability=0.5 xtc_threshold=0.05
for m in zero many miro xtc; do
    gen -m $m.gguf -s 4 >want
    for by in '' '| gg-logits' '| gg-logits --to text | gg-logits' '| gg-logits --to jsonl | gg-logits'; do
        printf Once | gg-tokenize -m $m.gguf | gg-loop "gg-eval -q -m $m.gguf $by | gg-sample -q -n 16 -s 4" | gg-tokenize -d -m $m.gguf | cmp - want
    done
done
gen -s 4 --temp 1.3 --repeat-penalty 1.2 --repeat-last-n -1 --top-k 0 --top-p 0.9 --min-p 0.01 >want
gen -m many.gguf -s 4 | cmp - want
echo "--mix: the first stream's"
printf '5 6 7\n' | gg-eval -q -m zero.gguf >z
printf '5 6 7\n' | gg-eval -q >plain
gg-logits --mix plain=1 z=1 | gg-logits --to jsonl | grep -c sampling
gg-logits --mix z=1 plain=1 | gg-logits --to jsonl | grep -o '"sampling":"[^"]*"'
for s in 1 2 3; do gg-logits --mix z=1 plain=1 | gg-sample -q -s $s; done | uniq -c | awk '{ print $1 }'
echo "two streams, of which one says something; --top has nothing"
cat z plain >both && gg-sample -q -n 1 -s 3 both | tail -n 1 >a && gg-sample -q -n 1 -s 3 plain | cmp - a
gg-eval -q --top 5 -m zero.gguf <a | grep -c sampling
echo "whose value counts"
gen -m zero.gguf -s 1 --top-k 7 -v 2>&1 >/dev/null | grep 'whose value'
gg-sample -v -s 1 --top-k 7 z 2>&1 >/dev/null | grep 'whose value'
gg-inspect zero.gguf | grep '^sampling'
gg-inspect "$GG_MODEL" | grep -c '^sampling'
echo '{"prompt":"Once","n":2,"temperature":0.5}' | gg-generate -m zero.gguf --jsonl -s 1 --top-k 9 | grep -o '"file_sampling.*'
echo '{"prompt":"Once","n":2}' | gg-generate --jsonl -s 1 | grep -c file_sampling
echo "out of range: a warning each, and ours"
set_keys bad.gguf temp=-2 top_k=str:many 'top_p=f32:3' sequence=none mirostat=7
gg-generate -m bad.gguf -p Once -n 16 -s 5 2>err >got
grep -c 'is not used' err
gen -s 5 | cmp - got
grep top_p err
gg-generate -q -m bad.gguf -p Once -n 1 -s 5 2>&1 >/dev/null | grep -c used
gg-inspect bad.gguf | grep '^sampling'
printf '5 6 7\n' | gg-eval -q -m bad.gguf | gg-sample -s 1 2>&1 >/dev/null | grep -c 'is not used'
echo "states keep what they began with"
for m in zero "${GG_MODEL%.gguf}"; do
    gg-generate -q -m "$m.gguf" -p Once -n 4 -s 1 --save st >/dev/null
    for now in zero.gguf "$GG_MODEL"; do
        for s in 1 2 3; do gg-generate -q -m "$now" --load st -p ' a' -n 12 -s $s; echo; done | sort | uniq -c | wc -l
        for s in 1 2 3; do printf ' a' | gg-tokenize --no-bos -m "$now" | gg-loop "gg-eval -q -m $now --load st | gg-sample -q -n 12 -s $s" | gg-tokenize -d -m "$now"; echo; done | sort | uniq -c | wc -l
    done
done
echo "jobs, too"
printf '{"prompt":"Once"}\n{"prompt":"The"}\n' >in
for m in zero.gguf "$GG_MODEL"; do
    gg-generate -q -m "$m" --jsonl -n 8 -s 1 in >all
    for now in zero.gguf "$GG_MODEL"; do
        head -n 1 all >part
        gg-generate -q -m "$now" --jsonl -n 8 -s 1 --resume part in
        cmp part all
    done
done
echo "of batch files, as well"
for i in 1 2; do
    echo '{"custom_id":"'$i'","body":{"model":"m","prompt":"Once","seed":'$i',"max_tokens":4}}'
done >in
for m in zero.gguf "$GG_MODEL"; do
    gg-generate -q -m "$m" --jsonl in >all
    for now in zero.gguf "$GG_MODEL"; do
        head -n 1 all >part
        gg-generate -q -m "$now" --jsonl --resume part in
        for f in part all; do grep -o '"text":"[^"]*"' $f >$f.texts; done
        cmp part.texts all.texts
    done
done
grep -c file_sampling all
echo "texts do not tell"
set_keys hot.gguf temp=2
printf 'Once\nThe\n' >in
gg-generate -q -m hot.gguf --lines -n 4 --resume new in || ls new
gg-generate -q -m hot.gguf --lines -n 4 --resume new --defaults own in && wc -l <new
for m in zero hot; do
    rm new && gg-generate -q -m $m.gguf --lines -n 4 -s 1 --resume new in && wc -l <new
done
echo "parts of a job need a seed where it is drawn from"
gg-generate -q -m zero.gguf --lines -n 4 in >all
for i in 1 2; do gg-generate -q -m zero.gguf --lines -n 4 --shard $i/2 in; done | cmp - all
gg-generate -q -m hot.gguf --lines -n 4 --shard 1/2 in
gg-generate -q -m zero.gguf --lines -n 4 --temp 1 --shard 1/2 in
gg-generate -q -m zero.gguf --lines -n 4 --defaults own --shard 1/2 in
for m in zero hot; do
    gg-tokenize -q --lines -m $m.gguf in | gg-eval -q -m $m.gguf | gg-sample -q --shard 1/2 -n 1 | wc -l
done
echo "a stage that is not known"
set_keys stages.gguf 'sequence=infill;top_k;tfs_z;temp' top_k=3
gg-generate -m stages.gguf -p Once -n 8 -s 5 2>err >got
grep 'is not used' err
gen --samplers 'top_k;temp' --top-k 3 -n 8 -s 5 | cmp - got
echo "generation_config.json"
mkdir none && gg-convert none x 2>&1 | grep -q 'without Jansson' && exit 77
rmdir none
make_folder llama-f32 plain.gguf folder || exit 99
echo '{"do_sample": true, "temperature": 0.6, "top_k": 20, "top_p": 0.95, "min_p": 0, "repetition_penalty": 1.05, "eos_token_id": [2]}' >folder/generation_config.json
gg-convert -q folder of.gguf && gg-inspect of.gguf | grep '^sampling'
echo '{"do_sample": false, "temperature": 0.6, "top_k": null}' >folder/generation_config.json
gg-convert -q folder of.gguf && gg-inspect of.gguf | grep '^sampling'
echo '{"eos_token_id": [2]}' >folder/generation_config.json
gg-convert -q folder of.gguf && gg-inspect of.gguf | awk '/^sampling/ { n++ } END { print n + 0 }'
