# Where a model's output is not of numbers, nothing that is written passes for
# an answer: status 1, and 3 for records.
"$top_builddir/tests/make_model" llama-f32 nan.gguf output_norm.weight ||
    exit 99
seq 1 9 | tr '\n' ' ' >text
printf '5\t1 2\n6\t3 4\n' >records
printf 'ab\ncd\n' >lines
GG_MODEL=nan.gguf
export GG_MODEL
try() {
    echo "-- $*"
    "$@" >out
    echo "status $?"
}
for o in '' '--top 2' '--keep 2' '--f16' '--score' '--watch logits'; do
    try gg-eval $o text
    try gg-eval $o records
done 2>&1
try gg-eval --embed mean records
try gg-eval --perplexity -c 4 text
try gg-eval --imatrix matrix -c 4 text
test -e matrix && echo "there is a matrix"
for o in '' '--greedy' '--logprobs 3' '--choice a,b'; do
    try gg-generate -n 2 $o -p ab 3>/dev/null
done
try gg-loop 'gg-eval | gg-sample -n 2' <text
