# JSON is valid and complete, whatever the file holds.
command -v jq >/dev/null || { echo "jq is not installed" >&2; exit 77; }
"$top_builddir/tests/make_gguf" small >small.gguf || exit 99
"$top_builddir/tests/make_gguf" nasty >nasty.gguf || exit 99
"$top_builddir/tests/make_gguf" empty_values >empty.gguf || exit 99
gg-inspect --json small.gguf | jq -c .
gg-inspect --json nasty.gguf | jq -ac '.metadata | del(.big)'
gg-inspect --json nasty.gguf | grep '"big"'
gg-inspect --json nasty.gguf | jq -ac '.tensors[] | [.name, .shape, .bytes]'
gg-inspect --json empty.gguf | jq -c .
gg-inspect --json --tensors small.gguf | jq -c keys
gg-inspect --json --metadata small.gguf | jq -c keys
gg-inspect --json --tensor a.weight small.gguf | jq -c .
gg-inspect --json --tensor ints nasty.gguf | jq -c '[.min, .max, .mean]'
