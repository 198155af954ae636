# An original is replaced by a file with less in it with --in-place only, whatever
# its name; what loses nothing replaces it as before.
make_model llama-f32 model.gguf || exit 99
ln -s model.gguf link.gguf
sum() { cksum <model.gguf; }
sum >before
refused() {
    "$@" 2>err >/dev/null
    echo "status $?: $(sed "s/^.*: is /is /;q" err)"
    sum | cmp - before
}
refused gg-quantize -q model.gguf model.gguf Q4_0
refused gg-quantize -q model.gguf link.gguf Q4_0
refused gg-quantize -q link.gguf model.gguf Q4_0
ln model.gguf hard.gguf
refused gg-quantize -q hard.gguf ./model.gguf Q4_0
rm hard.gguf
refused gg-convert --type q8_0 model.gguf model.gguf
refused gg-convert --to safetensors model.gguf link.gguf
"$top_builddir/tests/make_adapter" model.gguf lora.gguf || exit 99
refused gg-convert --lora lora.gguf model.gguf model.gguf
gg-convert --split 100000 model.gguf parts
for part in parts-*; do
    gg-quantize -q --in-place parts-00001-of-*.gguf "$part" Q4_0 2>err
    echo "status $?"
done | sort -u
gg-quantize --dry-run model.gguf model.gguf Q4_0 >/dev/null && sum | cmp - before
gg-convert model.gguf model.gguf && gg-inspect --diff link.gguf model.gguf | tail -n 1
gg-quantize -q --in-place link.gguf model.gguf Q8_0 && test -L link.gguf
gg-inspect -k general.file_type model.gguf
gg-convert -q --in-place --type f32 model.gguf model.gguf
gg-inspect -k general.file_type model.gguf
