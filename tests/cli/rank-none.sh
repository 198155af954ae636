# A model that says nowhere that it scores pairs is no reranker.
make_model llama-q4_0 model.gguf || exit 99
export GG_MODEL=model.gguf
printf 'a\tb\n' | gg-tokenize -q --pairs
echo "status $?"
echo 5 6 7 | gg-eval -q --rank
echo "status $?"
gg-convert -q --set llama.pooling_type=4 model.gguf other.gguf
printf 'a\tb\n' | gg-tokenize -q -m other.gguf --pairs 2>&1
echo "status $?"
gg-convert -q --set general.name='A Reranker' model.gguf other.gguf
echo 5 6 7 | gg-eval -m other.gguf --rank 2>&1
