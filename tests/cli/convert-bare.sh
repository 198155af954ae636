# A model without what stands on top of its layers, as sentence-transformers
# saves it: another class, names without their outermost part, no output.
mkdir none && gg-convert none x 2>&1 | grep 'without Jansson' >&2 && exit 77
rmdir none
cases=$top_srcdir/tests/fixtures/families

# Names lose "model." and the like: blanks keep the header's length. What a
# model has in place of its output is a tensor that is left out.
bare_names() { # FILE ROOT
    LC_ALL=C sed -i "1s/\"$2\\.\\([^\"]*\":\\)/\"\\1 $3/g
        1s/\"lm_head\\.weight\":/\"pooler.dense.x\":/" "$1"
}
blanks() {
    printf '%*s' "${#1}" ''
}
tensors() {
    gg-inspect --hash "$1" | grep '	blk\.\|token_embd'
}
try() { # CASE CLASS
    rm -rf folder scratch
    make_case "$cases/$1.case" scratch folder || exit 99
    gg-convert folder whole.gguf || return
    for root in model transformer backbone; do
        for f in folder/*.safetensors; do
            bare_names "$f" $root "$(blanks $root)"
        done
        test ! -f folder/*.index.json ||
            sed -i "s/\"$root\\.\\([^\"]*\":\\)/\"\\1/g" folder/*.index.json
    done
    sed -i "s/\"architectures\":\\[\"[^\"]*\"/\"architectures\":[\"$2\"/
        s/\"tie_word_embeddings\":true/\"tie_word_embeddings\":false/" \
        folder/config.json
    gg-convert folder bare.gguf || echo "$1: $2"
    tensors whole.gguf >whole && tensors bare.gguf | cmp - whole
}
# One for each way that names have an outermost part.
try ernie4_5 Ernie4_5Model
try mamba MambaModel
try bloom BloomModel
try qwen2vl Qwen2VLModel
try gemma4 Gemma4TextModel
try glm4moe Glm4MoeModel
