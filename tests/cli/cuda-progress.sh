# Copying weights to a GPU shows a bar once it has taken a second, on a terminal
# and nowhere else, which is gone at the end.
script -qec true /dev/null >/dev/null 2>&1 </dev/null || {
    echo "script(1) gives no terminal" >&2
    exit 77
}
GG_CUDA_MODULE=$top_builddir/tests/cuda/.libs/cpu.so
GG_FAKE_CUDA=slow=70
export GG_CUDA_MODULE GG_FAKE_CUDA
echo '1 2 3' >ids
bars() {
    timeout 100 script -qefc "$*" shown </dev/null >/dev/null
    tail -n +2 shown | tr '\r' '\n' >lines
    grep -c 'gg-eval: \[#* *\] *[0-9]*% [0-9.]* GB/s' lines |
        awk '{ print ($1 > 0) }'
}
bars gg-eval --device cuda ids '>out'
grep -v '^Script' lines | tail -n 2 | tr -d ' ' | tr '\n' '|'
echo
gg-eval --device cpu ids | cmp - out
bars gg-eval -q --device cuda ids '>out'
bars "gg-eval --device cuda ids >out 2>said"
cat said
