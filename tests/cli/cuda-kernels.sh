# gg-eval on CUDA with the kernels themselves, run by the host: for every family
# as near to the CPU as single precision is, and for every type as near as both
# round what they multiply; the same bytes every time.
GG_CUDA_MODULE=$top_builddir/tests/cuda/.libs/kernels.so
export GG_CUDA_MODULE
test -f "$GG_CUDA_MODULE" || { echo "no C++ compiler" >&2; exit 77; }
echo '1 2 3 4 5 6 7 8 9' >ids
echo 10 >>ids
echo 11 >>ids
compare() { # LIMIT NAME OPTION...
    limit=$1 name=$2
    shift 2
    gg-eval -m model.gguf "$@" --device cpu ids >cpu || echo "cpu: status $?"
    gg-eval -m model.gguf "$@" --device cuda ids >cuda || echo "cuda: status $?"
    logit_nmse $limit cpu cuda >nmse ||
        echo "$name: $(cat nmse) is above $limit"
}
near() { # LIMIT MODEL
    "$top_builddir/tests/make_model" $2 model.gguf || exit 99
    compare $1 $2
}
cases=$top_srcdir/tests/fixtures/families
near_case() { # CASE OPTION...
    case=$1
    shift
    rm -rf folder
    "$top_builddir/tests/make_case" "$cases/$case.case" scratch folder || exit 99
    gg-convert -q folder model.gguf
    compare 1e-5 $case "$@"
}
for family in $("$top_builddir/tests/make_model" 2>&1 |
        sed -n 's/^families: //p'); do
    near 1e-5 $family-f32
done
# Other activations, gates, biases of attention, routers, parts of a layer.
for case in apertus bloom dots1-groups gemma3n gemma4 gemma4moe laguna llama4 \
    mimo2 minimax-m2 nemotron stablelm; do
    near_case $case
done
for case in eurobert modernbert t5encoder; do
    near_case $case --embed mean
done
near 1e-3 llama-q8_0
near 1e-4 llama-f16
near 1e-4 llama-bf16
near 5e-3 llama-q4_0
near 5e-3 qwen3scaled-nvfp4
near 5e-3 llama-mxfp4
gg-eval -m model.gguf --device cuda ids >again
cmp cuda again
gg-eval -m model.gguf --device cuda --gpu-layers 1 ids >shared
logit_nmse 5e-3 cpu shared >nmse || echo "shared: $(cat nmse)"
