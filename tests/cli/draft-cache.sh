# With each type of the KV cache drafts change no byte: MTP layers that are sure,
# and a draft model like its target.
make=$top_builddir/tests/make_model
"$make" qwen35sure-f32 qwen35.gguf && "$make" mimo2sure-f32 mimo2.gguf || exit 99
text='a b a b a b c d a b a b'
for model in qwen35 mimo2; do
    for draft in mtp $model.gguf; do
        for type in f16 f32 bf16 q8_0 q5_0 q4_0; do
            set -- -q -m $model.gguf --cache-type $type --greedy -p "$text" \
                --ignore-eog -n 150
            gg-generate "$@" --draft none >want 2>/dev/null
            gg-generate "$@" --draft $draft 2>err >got
            cmp want got || cat err
        done
    done
done
