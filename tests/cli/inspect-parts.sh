# Parts of the view; the model may come from -m, $GG_MODEL or a folder.
make_gguf=$top_builddir/tests/make_gguf
"$make_gguf" small >small.gguf || exit 99
mkdir models && mv small.gguf models
gg-inspect --metadata -m models/small.gguf
echo ==
GG_MODEL=models/small.gguf gg-inspect --tensors
echo ==
GG_MODEL_PATH=/none:$PWD/models gg-inspect -v --metadata small.gguf | tail -n 1
echo == from standard input
gg-inspect --tensors - <models/small.gguf
