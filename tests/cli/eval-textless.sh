# A vocabulary is needed for texts only: ids are evaluated without one, or with
# one of a kind that nobody knows.
"$top_builddir/tests/make_model" llama-f32 model.gguf || exit 99
gg-convert -q --set tokenizer.ggml.model=str:none model.gguf none.gguf
gg-convert -q --set tokenizer.ggml.model=str:test model.gguf test.gguf
gg-convert -q --unset tokenizer.ggml.model --unset tokenizer.ggml.tokens \
    --unset tokenizer.ggml.token_type --unset tokenizer.ggml.merges \
    --set tokenizer.ggml.eos_token_id=u32:7 model.gguf bare.gguf
echo '1 2 3' >ids
logits() {
    gg-eval -m $1 ids | gg-logits --to text | sed 1d
}
logits model.gguf >want
gg-eval -m model.gguf --embed mean ids | gg-logits --to text | sed 1d >vectors
for m in none.gguf test.gguf bare.gguf; do
    echo "$m"
    logits $m | cmp - want
    gg-eval -m $m --embed mean ids | gg-logits --to text | sed 1d |
        cmp - vectors
    gg-eval -m $m --top 2 ids | cut -f 1-4
    gg-eval -m $m --score ids | awk '{ printf "%s\t%s\t%s\t%.4f\n", $1, $2, $3, $4 }'
    gg-eval -m $m ids | gg-sample -n 1 --greedy
    gg-loop "gg-eval -m $m | gg-sample --greedy -n 3" <ids
    gg-eval -m $m --save state ids >out && gg-eval -m $m --load state ids >out ||
        echo "no state"
    gg-generate -m $m -n 1 -p a
    echo a | gg-tokenize -m $m
    echo 1 | gg-tokenize -d -m $m
done 2>&1
# What is wrong is not unknown.
gg-convert -q --set tokenizer.ggml.model=u32:1 model.gguf bad.gguf
gg-eval -m bad.gguf ids
# What ends a generation ends it here, too.
gg-eval -m bare.gguf ids | gg-logits --to jsonl | head -n 1
