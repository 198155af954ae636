# Ids that the file wants never drawn: in one process, in the pipe, by way of
# gg-logits; scores and likeliest tokens stay as the model has them.
mkdir none && gg-convert none x 2>&1 | grep 'without Jansson' >&2 && exit 77
rmdir none
make_folder llama-f32 plain.gguf folder || exit 99
seq 3 2 60 | tr '\n' ',' | sed 's/^/{"suppress_tokens": [/; s/,$/, 3, -1, 99999999]}/' \
    >folder/generation_config.json
gg-convert -q folder model.gguf && gg-inspect -k tokenizer.ggml.suppress_tokens model.gguf | tr '\n' ' '
echo
export GG_MODEL=model.gguf
printf '5 6 7\n' >ids
odd() { tr ' \t' '\n\n' | awk '$1 >= 3 && $1 < 60 && $1 % 2 { n++ } END { print n + 0 }'; }
for k in 0 5; do
    gg-loop "gg-eval | gg-sample -n 60 --seed 1 --temp 3 --top-k $k" <ids >pipe
    odd <pipe
    gg-loop "gg-eval | gg-logits --to jsonl | gg-logits | gg-sample -n 60 --seed 1 --temp 3 --top-k $k" <ids | cmp - pipe
    gg-loop "gg-eval | gg-logits --to text | gg-logits | gg-sample -n 60 --seed 1 --temp 3 --top-k $k" <ids | cmp - pipe
    printf 'abc' | gg-tokenize >prompt
    gg-loop "gg-eval | gg-sample -n 60 --seed 1 --temp 3 --top-k $k --ignore-eog" <prompt | gg-tokenize -d >want
    gg-generate -p abc -n 60 -s 1 --temp 3 --top-k $k --ignore-eog | cmp - want
    gg-generate -p abc -n 60 -s 1 --temp 3 --top-k $k --ignore-eog --draft prompt | cmp - want
    gg-loop "gg-eval -m plain.gguf | gg-sample -n 60 --seed 1 --temp 3 --top-k $k" <ids | odd | sed 's/^[1-9].*/some/'
done
gg-eval --score ids >a && gg-eval -m plain.gguf --score ids | cmp - a
gg-eval --top 9 ids >a && gg-eval -m plain.gguf --top 9 ids | cmp - a
