# The default view of a small file, and its tensors.
"$top_builddir/tests/make_gguf" small >small.gguf || exit 99
gg-inspect small.gguf
gg-inspect --tensors small.gguf
