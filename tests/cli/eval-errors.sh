# What goes wrong is said in one line, and is an exit status.
"$top_builddir/tests/make_model" llama-q4_0 model.gguf || exit 99
run() {
    "$@"
    echo "status $?"
}
run gg-eval --nonsense
run gg-eval -t 0
run gg-eval -c 1x
run gg-eval --cache-type q9
run gg-eval --precision f16
run gg-eval --top 0
run gg-eval --top 3 --f16
run gg-eval --keep 3 --f16
run gg-eval a b
run gg-eval -m model.gguf --device abacus </dev/null
GG_CUDA_MODULE=$top_builddir/tests/cuda/.libs/cpu.so \
    run gg-eval -m model.gguf --device cuda:77 </dev/null
run gg-eval -m nonesuch.gguf </dev/null
echo text >text.gguf
run gg-eval -m text.gguf </dev/null
GG_MODEL=model.gguf
export GG_MODEL
run gg-eval </dev/null
echo | run gg-eval
echo '1 two' | run gg-eval --top 1
echo 1000 | run gg-eval --top 1
run gg-eval nonesuch
run gg-eval .
full() {
    "$@" >/dev/full
}
echo 1 | run full gg-eval
echo 1 | run full gg-eval --top 3
echo 1 | run gg-eval -o /nonexistent/out
test -e out && echo "there is an out"

# An open input does not keep a tool alive that cannot do anything.
mkfifo wait
exec 3<>wait
run timeout 60 gg-eval -m nonesuch.gguf <wait

# Nothing is evaluated for nobody: a reader that has gone ends it.
bash -c 'yes 1 | timeout 60 gg-eval -c 1000000 | head -c 100 >/dev/null
    echo "status ${PIPESTATUS[1]}"'

# Binary is not for a terminal.
if script -qc true /dev/null </dev/null >/dev/null 2>&1; then
    echo 1 >ids
    script -qec 'gg-eval ids' /dev/null </dev/null 2>&1 | tr -d '\r'
else
    echo 'gg-eval: standard output is a terminal, and the output is binary'
    echo "Try 'gg-eval --help'."
fi
