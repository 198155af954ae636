# A model lies on several GPUs and the CPU: with the CPU's kernels all bytes are
# the CPU's, with CUDA's, emulated, those of one GPU.
GG_CUDA_MODULE=$top_builddir/tests/cuda/.libs/cpu.so
GG_FAKE_CUDA=devices=4
export GG_CUDA_MODULE GG_FAKE_CUDA
seq 0 299 | tr '\n' ' ' >long
printf '1 2 3 4 5\n6 7\n8\n9\n' >chunks
printf '1\t1 2 3\n2\t4 5 6\n1\t7\n2\t8\n3\t5 5\n1\t9\n2\t10\n' >numbered
make_model() { "$top_builddir/tests/make_model" "$1" model.gguf || exit 99; }
make_case() {
    rm -rf folder
    "$top_builddir/tests/make_case" \
        "$top_srcdir/tests/fixtures/families/$1.case" scratch folder || exit 99
    gg-convert -q folder model.gguf
}
run() {
    gg-eval -m model.gguf "$@" chunks &&
        gg-eval -m model.gguf "$@" --batch 2 numbered &&
        gg-eval -m model.gguf "$@" --batch-size 100 --top 3 long
}
# The same on all these homes as on one.
same() { # NAME ONE OPTIONS...
    name=$1
    run $2 >want || echo "$name: $2: status $?"
    shift 2
    for options; do
        run $options >got || echo "$name: $options: status $?"
        cmp want got || echo "$name: $options: not the same"
    done
}

echo '-- dense, recurrent, experts'
two='--device cuda:0,cuda:1' four='--device cuda'
make_model llama-q4_0:8
same llama '--device cpu' "$two" "$two --gpu-layers 4,2" \
    "$two --gpu-layers 0,3" "$two --gpu-layers 5" "$four" \
    "$four --gpu-layers 2,1,3,2" '--device cuda:3,cuda:1,cuda:2' \
    '--device cuda:2 --gpu-layers 3'
make_model gemma3-q4_0:8
same gemma3 '--device cpu' "$two" "$four --gpu-layers 1,3,1,1"
for case in mamba2 granitehybrid; do
    make_case $case
    same $case '--device cpu' "$two" "$two --gpu-layers 1,1"
done
make_model qwen2moe-q4_0:8
same qwen2moe '--device cpu' "$two" "$two --cpu-moe" \
    "$two --gpu-layers 4,2 --n-cpu-moe 5" "$four --n-cpu-moe 3" \
    "$four --n-cpu-moe 0"
for case in granitehybrid-moe grovemoe; do
    make_case $case
    same $case '--device cpu' "$two" "$two --n-cpu-moe 1" "$two --cpu-moe"
done
make_model gpt-oss-q4_0 # experts with biases
same gpt-oss '--device cpu' "$two --cpu-moe"
make_model llama3-q4_0:4 # frequencies that layers share
same llama3 '--device cpu' "$four"

echo '-- what lies where'
show() {
    gg-eval -v -m model.gguf -c 64 --slots 1 --batch-size 8 "$@" chunks \
        2>&1 >got | grep -e layers -e memory
    cmp want got || echo "$*: not the same"
}
make_model qwen2moe-q4_0:8
gg-eval -m model.gguf chunks --device cpu >want
show --device cuda:1,cuda:0 --gpu-layers 3,2
show --device cuda --n-cpu-moe 3
show --device cuda:0 --cpu-moe
GG_FAKE_CUDA='devices=2 memory=64,8' show --device cuda
show # one has room for all
make_model qwen2moe-f32:8
gg-eval -m model.gguf chunks --device cpu >want
for memory in 1 1,2 2,1 2; do
    echo "-- $memory MiB"
    GG_FAKE_CUDA="devices=2 memory=$memory" show --device cuda
    GG_FAKE_CUDA="devices=2 memory=$memory" show
done
echo '-- layers, or experts, were requested'
GG_FAKE_CUDA="devices=2 memory=1" show --device cuda --gpu-layers 3,3
GG_FAKE_CUDA="devices=2 memory=1" show --device cuda --n-cpu-moe 0

echo '-- a state of some homes goes on at others'
(cat long && echo && cat chunks) >all
for model in llama-q4_0:6 gemma3-q4_0:6; do
    make_model $model
    gg-eval -m model.gguf --device cpu --save whole --top 2 all >want
    for first in "$four" '--device cpu' "$two --gpu-layers 1,3"; do
        for then in "$two" '--device cpu' "$four --gpu-layers 2,2,1,1"; do
            rm -f s
            gg-eval -m model.gguf $first --state s --top 2 long >got
            gg-eval -m model.gguf $then --state s --top 2 chunks >>got
            cmp want got && cmp whole s || echo "$model: $first, $then"
        done
    done
done

echo '-- one of them is lost'
make_model qwen2moe-q4_0:8
gg-eval -m model.gguf --device cpu --slots 2 --batch 3 numbered >want
for what in cut=1 cut=9 lost=1 lost=70; do
    GG_FAKE_CUDA="devices=3 gpu=1 $what" gg-eval -m model.gguf --device cuda \
        --n-cpu-moe 2 --slots 2 --batch 3 numbered 2>said | cmp - want
    test $(wc -l <said) = 1 || cat said
    sed 's/CUDA1: [a-z ]*:/CUDA1: at work:/' said
done
GG_FAKE_CUDA='devices=3 lost=70' gg-eval -m model.gguf --device cuda numbered \
    2>&1 >/dev/null | tail -n 1 # all of them at once
GG_FAKE_CUDA='devices=3 lost=70' gg-eval -m model.gguf \
    --gpu-layers 2,2,2 --slots 2 --batch 3 numbered 2>said | cmp - want
grep -c ': the CPU computes' said

echo '-- through the memory of the host'
gg-eval -m model.gguf --device cpu chunks >want
GG_CUDA_PEER=0 gg-eval -m model.gguf $four chunks | cmp - want

echo '-- what cannot be'
try() {
    gg-eval -m model.gguf "$@" chunks 2>&1 >/dev/null
    echo "status $?"
}
try --device cuda:0,cpu
try --device cuda:0,
try --device cuda:0,cuda:00
try --device cuda:1,cuda:1
try --device cuda:0,cuda:4
try --device cuda:0,cuda:1 --gpu-layers 1,2,3
try --device cuda:0 --gpu-layers 1,2
try --device cuda:0,cuda:1 --gpu-layers 6,3
try --device cpu --gpu-layers 4
GG_CUDA_MODULE=none try --gpu-layers 4,2
try --gpu-layers 4,
try --gpu-layers 4,x
try --gpu-layers -1
try --n-cpu-moe -1
try --cpu-moe --n-cpu-moe 1

# CUDA's own kernels: what lies where makes no difference among GPUs.
GG_CUDA_MODULE=$top_builddir/tests/cuda/.libs/kernels.so
test -f "$GG_CUDA_MODULE" || exit 0
head -c 200 long >start && mv start long
make_model qwen2moe-q4_0:4
same 'kernels, qwen2moe' '--device cuda:0' "$two" "$four" \
    "$two --gpu-layers 1,3"
same 'kernels, qwen2moe, experts' '--device cuda:0 --n-cpu-moe 2' \
    "$two --n-cpu-moe 2" "$four --n-cpu-moe 2"
make_case granitehybrid
same 'kernels, granitehybrid' '--device cuda:0' "$two" "$four"
