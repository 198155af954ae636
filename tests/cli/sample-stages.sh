# Penalties, DRY, Mirostat and their like: the pipe's bytes are gg-generate's,
# a sequence's ids do not depend on its neighbours, and what cannot be done is
# said.
"$top_builddir/tests/make_model" llama-q4_0 random.gguf || exit 99
ln -s "$GG_MODEL" demo.gguf
tab=$(printf '\t')
GG_MODEL=random.gguf
export GG_MODEL
printf 'a dark and stormy a dark and' >prompt
gg-tokenize <prompt >ids

compare() {
    gg-generate -f prompt -n 40 -s 3 "$@" --logprobs 3 3>want.log >want
    bash -o pipefail -c "gg-loop 'gg-eval | gg-sample -n 40 -s 3 $* \
        --logprobs 3 3>>got.log' <ids | gg-tokenize -d" >got
    cmp got want && cmp got.log want.log
    test "$(wc -l <want.log)" -eq 40 || echo "$*: no 40 lines"
    rm -f got.log
    cksum <want >>all
}
compare --repeat-penalty 1.3 --repeat-last-n 12
compare --frequency-penalty 0.5 --presence-penalty 0.5 --top-k 0 --typical-p 0.7
compare --eta-cutoff 0.004 --top-k 0 --top-p 1
compare --dry-multiplier 2 --dry-allowed-length 1 --logit-bias 7=2 --temp 0
compare --top-n-sigma 1.2 --xtc-probability 0.5 --temp 3
compare --mirostat 1 --ignore-eog
compare --mirostat 2 --mirostat-ent 3 --mirostat-lr 0.2
sort all | uniq | wc -l

echo 'log-probabilities: sequence, position, id, in the model, in the chain'
gg-eval --top 1 ids >top
gg-eval ids | gg-sample --greedy --logprobs 3 3>log >drawn
cut -f 1,2,4,5 top | head -n 1 >want
cut -f 1-4 log | cmp - want
cut -f 5 log
cut -f 3 log | cmp - drawn
gg-eval --keep 3 ids | gg-sample --greedy --logprobs 3 3>kept >drawn
cmp kept log

echo 'neighbours'
export FAKE_EVAL_EOG=none
for i in 1 2 3; do
    for s in 3 4 5; do
        echo "$s${tab}$i $s $s"
    done
done >all
set -- --seed 1 --presence-penalty 5 --repeat-last-n -1 --top-k 0 --mirostat 2
fake_eval <all | gg-sample "$@" | sort >together
for s in 3 4 5; do
    grep "^$s" all | fake_eval | gg-sample "$@"
done | sort | cmp - together

echo 'biases'
gg-eval --top 9 ids >nine
id=$(sed -n 5p nine | cut -f 4)
gg-sample --logit-bias "$id=900" nine | grep -cx "$id"
gg-eval ids | gg-sample --logit-bias "$id=900" | grep -cx "$id"
gg-eval ids | gg-sample --logit-bias "$(cut -f 4 top | head -n 1)=-inf" |
    cmp -s - drawn && echo 'drawn although impossible'

echo 'refused'
run() {
    gg-sample "$@"
    echo "status $?"
}
gg-eval ids >dense
gg-eval --keep 3 ids >kept
run --top-n-sigma 1 kept
run --mirostat 2 kept
run --logit-bias 1000000=1 kept
run --presence-penalty 1 top
run -m demo.gguf --dry-multiplier 1 dense
run --dry-multiplier 1 --dry-sequence-breaker 'never seen' dense
run --logit-bias 5 dense
run --logit-bias x=5 dense
run --logprobs 9 dense
run --logprobs 1 dense
run --mirostat 3 dense
run --dry-sequence-breaker '' dense
