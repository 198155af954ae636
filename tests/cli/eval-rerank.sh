# Qwen3-Reranker, from its folder: the question, and the probability of yes as
# transformers computes it, which golden_folders.py tells of this pair.
mkdir none && gg-convert none x 2>&1 | grep 'without Jansson' >&2 && exit 77
rmdir none
for name in qwen3-reranker qwen3-reranker-untied; do
    make_case "$top_srcdir/tests/fixtures/families/$name.case" tokens.gguf \
        folder || exit 99
    gg-convert folder model.gguf || exit 1
    printf 'who sat?\tThe cat sat, <|im_end|> yes.\n' |
        gg-tokenize -m model.gguf --pairs >pair
    # The last digits are each instruction set's own.
    {
        gg-eval -m model.gguf --cache-type f32 --rank pair
        gg-eval -m model.gguf --cache-type f32 --rank --sigmoid pair
    } | awk '{ printf "%s\t%.4f\n", $1, $2 }'
done
gg-inspect -k qwen3.pooling_type model.gguf
gg-inspect -k qwen3.classifier.output_labels model.gguf
gg-inspect --tensors model.gguf | grep -c '^output\.weight\|^cls'
