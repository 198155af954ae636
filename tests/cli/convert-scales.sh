# Scales that files of NVFP4 have beside their matrices stay with them.
logits() {
    printf '1 5 9 200 17 30 31 32 33 34\n' | gg-eval -q -m "$1"
}
scales() {
    gg-inspect --tensors "$1" | grep scale | sort
}
for family in qwen3scaled qwen2moescaled gpt2scaled; do
    make_model $family-nvfp4 m.gguf && logits m.gguf >want || exit 99
    scales m.gguf >list && wc -l <list
    gg-convert -q m.gguf copy.gguf && logits copy.gguf | cmp - want
    gg-convert -q --split 40000 m.gguf part && logits part-00001-* | cmp - want
    gg-convert -q part-00001-* whole.gguf && cmp copy.gguf whole.gguf
    for type in Q8_0 F16 F32; do
        gg-quantize -q m.gguf other.gguf $type && scales other.gguf | cmp - list
        logits other.gguf >logits || echo "$type: no logits"
        logit_nmse 0.02 want logits >figure || { echo "$type:"; cat figure; }
    done
    gg-convert -q --to safetensors m.gguf m.safetensors
    LC_ALL=C grep -a -o '"[^"]*scale":{"dtype":"F32"' m.safetensors | wc -l
    gg-inspect --memory m.gguf | sed -n '/^weights/s/ .*//p'
    rm -f m.safetensors part-* ./*.gguf
done
