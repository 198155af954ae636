# --imatrix: the file, whatever the threads; and what gg-quantize makes of it.
"$top_builddir/tests/make_model" mixtral-f32 model.gguf || exit 99
story=$GG_MODEL
GG_MODEL=model.gguf
export GG_MODEL
awk 'BEGIN { for (i = 0; i < 70; i++) print (i * 37 + i * i * 11) % 256 }' >ids

gg-eval --imatrix a.gguf -c 16 ids
gg-inspect -k general.type a.gguf
gg-inspect -k imatrix.datasets a.gguf
gg-inspect -k imatrix.chunk_count a.gguf
gg-inspect -k imatrix.chunk_size a.gguf
gg-eval --imatrix b.gguf -c 16 -t 3 --batch-size 5 ids
cmp a.gguf b.gguf
gg-eval --imatrix - -c 16 ids | cmp - a.gguf
gg-inspect --json a.gguf | jq -r '.tensors[] | [.name, .type, .shape[]] |
    @tsv' | grep 'blk.1\|output'

# What goes to queries goes to keys; each id has two of four experts, and what
# goes to them went to the router.
mean() {
    gg-inspect --tensor "$1" a.gguf | awk '$1 == "mean" { print $2 }'
}
test "$(mean blk.1.attn_q.weight.in_sum2)" = \
    "$(mean blk.1.attn_k.weight.in_sum2)" || echo "queries are not keys"
mean blk.1.attn_q.weight.counts
mean blk.1.ffn_down_exps.weight.counts
mean output.weight.counts
echo "$(mean blk.1.ffn_up_exps.weight.in_sum2)" \
     "$(mean blk.1.ffn_gate_inp.weight.in_sum2)" |
    awk '{ r = $1 * 4 / ($2 * 2); print (r > 0.99999 && r < 1.00001) }'

echo 'errors where they matter'
nmse() { awk -F '\t' '$1 == "all" { print $5 }'; }
plain=$(gg-quantize --pure model.gguf plain.gguf Q4_0 | nmse)
weighted=$(gg-quantize --pure --imatrix a.gguf model.gguf q.gguf Q4_0 | nmse)
echo "$plain $weighted" | awk '{ print ($2 < $1) }' # without, no fit is sought
gg-inspect -k quantize.imatrix.file q.gguf
gg-inspect -k quantize.imatrix.entries_count q.gguf
gg-inspect -k quantize.imatrix.chunks_count q.gguf
gg-quantize -q --pure -t 3 --imatrix a.gguf model.gguf r.gguf Q4_0
cmp q.gguf r.gguf
gg-quantize --imatrix a.gguf model.gguf - Q4_K_M 2>/dev/null >k.gguf
echo 1 2 3 | gg-eval -m k.gguf --top 1 | wc -l

echo 'what is no text, or no importance matrix'
gg-eval --imatrix x.gguf ids
gg-eval --imatrix x.gguf -o y -c 16 ids
gg-eval --imatrix x.gguf --perplexity ids
gg-eval --imatrix x.gguf --top 3 ids
gg-eval --imatrix /dev/full -c 16 ids
gg-eval --imatrix none/x.gguf -c 16 ids
quantize() {
    gg-quantize -q --imatrix "$1" "${2:-model.gguf}" x.gguf Q4_0
}
spoil() { # a float of a tensor
    cp a.gguf bad.gguf
    at=$(gg-inspect --tensor "$1" a.gguf | awk '$1 == "offset" { print $2 }')
    printf "$2" | dd of=bad.gguf bs=1 seek="$at" conv=notrunc 2>/dev/null
    quantize bad.gguf
}
quantize none.gguf
quantize model.gguf
quantize ids
spoil blk.1.ffn_down_exps.weight.counts '\000\000\300\177'
spoil blk.1.ffn_up_exps.weight.in_sum2 '\000\000\200\277'
quantize a.gguf "$story"
ls | grep -c '^x'
true
