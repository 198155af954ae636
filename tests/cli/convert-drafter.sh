# Folders of drafters get their model's tokens, of a file or a folder.
mkdir none && gg-convert none x 2>&1 | grep 'without Jansson' >&2 && exit 77
rmdir none
drafter() { "$top_builddir/tests/make_drafter" "$@"; }
make_model qwen35trunk-f32 model.gguf && drafter recurrent made.gguf folder ||
    exit 99
gg-convert -q --base model.gguf folder got.gguf
gg-inspect --key eagle3.target_layers got.gguf
for key in model pre tokens; do
    gg-inspect --key tokenizer.ggml.$key model.gguf >want
    gg-inspect --key tokenizer.ggml.$key got.gguf | cmp - want
done
for o in '' --greedy '--temp 2 --top-k 0'; do
    gg-generate -m model.gguf -p 'a b c' -n 40 -s 1 $o >want
    gg-generate -m model.gguf -p 'a b c' -n 40 -s 1 $o --draft got.gguf |
        cmp - want
done
make_folder llama-f32 llama.gguf llama && drafter few few.gguf few || exit 99
sed -i 's/,"norm_before_fc/,"eagle_aux_hidden_state_layer_ids":[1,2,0]&/' \
    few/config.json
gg-convert -q few without.gguf
gg-convert -q --base llama few with.gguf
for file in without with; do
    gg-inspect --tensors $file.gguf >$file
    gg-inspect --metadata $file.gguf | grep -c '^tokenizer'
done
cmp without with
gg-generate -m llama.gguf -p 'a b c' -n 40 -s 1 >want
for draft in few without.gguf with.gguf few.gguf; do
    gg-generate -m llama.gguf -p 'a b c' -n 40 -s 1 --draft $draft | cmp - want
done

# Folders that are refused.
gg-convert folder x.gguf
gg-convert --base nowhere folder x.gguf
gg-convert --base llama.gguf folder x.gguf
gg-convert --base model.gguf llama x.gguf
sed -i 's/"draft_vocab_size":[0-9]*/"draft_vocab_size":7/' few/config.json
gg-convert few x.gguf
gg-generate -m llama.gguf -p a -n 3 --draft few
test ! -e x.gguf
