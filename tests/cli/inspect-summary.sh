# What a user asks first; keys that are missing or mean nothing are left out.
"$top_builddir/tests/make_gguf" mixture >mixture.gguf || exit 99
"$top_builddir/tests/make_gguf" nonsense >nonsense.gguf || exit 99
gg-inspect mixture.gguf | sed '/^$/q'
gg-inspect --json mixture.gguf | sed -n '/"summary"/,/}/p'
gg-inspect nonsense.gguf | sed '/^$/q'
gg-inspect --json nonsense.gguf | sed -n '/"summary"/,/}/p'

# Shards: all of them; the first, where others are missing; a later one.
"$top_builddir/tests/split_model" mixture.gguf part 3 || exit 99
gg-inspect part-00001-of-00003.gguf | sed '/^$/q'
gg-inspect --tensors part-00001-of-00003.gguf
gg-inspect --json --tensors part-00001-of-00003.gguf | grep '"place"'
gg-inspect --tensor rope_freqs.weight part-00001-of-00003.gguf
gg-inspect part-00002-of-00003.gguf | sed '/^$/q'
rm part-00003-of-00003.gguf
gg-inspect -k split.count part-00001-of-00003.gguf
gg-inspect part-00001-of-00003.gguf | sed '/^$/q'

# Of a family that is known, the window that it takes: qwen2 has none, whatever
# its converter writes.
for model in mistral qwen2; do
    make_model $model-f32 $model.gguf || exit 99
    arch=$(gg-inspect -k general.architecture $model.gguf)
    gg-convert -q --set $arch.attention.sliding_window=u32:77 $model.gguf
    gg-inspect $model.gguf | sed -n '1p;/^window/p'
    gg-inspect --json $model.gguf | grep '"window"'
done
exit 0
