# Adapters become part of a model: as in double precision, in any type.
make="$top_builddir/tests/make_adapter"
make_model llama-f32 model.gguf && "$make" model.gguf a.gguf 1 &&
    "$make" model.gguf b.gguf 2 || exit 99
"$make" --merge model.gguf a.gguf 0.5 one.gguf || exit 99
"$make" --merge one.gguf b.gguf -2 want.gguf || exit 99
gg-convert --lora a.gguf=0.5 --lora b.gguf=-2 -t 3 model.gguf got.gguf
gg-convert --lora a.gguf=0.5 --lora b.gguf=-2 -t 1 model.gguf again.gguf
cmp got.gguf again.gguf
seq 0 7 299 >ids
gg-eval -m got.gguf --top 3 ids | cut -f 1-4 >got
gg-eval -m want.gguf --top 3 ids | cut -f 1-4 | cmp - got
gg-eval -m model.gguf --lora a.gguf=0.5 --lora b.gguf=-2 --top 3 ids |
    cut -f 1-4 | cmp - got
gg-convert --lora a.gguf=0 model.gguf same.gguf && cmp same.gguf model.gguf
gg-convert --type f16 got.gguf want16.gguf
gg-convert --type f16 --lora a.gguf=0.5 --lora b.gguf=-2 model.gguf got16.gguf
cmp got16.gguf want16.gguf
make_model mixtral-q8_0 q.gguf && make_model mixtral-f32 f.gguf || exit 99
"$make" f.gguf c.gguf && gg-convert --lora c.gguf q.gguf merged.gguf
gg-inspect --key general.architecture merged.gguf

# What fits nothing.
gg-convert --lora c.gguf model.gguf x.gguf
gg-convert --lora model.gguf model.gguf x.gguf
gg-convert --lora missing.gguf model.gguf x.gguf
make_model gpt2-f32 other.gguf && gg-convert --lora a.gguf other.gguf x.gguf
"$make" --control model.gguf 1 v.gguf && gg-convert --lora v.gguf model.gguf x.gguf
mkdir peft && echo '{"peft_type":"IA3"}' >peft/adapter_config.json
gg-convert peft x.gguf
make_folder llama-f32 m.gguf base || exit 99
gg-convert --base base peft x.gguf
gg-convert --lora peft base x.gguf
gg-convert --base none peft x.gguf
test ! -e x.gguf
