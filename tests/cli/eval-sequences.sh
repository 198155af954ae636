# Numbered sequences: ended, forgotten, refused, failed.
"$top_builddir/tests/make_model" llama-f32 model.gguf || exit 99
GG_MODEL=model.gguf
export GG_MODEL

echo "ended and begun anew:"
printf '5\t1 2\n5\t\n5\t3\n' | gg-eval --top 1 | cut -f 1,2

echo "records upstream failed, and one here:"
printf '1\t1 2\n2\t!no such file\n3\t300\n1\t3\n' | gg-eval --top 1 |
    cut -f 1,2
printf '1\t1 2\n2\t!no such file\n' | gg-eval --top 1 >/dev/null
echo "status $?"

echo "the context of one is full:"
printf '1\t1 2\n2\t1 2 3 4\n1\t3\n1\t4\n2\t5\n' | gg-eval -c 3 --top 1 |
    cut -f 1,2

echo "forgotten:"
for i in 1 2 3 4; do printf '%d\t1 2 3\n' $i; done >four
{ cat four; cat four; } | gg-eval --slots 2 --remember 100 --top 1 | cut -f 1,2
