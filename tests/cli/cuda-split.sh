# A model is shared between GPU and CPU by layers: as many as were asked for, or
# as there is room for, with a word about it; the bytes stay the same.
GG_CUDA_MODULE=$top_builddir/tests/cuda/.libs/cpu.so
export GG_CUDA_MODULE
echo '10 20 30 40 50' >ids
gg-eval --device cpu ids >cpu
for n in 0 1 2 3 4; do
    gg-eval --device cuda --gpu-layers $n ids >cuda || echo "status $?"
    cmp cpu cuda || echo "$n layers: not the same"
done
for family in gemma3 qwen2moe gpt2 falcon phi3; do
    "$top_builddir/tests/make_model" $family-q4_0 model.gguf || exit 99
    gg-eval -m model.gguf --device cpu ids >cpu
    gg-eval -m model.gguf --device cuda --gpu-layers 1 ids >cuda
    cmp cpu cuda || echo "$family: not the same"
done
# Layers that share keys and values, or differ in heads, windows or experts.
echo '10 20 30 40 50 60 70 80 90 11 21 31 41 51 61 71 81 91 12 22' >more
cases=$top_srcdir/tests/fixtures/families
for family in gemma4 gemma3n gemma4moe laguna llama4 dots1 t5encoder; do
    "$top_builddir/tests/make_case" "$cases/$family.case" scratch $family ||
        exit 99
    gg-convert -q $family $family.gguf
    embed=
    test $family != t5encoder || embed='--embed mean'
    gg-eval $embed -m $family.gguf --device cpu more >cpu
    for n in 1 2 9; do
        gg-eval $embed -m $family.gguf --device cuda --gpu-layers $n more >cuda
        cmp cpu cuda || echo "$family: not the same"
    done
done
# Embeddings of layers, of which a token's rows are read, are no GPU's: of
# 1.2 and 1.5 MiB of weights and of keys and values, the rest.
for family in gemma4 gemma3n; do
    set -- -m $family.gguf -c 512 --slots 1 --batch-size 8
    gg-eval "$@" --device cpu more >cpu
    GG_FAKE_CUDA=memory=1 gg-eval "$@" --device cuda more 2>&1 >cuda
    cmp cpu cuda || echo "$family: not the same"
done
gg-eval --device cpu ids >cpu
gg-eval -v --device cuda --gpu-layers 2 ids 2>&1 >/dev/null | grep computing
for memory in 1 3 64; do
    echo "-- $memory MiB"
    for device in cuda auto; do
        GG_FAKE_CUDA=memory=$memory gg-eval --device $device ids >out 2>err ||
            echo "status $?"
        cat err
        test ! -s out || cmp cpu out
    done
done
# What was asked for is not made less.
GG_FAKE_CUDA=memory=3 gg-eval --device cuda --gpu-layers 3 ids 2>&1
echo "status $?"
