# The default view of a small file.
"$top_builddir/tests/make_gguf" small >small.gguf || exit 99
gg-inspect small.gguf
