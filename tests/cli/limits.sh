# Input that never ends, or has no end in sight: each reader has a limit, and
# says it.
test -f "$GG_MODEL" || { echo "no demo model" >&2 && exit 77; }
demo=$GG_MODEL
"$top_builddir/tests/make_model" llama-q4_0 model.gguf || exit 99
GG_MODEL=model.gguf
export GG_MODEL
letters() { tr '\0' a </dev/zero; }
run() {
    timeout 250 "$@" 2>words | wc -c
    # The shell of a pipe that is cut has nothing to say.
    sed 's/^\(.\{100\}\).*/\1/' words | LC_ALL=C sort -u
}
yes | run gg-generate -n 1
yes | run gg-generate -n 1 -p a -
yes | run gg-generate --chat --template alpaca -n 1
yes | run gg-generate --choice a,b
yes '{"role":"user","content":"a"}' | run gg-generate --messages --template alpaca -n 1
run gg-generate --lines -n 1 </dev/zero
yes | run gg-generate -0 -n 1
run gg-generate --jsonl -n 1 </dev/zero
letters | run gg-generate -m "$demo" -i --template alpaca -n 1
{ letters | head -c 270000000; echo; } >wide
echo a | run gg-generate --lines -n 1 --resume wide
wc -c <wide
rm wide
run gg-generate -p a --grammar /dev/zero
run gg-generate -p a --json-schema /dev/zero
gg-tokenize <<END | gg-eval >logits
a
END
run gg-sample --grammar /dev/zero logits
run gg-inspect --hash-check /dev/zero model.gguf
run gg-tokenize --lines </dev/zero
yes | run gg-tokenize -0
yes | run gg-tokenize --max 10
tr '\0' 0 </dev/zero | run gg-tokenize -d
tr '\0' 1 </dev/zero | run gg-eval
letters | run gg-loop cat
echo 1 | run gg-loop "tr '\0' 1 </dev/zero"
yes 1 | run sh -c 'gg-loop cat >/dev/null'
yes | run gg-logits
yes | run gg-sample
