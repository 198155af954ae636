# -k prints a value as it is, and arrays one element a line.
"$top_builddir/tests/make_gguf" small >small.gguf || exit 99
"$top_builddir/tests/make_gguf" nasty >nasty.gguf || exit 99
for key in general.architecture test.block_count test.epsilon test.flag \
    test.ids test.tokens; do
    echo "$key:"
    gg-inspect -k "$key" small.gguf
done
echo nasty:
gg-inspect -k floats nasty.gguf
gg-inspect -k texts nasty.gguf
gg-inspect -k big nasty.gguf
gg-inspect -k text nasty.gguf | od -An -c
gg-inspect -0 -k texts nasty.gguf | od -An -c
gg-inspect -k "$(printf '\033[2Jkey\n_')" nasty.gguf
echo "exit $?"
gg-inspect -k test.block small.gguf
