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
