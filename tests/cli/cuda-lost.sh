# A GPU is lost, and was not asked for by name: one line says so, and the CPU
# goes on. The device of these tests computes what the CPU does, so the whole
# output is the CPU's, wherever it happens.
GG_CUDA_MODULE=$top_builddir/tests/cuda/.libs/cpu.so
export GG_CUDA_MODULE

# $1: what happens; then a command.
lost() {
    GG_FAKE_CUDA=$1
    shift
    "$@" --device cpu >cpu 2>/dev/null || echo "cpu: status $?"
    GG_FAKE_CUDA=$GG_FAKE_CUDA "$@" >auto 2>err ||
        echo "$GG_FAKE_CUDA: status $?: $*"
    cmp cpu auto && test -s cpu || echo "$GG_FAKE_CUDA: not the same: $*"
    test $(wc -l <err) = 1 || { echo "$GG_FAKE_CUDA: $*" && cat err; }
    sed "s/^/$GG_FAKE_CUDA: /" err >>lines
}
export GG_FAKE_CUDA

echo '1 2 3 4 5' >ids
"$top_builddir/tests/make_model" llama-q4_0 model.gguf || exit 99
echo "-- while weights are copied, before there is a session, in its first batch"
: >lines
for n in 1 3 9 $(seq 15 99); do
    GG_FAKE_CUDA=cut=$n gg-eval -m model.gguf ids 2>&1 >/dev/null | grep -q . ||
        break
    lost cut=$n gg-eval -m model.gguf ids
done
grep -v 'gg-eval: .*CUDA0.*: the CPU computes$' lines
grep -c 'the weights could not be copied' lines | awk '{ print ($1 > 3) }'
grep -c 'ing: an illegal memory access' lines | awk '{ print ($1 > 3) }'

echo "-- in mid-run"
: >lines
seq 1 60 | awk '{ printf "%d\t%d %d %d\n", $1 % 5, $1, $1 + 1, $1 * 3 }' >many
seq 1 290 | tr '\n' ' ' >long
for model in llama-q4_0 gemma3-q4_0 gpt2-q4_0; do
    "$top_builddir/tests/make_model" $model model.gguf || exit 99
    for n in 1 60 200; do
        lost lost=$n gg-eval -m model.gguf --slots 2 --batch 3 many
        lost lost=$n gg-eval -m model.gguf -c 12 --shift --batch 1 many
        lost lost=$n gg-eval -m model.gguf --top 5 many
        lost lost=$n gg-eval -m model.gguf --gpu-layers 1 --keep 7 many
    done
    lost lost=20 gg-eval -m model.gguf --batch-size 16 long
done
echo 'Once upon a time there was a little dog. It was red. It went home.' |
    gg-tokenize >text
for n in 1 300 1000; do
    lost lost=$n gg-generate -p 'Once upon a time' -n 40 --seed 7
    lost lost=$n gg-generate -p 'Once upon a time' -n 40 --temp 0
    lost lost=$n gg-generate -p 'Once upon a time' -n 60 --temp 0 -c 24 --shift
done
lost lost=30 gg-eval --perplexity -c 8 text
sed 's/^[^:]*: //; s/CUDA0: [a-z ]*:/CUDA0: at work:/' lines | sort -u

# With -q, no line. What is watched, or was asked for by name, ends.
GG_FAKE_CUDA=lost=60
gg-eval -q many >auto
echo "status $?"
GG_FAKE_CUDA=none gg-eval --device cpu many | cmp - auto
gg-eval --imatrix im.gguf -c 8 text 2>&1
echo "status $?"
for device in cuda cuda:0; do
    gg-eval --device $device many 2>&1 >/dev/null
    echo "status $?"
    gg-generate --device $device -p 'Once upon a time' -n 40 2>&1 >/dev/null
    echo "status $?"
done
