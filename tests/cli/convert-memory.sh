# One tensor at a time is in memory, mapped pages included: models of 64 MB, no
# tensor of which has more than 2.
mkdir none && gg-convert none x 2>&1 | grep 'without Jansson' >&2 && exit 77
rmdir none
if ! (ulimit -v 300000 && gg-convert --version) >/dev/null 2>&1; then
    echo 'sanitizers need more' >&2
    exit 77
fi
make_folder qwen2-f32 small.gguf model || exit 99
sed -i 's/"num_hidden_layers":2/"num_hidden_layers":6/
    s/"hidden_size":64/"hidden_size":512/
    s/"intermediate_size":[0-9]*/"intermediate_size":1024/
    s/"num_attention_heads":[0-9]*/"num_attention_heads":8/
    s/"num_key_value_heads":[0-9]*/"num_key_value_heads":8/' model/config.json
header() { # name, rows, columns
    bytes=$(($2 * $3 * 4))
    test "$2" = 1 && shape=$3 || shape=$2,$3
    printf ',"%s":{"dtype":"F32","shape":[%s],"data_offsets":[%d,%d]}' \
        "$1" "$shape" "$at" $((at + bytes))
    at=$((at + bytes))
}
at=0
{
    printf '{"__metadata__":{"format":"pt"}'
    header model.embed_tokens.weight 300 512
    header model.norm.weight 1 512
    for i in 0 1 2 3 4 5; do
        l=model.layers.$i
        header $l.input_layernorm.weight 1 512
        header $l.post_attention_layernorm.weight 1 512
        for x in q k v; do
            header $l.self_attn.${x}_proj.weight 512 512
            header $l.self_attn.${x}_proj.bias 1 512
        done
        header $l.self_attn.o_proj.weight 512 512
        header $l.mlp.gate_proj.weight 1024 512
        header $l.mlp.up_proj.weight 1024 512
        header $l.mlp.down_proj.weight 512 1024
    done
    printf '}'
    echo $at >end
} >header
n=$(wc -c <header)
{
    for i in 0 1 2 3 4 5 6 7; do
        printf "\\$(printf %o $((n >> 8 * i & 255)))"
    done
    cat header
    head -c "$(cat end)" /dev/zero | tr '\0' '\12' # bytes that are numbers
} >model/model.safetensors
grep -q '"tie_word_embeddings":true' model/config.json ||
    sed -i 's/"tie_word_embeddings":false/"tie_word_embeddings":true/' \
        model/config.json

small() { # what a command had at most, less than 30 MB
    peak "$@" 2>said >/dev/null
    echo "$?"
    test "$(tail -n 1 said)" -lt 30000 || echo "$* had $(tail -n 1 said) kB"
}
small gg-convert model -
gg-convert model one.gguf && test "$(wc -c <one.gguf)" -gt 60000000 || echo less
small gg-convert one.gguf -
small gg-convert --type F16 -t 2 model -
small gg-convert --type Q8_0 -t 2 one.gguf -
small gg-convert --to safetensors one.gguf -
small gg-convert --split 10M one.gguf part
small gg-convert part-00001-of-00007.gguf -
small gg-convert --set general.name='a name that takes more room' one.gguf
small gg-quantize -q -t 2 one.gguf - Q4_0
