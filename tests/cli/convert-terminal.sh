# Work that takes more than a second shows a bar on a terminal, and nowhere else.
script -qec true /dev/null >/dev/null 2>&1 </dev/null || {
    echo "script(1) gives no terminal" >&2
    exit 77
}
make_model llama-f32 m.gguf || exit 99
late() { # what reads its output begins after two seconds
    timeout 100 script -qefc "{ $*; } | { sleep 2; cat >/dev/null; }" shown \
        </dev/null >/dev/null
    tail -n +2 shown | tr '\r' '\n' | grep -c '\[#* *\] *[0-9]* % [a-z_0-9.]*' |
        awk '{ print ($1 > 0) }'
}
late gg-convert m.gguf -
late gg-convert -q m.gguf -
late gg-convert --to safetensors m.gguf -
late gg-quantize m.gguf - F16
late "gg-convert m.gguf - 2>said"
cat said
