# Drafts are accepted as often with each type of the KV cache as with F16, and
# change no byte: MTP layers that are sure, and a draft model like its target.
make=$top_builddir/tests/make_model
"$make" qwen35sure-f32 qwen35.gguf && "$make" mimo2sure-f32 mimo2.gguf || exit 99
text='a b a b a b c d a b a b'
rate() { # MODEL DRAFT TYPE: accepted ids, in percent of those drafted
    gg-generate -q -v -m $1.gguf --draft $2 --cache-type $3 --greedy \
        -p "$text" --ignore-eog -n 150 2>err >got
    gg-generate -q -m $1.gguf --draft none --cache-type $3 --greedy \
        -p "$text" --ignore-eog -n 150 2>/dev/null | cmp - got
    awk '/ draft: / { print $3 ? int(100 * $6 / $3) : 0 }' err
}
for model in qwen35 mimo2; do
    for draft in mtp $model.gguf; do
        usual=$(rate $model $draft f16)
        for type in f32 bf16 q8_0 q5_0 q4_0; do
            n=$(rate $model $draft $type)
            test -n "$n" || { grep -o 'KV cache.*' err; continue; }
            test "$usual" -gt 0 && test "$n" -ge $((usual - 5)) ||
                echo "$model, $draft, $type: $n% accepted, $usual% with f16"
        done
    done
done
