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
