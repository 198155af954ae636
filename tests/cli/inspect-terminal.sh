# On a terminal tables are aligned.
script -qec true /dev/null >/dev/null 2>&1 </dev/null || {
    echo "script(1) gives no terminal" >&2
    exit 77
}
make_model llama-f32 a.gguf && gg-quantize -q a.gguf b.gguf F16 || exit 99
shown() {
    script -qefc "$*" shown >/dev/null </dev/null
    tail -n +2 shown | tr -d '\r' | grep -v '^$\|^Script done'
}
shown "gg-inspect --diff --tensor 'blk.0.a*_k.*' a.gguf b.gguf"
shown "gg-inspect --stats --tensor 'blk.0.a*_k.*' a.gguf"
