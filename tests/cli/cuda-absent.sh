# Where CUDA cannot be had, one line says why; unless it was asked for by name,
# the CPU computes.
"$top_builddir/tests/make_model" llama-q4_0 model.gguf || exit 99
GG_CUDA_MODULE=$top_builddir/tests/cuda/.libs/cpu.so
export GG_CUDA_MODULE
echo '1 2 3' >ids
gg-eval -m model.gguf --device cpu ids >cpu
try() {
    echo "-- $*"
    env "$@" gg-eval -m model.gguf --device cuda ids >/dev/null
    echo "status $?"
    env "$@" gg-eval -m model.gguf ids >auto
    echo "status $?"
    cmp auto cpu
} 2>&1

try GG_CUDA_MODULE=none
GG_CUDA_MODULE=nonesuch.so gg-eval -m model.gguf ids 2>&1
echo "status $?"
GG_CUDA_MODULE=nonesuch.so gg-eval -m model.gguf --device cpu ids | cmp - cpu
cp "$top_builddir/lib/.libs/libggml.so" other.so
try GG_CUDA_MODULE=./other.so
try GG_FAKE_CUDA=driver=none
try GG_FAKE_CUDA=driver=old
try GG_FAKE_CUDA=devices=0
gg-eval -m model.gguf --device cuda:1 ids 2>&1
echo "status $?"
GG_FAKE_CUDA=devices=2 gg-eval -m model.gguf --device cuda:1 ids >second
echo "status $?"
cmp second cpu

# The device is lost in the middle: what came before is whole, and what comes
# after says so.
for i in 1 2 3 4 5 6; do cat ids; done >many
GG_FAKE_CUDA=lost=200 gg-eval -m model.gguf --device cuda --top 1 many >out 2>err
echo "status $?"
sed 's/^[^:]*: //' err

# While weights are copied; and before anything is asked of it.
GG_FAKE_CUDA=cut=3 gg-eval -m model.gguf --device cuda ids 2>&1
echo "status $?"
try GG_FAKE_CUDA=lost=0

# cuBLAS is missed where it is needed first, which a prompt is.
kernels=$top_builddir/tests/cuda/.libs/kernels.so
seq 1 70 | tr '\n' ' ' >long
if test -f "$kernels"; then
    GG_CUDA_MODULE=$kernels GG_FAKE_CUDA=blas=none \
        gg-eval -m model.gguf --device cuda ids >short
    echo "status $?"
    GG_CUDA_MODULE=$kernels GG_FAKE_CUDA=blas=none \
        gg-eval -m model.gguf --device cuda long 2>&1 >/dev/null
    echo "status $?"
else
    echo 'status 0'
    echo 'gg-eval: CUDA0: cuBLAS: libcublas.so.13: cannot open shared object file'
    echo 'status 1'
fi

# The module itself, where it was built, with no device to be seen: one line,
# which depends on the driver.
module=$(echo "$top_builddir"/lib/.libs/libggml-cuda-*.so)
if test -f "$module"; then
    CUDA_VISIBLE_DEVICES='' GG_CUDA_MODULE=$module \
        gg-eval -m model.gguf --device cuda ids >none 2>err
    echo "status $?"
    test ! -s none && grep -c '^gg-eval: no CUDA device: ' err
    CUDA_VISIBLE_DEVICES='' GG_CUDA_MODULE=$module \
        gg-eval -m model.gguf ids >auto
    echo "status $?"
    cmp auto cpu
else
    printf 'status 1\n1\nstatus 0\n'
fi
