# Folders of BERT and nomic-bert, as sentence-transformers has them.
mkdir none && gg-convert none x 2>&1 | grep 'without Jansson' >&2 && exit 77
rmdir none
for f in bert nomic-bert; do
    make_folder $f-f32 want.gguf $f && gg-convert $f $f.gguf
    gg-inspect --tensors want.gguf | sort >want
    gg-inspect --tensors $f.gguf | sort | diff want -
    gg-inspect --diff want.gguf $f.gguf | grep tensor
    gg-inspect --metadata $f.gguf | grep -v 'length\|count\|eps'
done

# Told in other words, it is the same: a list of tokens, older names.
same() { gg-convert $f other.gguf && cmp other.gguf $f.gguf && echo the same; }
f=bert
LC_ALL=C sed -i 's/LayerNorm.weight":/LayerNorm.gamma": /g
    s/LayerNorm.bias":/LayerNorm.beta":/g' bert/model.safetensors && same
mv bert/tokenizer.json bert/tokenizer_config.json . && same
sed -i 's/$/\r/' bert/vocab.txt && same
mv tokenizer.json bert
echo 'It sat on a MAT, unable.' | gg-tokenize -m bert
gg-convert --set tokenizer.ggml.normalizer.lowercase=false bert.gguf cased.gguf
echo 'It sat on a MAT, unable.' | gg-tokenize -m cased.gguf
rm cased.gguf
f=nomic-bert
sed -i 's/hidden_size/n_embd/;s/num_attention_heads/n_head/
    s/num_hidden_layers/n_layer/;s/intermediate_size/n_inner/
    s/layer_norm_eps/layer_norm_epsilon/;s/rope_theta/rotary_emb_base/
    s/max_position_embeddings":512/n_positions":8192,"max_trained_positions":512/
    ' nomic-bert/config.json && same

# What would not be the same is refused.
cp -r bert good
try() { # what was changed in a copy of the folder
    gg-convert bad out.gguf; echo "$1: $?"
    rm -rf bad && cp -r good bad
}
edit() { sed "$2" "good/$1" >"bad/$1"; }
cp -r good bad
edit config.json 's/absolute/relative_key/'; try 'positions'
edit config.json 's/"gelu"/"gelu_new"/'; try 'activation'
edit config.json 's/"hid/"is_decoder":true,"hid/'; try 'decoder'
edit 1_Pooling/config.json 's/false/true/'; try 'two ways'
edit 1_Pooling/config.json 's/cls_token/max_tokens/'; try 'another way'
edit 1_Pooling/config.json 's/}/,"pooling_mode":"max"}/'; try 'the same, new'
edit 1_Pooling/config.json 's/}/]/'; try 'no JSON'
rm bad/1_Pooling/config.json; try 'no pooling'
edit modules.json 's/1_Pooling/..\/good/'; try 'outside'
edit modules.json 's/models.Normalize/models.LSTM/'; try 'one step more'
edit modules.json 's/^.*$/{}/'; try 'no list'
edit tokenizer.json 's/":5,/":4,/'; try 'one id, two tokens'
edit tokenizer.json 's/":5,/":500,/'; try 'too large'
edit tokenizer.json 's/BertN/N/'; try 'normalizer'
edit tokenizer.json 's/BertPre/Pre/'; try 'pre_tokenizer'
edit tokenizer.json 's/"strip_accents":null/"strip_accents":false/'
try 'accents'
edit tokenizer.json 's/chars":true/chars":false/'; try 'Chinese'
edit tokenizer.json 's/prefix":"##"/prefix":"@@"/'; try 'prefix'
edit tokenizer.json 's/word":100/word":10/'; try 'longest'
rm bad/tokenizer.json; yes x | head -n 301 >bad/vocab.txt; try 'too many'
rm bad/tokenizer.json bad/vocab.txt; try 'no tokens'
edit config.json 's/"type_vocab_size":2/"type_vocab_size":3/'; try 'kinds'
ls
