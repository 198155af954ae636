# --sort orders the list of tensors, as a table and as JSON, and nothing else;
# equal ones stay as in the file.
command -v jq >/dev/null || { echo "jq is not installed" >&2; exit 77; }
"$top_builddir/tests/make_model" llama-q4_0:1 model.gguf || exit 99
"$top_builddir/tests/make_gguf" small >small.gguf || exit 99
"$top_builddir/tests/make_gguf" empty_values >empty.gguf || exit 99
gg-inspect --tensors model.gguf >file
for what in name size type; do
    echo "== $what"
    gg-inspect --tensors --sort $what model.gguf >table
    cat table
    sort file >a && sort table | cmp - a
    # The same in JSON, with each tensor's own figures.
    awk '{ print $1 }' table >names
    gg-inspect --json --sort $what model.gguf >sorted.json
    jq -r '.tensors[].name' sorted.json | cmp - names
    gg-inspect --json model.gguf | jq -S '.tensors |= sort_by(.name)' >a
    jq -S '.tensors |= sort_by(.name)' sorted.json | cmp - a
    gg-inspect --json --tensors --sort $what model.gguf |
        jq -r '.tensors[].name' | cmp - names
    gg-inspect --metadata --tensors --sort $what model.gguf |
        grep -E '^(blk|output|token_embd)' | cmp - table
done
LC_ALL=C sort -k 1,1 file >a
gg-inspect --tensors --sort name model.gguf | cmp - a
LC_ALL=C sort -s -k 2b,2 file >a
gg-inspect --tensors --sort type model.gguf | cmp - a

echo '== few and none'
gg-inspect --tensors --sort size small.gguf
gg-inspect --tensors --sort size empty.gguf
gg-inspect --json --tensors --sort size empty.gguf | jq -c .tensors

echo '== misuse'
try() {
    gg-inspect "$@" model.gguf >out
    echo "status $?"
    cat out
}
try --tensors --sort nonsense
try --tensors --sort ''
try --tensors --sort Size
try --sort size
try --sort size --metadata
try --sort size --metadata --json
for mode in '--tensor a' --memory --stats --check --histogram --hash --diff \
    --families; do
    # shellcheck disable=SC2086
    try --sort size --json $mode
done
