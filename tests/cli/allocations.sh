# Memory runs out at any point while a file is made: status 1, one line that
# says so, the old file, and nothing left behind. GG_ALLOC_POINTS of the
# allocations of each command are tried (0: all), each once alone and once with
# all that follow it.
if ! (ulimit -v 300000 && gg-convert --version) >/dev/null 2>&1; then
    echo 'sanitizers have a malloc() of their own' >&2
    exit 77
fi
GG_FAILING_ALLOC=$top_builddir/tests/.libs/failing_alloc.so
export GG_FAILING_ALLOC
mkdir ../given
try() {
    allocations "${GG_ALLOC_POINTS:-12}" "$@"
}

make_model llama-q4_0 ../given/m.gguf
make_model mixtral-f32 ../given/moe.gguf
for i in 1 2 3 4 5 6 7 8 9; do
    echo $((i * 37 % 256)) $((i * i * 3)) $((i + 99)) 5
done >ids
echo old >out

echo 'a new file'
try gg-convert -t 1 ../given/m.gguf out
try gg-convert -q -t 2 --type Q8_0 --set general.name=x ../given/m.gguf out
try gg-convert --to safetensors ../given/m.gguf out
try gg-quantize -q -t 2 ../given/m.gguf out Q4_0
echo 'several'
try gg-convert -t 1 --split 40000 ../given/m.gguf out
echo 'keys that change in place'
cp ../given/m.gguf .
try gg-convert --set general.name=x m.gguf
try gg-convert --set general.name='a name that takes far more room' \
    --set a.b=7 --unset general.architecture m.gguf
rm m.gguf

echo 'older formats'
for f in ggml-0 ggjt-3 llama2c-0; do
    case $f in
    ggml-0) m=gpt2-q4_0 ;;
    ggjt-3) m=llama-q8_0 ;;
    *) m=llama-f32 ;;
    esac
    make_model $m ../given/$f.gguf
    gg-convert --set llama.attention.layer_norm_rms_epsilon=1e-6 \
        ../given/$f.gguf
    (cd ../given && make_old $f $f.gguf $f)
    try gg-convert -t 1 ../given/$f out
done

echo 'folders'
if gg-convert ../given x 2>&1 | grep -q 'without Jansson'; then
    echo 'built without Jansson' >&2
else
    make_folder qwen2-f32 ../given/f.gguf ../given/qwen2 2
    try gg-convert -t 1 ../given/qwen2 out
    for c in embeddinggemma qwen3-reranker bert-tokens; do
        make_case "$top_srcdir/tests/fixtures/families/$c.case" \
            ../given/f.gguf ../given/$c
        try gg-convert -t 1 ../given/$c out
    done
    echo 'The cat sat on the mat.' >text
    try gg-eval --device cpu -m ../given/bert-tokens -t 2 --classify -o out text
    rm text
    make_folder bert-f32 ../given/f.gguf ../given/bert
    try gg-convert -t 1 ../given/bert out
    make_folder gpt-oss-bf16 ../given/f.gguf ../given/mx 3 mxfp4
    try gg-convert -t 1 ../given/mx out
    make_folder llama-bf16 ../given/f.gguf ../given/packed 2 gptq4-order
    try gg-convert -t 1 ../given/packed out
fi

echo 'an importance matrix'
try gg-eval --device cpu -m ../given/moe.gguf -t 2 --imatrix out -c 16 ids
gg-eval --device cpu -m ../given/moe.gguf --imatrix ../given/imatrix -c 16 ids
try gg-quantize -q -t 2 --imatrix ../given/imatrix ../given/moe.gguf out Q2_K

echo 'an adapter'
try gg-train -q -m ../given/m.gguf -t 2 -r 2 -c 64 --steps 1 -o out ids

echo 'a module that does not check allocations while it is loaded'
unchecked=$top_builddir/tests/cuda/.libs/unchecked_alloc.so
GG_CUDA_MODULE=$unchecked gg-eval -q --device cuda -m ../given/m.gguf ids 2>&1
(GG_CUDA_MODULE=$unchecked && export GG_CUDA_MODULE &&
    try gg-eval -q --device auto -m ../given/m.gguf --top 1 ids)
ls
