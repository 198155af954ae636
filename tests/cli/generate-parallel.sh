# The example of gg-generate(1) for GNU parallel: numbered records go to any
# number of processes, and come together by their numbers.
command -v parallel >/dev/null || { echo "no parallel" >&2 && exit 77; }
parallel --version 2>/dev/null | grep -q '^GNU parallel' ||
    { echo "no GNU parallel" >&2 && exit 77; }
"$top_builddir/tests/make_model" llama-q4_0 random.gguf || exit 99
GG_MODEL=$PWD/random.gguf
export GG_MODEL
seq 9 | sed 's/.*/a b &/' >in
gg-generate --lines -n 9 -s 1 in >want
cat -n in |
    parallel -j 2 --pipe -N 2 gg-generate --lines --numbered -n 9 -s 1 | sort -n |
    cut -f 2- | cmp - want
