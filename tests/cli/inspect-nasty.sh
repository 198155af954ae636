# Nothing in a file can write to the terminal, whatever the view.
"$top_builddir/tests/make_gguf" nasty >nasty.gguf || exit 99
"$top_builddir/tests/make_gguf" key_escape >twice.gguf || exit 99
gg-inspect nasty.gguf
gg-inspect --tensors nasty.gguf
gg-inspect -v --metadata nasty.gguf | grep -a '^text'
for way in '' -v --json --tensors; do
    gg-inspect $way nasty.gguf | LC_ALL=C tr -d '\n[:print:]\303\251' | wc -c
done
gg-inspect twice.gguf
