# The CUDA back end over a device in the host's memory, whose kernels are the
# CPU's: every byte is as without it, for every family, in every way of working.
GG_CUDA_MODULE=$top_builddir/tests/cuda/.libs/cpu.so
export GG_CUDA_MODULE
same() {
    "$@" --device cpu >cpu || echo "cpu: status $?"
    "$@" --device cuda >cuda || echo "cuda: status $?"
    cmp cpu cuda && test -s cpu || echo "not the same: $model: $*"
}
printf '1 2 3 4 5\n6 7\n8\n9\n10\n11\n' >chunks
printf '1\t1 2 3\n2\t4 5 6\n1\t7\n2\t8\n1\t9\n2\t10\n' >numbered
families=$("$top_builddir/tests/make_model" 2>&1 | sed -n 's/^families: //p')
for model in llama-f32 llama-f16 llama-bf16 llama-q8_0 llama-mxfp4 \
        $(for f in $families; do echo $f-q4_0; done); do
    "$top_builddir/tests/make_model" $model model.gguf || exit 99
    same gg-eval -m model.gguf chunks
    same gg-eval -m model.gguf --batch 2 numbered
done
model=story
same gg-generate -p 'Once upon a time' -n 40 --seed 7
# Only the likeliest leave the device, where they are enough.
same gg-generate -p 'Once upon a time' -n 40 --temp 0
same gg-generate -p 'Once upon a time' -n 40 --seed 7 --top-k 3 --ignore-eog
same gg-generate -p 'Once upon a time' -n 40 --seed 7 --top-k 0
same gg-eval --keep 7 chunks
same gg-eval --batch 2 --top 5 numbered
same gg-eval --keep 2000 chunks # more than the device finds
seq 1 600 | tr '\n' ' ' >long # more keys than a block, more ids than a batch
same gg-eval -c 700 --batch-size 100 --top 3 long
# The GPU's time is counted, and changes nothing.
gg-eval --device cuda chunks >plain
gg-eval --device cuda --profile chunks 2>table | cmp - plain
awk -F '\t' '$1 == "decode" && $2 ~ / CUDA0$/ && $4 > 0 { n++ }
    END { if (n < 5) print n + 0 " kinds of nodes on CUDA0" }' table
