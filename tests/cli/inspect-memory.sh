# What --memory says is what gg-eval takes; weights are all bytes of tensors.
cp "$GG_MODEL" model.gguf || exit 99
"$top_builddir/tests/split_model" model.gguf part 2 || exit 99
try() {
    gg-eval -q -v "$@" -m model.gguf </dev/null 2>err && echo 'no ids, no error'
    grep -o 'cache [0-9.]* MiB\|buffers [0-9.]* MiB' err | cut -d ' ' -f 2 >want
    gg-inspect --memory --json "$@" model.gguf >json
    awk -F '[:,]' '/"cache"|"compute"/ { printf "%.1f\n", $2 / 1048576 }' json |
        cmp - want
    gg-inspect --memory --json "$@" part-00001-of-00002.gguf |
        grep -v '"file"' >part
    grep -v '"file"' json | cmp - part
}
try --slots 1
try --slots 3 -c 4096
try --slots 1 -c 100000 --cache-type q8_0
try --slots 1 -c 1000 --cache-type f32 --batch-size 64

"$top_builddir/tests/make_model" llama-q8_0 model.gguf || exit 99
# Cache: keys and values of 2 layers of 32 numbers each, in blocks of 256.
gg-inspect --memory --json -c 512 model.gguf | grep cache
gg-inspect --memory -c 200000000 model.gguf | sed -n 2p
gg-inspect --json model.gguf | awk -F 'bytes": ' '
    /"name": .*offset/ { sum += $2 } END { print sum }' >tensors
gg-inspect --memory --json model.gguf | awk -F '[ ,]*' '
    /weights/ { print $3 }' | cmp - tensors

gg-inspect --memory -c 268435456 --slots 65536 model.gguf >/dev/null
echo "status $?"
"$top_builddir/tests/make_gguf" mixture >mixture.gguf
gg-inspect --memory mixture.gguf 2>&1 | cut -d '(' -f 1
for wrong in '-c 8' '--slots 2' '--memory -k a' '--memory -c 0' \
    '--memory --cache-type q2'; do
    gg-inspect $wrong model.gguf
    echo "status $?"
done
