# System calls of the tools that write fail, one after the other: status 1, one
# line that says why, the old file, and nothing left behind. GG_FAULT_POINTS of
# the calls of each kind are tried for each command (0: all), each once alone
# and once with all that follow it; with GG_FAULT_KILLS each is killed so often.
GG_ASAN=$(strings -n 8 "$top_builddir"/bin/gg-convert/gg-convert 2>/dev/null |
    grep -c __asan_init)
faults write 1 gg-convert --version >/dev/null 2>&1
test $? != 77 && test "$GG_ASAN" = 0 || {
    echo 'system calls cannot be traced' >&2
    exit 77
}
kinds=${GG_FAULT_KINDS-'write sync rename thread'}
points=${GG_FAULT_POINTS:-1}
kills=${GG_FAULT_KILLS:-0}
mkdir ../given
export TMPDIR="$PWD"
try() {
    for kind in $kinds; do
        faults "$kind" "$points" "$@"
    done
    test "$kills" = 0 || faults kill "$kills" "$@"
}
# One kind in the short run, of which any call may fail.
some() { # KIND POINTS COMMAND...
    if all; then
        shift 2
        try "$@"
    else
        faults "$@"
    fi
}
all() { test "$points" != 1; } # what the short run leaves out

make_model llama-q4_0 ../given/m.gguf
make_model llama-f32 ../given/f.gguf
for i in 1 2 3 4 5 6 7 8 9; do
    echo $((i * 37 % 256)) $((i * i * 3)) $((i + 99)) 5
done >../given/ids
yes 'once upon a time' | head -n 40 >../given/text
GG_MODEL=../given/m.gguf
export GG_MODEL

echo gg-convert
echo old >out
try gg-convert -t 2 ../given/m.gguf out
some rename 0 gg-convert -t 1 --split 40000 ../given/m.gguf out
all && try gg-convert --to safetensors ../given/m.gguf out
all && try gg-convert -t 1 --type Q8_0 ../given/f.gguf new
cp ../given/m.gguf .
try gg-convert --set general.name='a name that takes far more room' m.gguf
all && try gg-convert --set general.name=y m.gguf
rm m.gguf

echo gg-quantize
try gg-quantize -q -t 2 ../given/f.gguf out Q4_0
all && try gg-quantize -t 1 ../given/f.gguf new Q8_0

echo gg-tokenize
try gg-tokenize -o out ../given/text
all && try gg-tokenize --lines -o new ../given/text
gg-tokenize ../given/text >../given/tokens
all && try gg-tokenize -d -o out ../given/tokens

echo gg-inspect
some read 4 gg-inspect --stats -t 4 -o out ../given/m.gguf
if all; then
    try gg-inspect --hash -o out ../given/m.gguf
    try gg-inspect --json -o new ../given/m.gguf
    try gg-inspect --npy out --tensor token_embd.weight ../given/f.gguf
    try gg-inspect --tensor token_embd.weight -o out ../given/f.gguf
fi

echo gg-eval
try gg-eval -q --device cpu -t 2 -o out ../given/ids
try gg-eval -q --device cpu -t 1 --save state -o out ../given/ids
echo 7 8 9 >../given/more
gg-eval -q --device cpu -t 1 --save state -o ../given/logits ../given/ids
all && (export GG_GOES_ON=1 &&
    try gg-eval -q --device cpu -t 1 --state state -o out ../given/more)
all && try gg-eval -q --device cpu -t 1 --score -o out ../given/ids
all && try gg-eval -q --device cpu -t 1 --imatrix out -c 16 ../given/ids
rm state

echo gg-sample, gg-logits
try gg-sample -s 1 -o out ../given/logits
if all; then
    try gg-logits --to jsonl -o out ../given/logits
    try gg-logits --to npz -o out ../given/logits
    try gg-logits --bias 5=1 -o new ../given/logits
fi

echo gg-generate
try gg-generate -q --device cpu -t 2 -s 1 -n 4 -f ../given/ids -o out
try gg-generate -q --device cpu -t 1 -s 1 -n 4 -p a --save state -o out
some rename 1 gg-generate -q --device cpu -t 1 -s 1 -n 9 -p a --draft-table new -o out
if all; then
    gg-generate -q --device cpu -t 1 -n 4 -s 1 -p a --save state >/dev/null
    (export GG_GOES_ON=1 &&
        try gg-generate -q --device cpu -t 1 -s 1 -n 4 -p b --state state -o new)
    rm state
    head -n 3 ../given/text >../given/lines
    try gg-generate -q --device cpu -t 1 -s 1 -n 4 --lines -o out ../given/lines
fi

echo gg-train
try gg-train -q -t 1 -r 2 -c 64 --steps 1 -o out ../given/ids
(GG_LEAVES=log && export GG_LEAVES &&
    some write 2 gg-train -q -t 1 -r 2 -c 64 --steps 2 --log log -o new ../given/ids)
rm -f log
if all; then
    (GG_LEAVES=check && export GG_LEAVES &&
        try gg-train -q -t 1 -r 2 -c 64 --steps 2 --checkpoint check -o new \
            ../given/ids)
    rm -f check
    # What has come stays, for the next run; and a model that is whole, where its
    # name cannot be told any more.
    (export GG_LEAVES=.part GG_DONE=1 && . "$top_srcdir/tests/cli/fetch-serve.sh" &&
        cp ../given/m.gguf hub/tiny.gguf && offer plain tiny.gguf &&
        rm -f ports && try gg-fetch -q --retries 0 --dir . hf:gg/plain)
    rm -rf hub home data
fi
ls
