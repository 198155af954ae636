# The prefix cache of a model in several files: the bytes of each of them count
make_model llama-f32 m.gguf
gg-convert -q --split 100000 m.gguf s
ls s-* | sed 's/.*-of-0*/of /' | sort | uniq -c | awk '{ print ($1 == $3 + 0) }'
first=$(ls s-00001-of-*)
last=$(ls s-* | tail -n 1)
seq 3 302 | awk '{ printf "%d ", 3 + $1 * 7 % 250 }' >a
echo >>a
run() { # WHAT OPTION...
    printf '%s: ' "$1"
    shift
    gg-eval -v --device cpu -t 1 -c 400 -m "$first" --cache c "$@" a 2>log >out
    sed -n 's/.*cache of prefixes: //p' log
}
run 'a prompt'
cp out want
run 'the same'
cmp out want
for file in "$last" "$(ls s-* | sed -n 2p)" "$first"; do
    cp "$file" whole
    byte=$(od -An -tu1 -j $(($(wc -c <"$file") - 9)) -N 1 "$file")
    printf "\\$(printf %o $((byte ^ 1)))" |
        dd of="$file" bs=1 seek=$(($(wc -c <whole) - 9)) conv=notrunc 2>/dev/null
    run 'a byte of another file'
    cp whole "$file"
done
run 'as before'
cmp out want
