# What is no GGUF file, and what is a broken one.
make_gguf=$top_builddir/tests/make_gguf
try() {
    gg-inspect "$@"
    echo "exit $?"
}
try missing.gguf
mkdir folder.gguf && try folder.gguf 2>said
sed 's/\(is a directory\).*/\1/' said >&2 # or that there is no Jansson
: >empty.gguf && try empty.gguf
echo 'Once upon a time' >story.txt && try story.txt
mkfifo fifo && try fifo
for case in magic_only version_1 array_2_63 alignment_2g \
    product_wraps overlap offset_wraps; do
    "$make_gguf" $case >$case.gguf || exit 99
    try $case.gguf
done
