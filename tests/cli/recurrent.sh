# Models with recurrent states: the same whatever the pieces, threads, runs,
# neighbours and drafts, of which some are rejected.
"$top_builddir/tests/make_model" llama-f32 draft.gguf || exit 99
seq 1 60 >ids
printf '1\t5 6 7\n2\t5 6 7 8\n3\t9 9\n4\t4 4\n1\t8\n2\t9\n3\t1 2 3\n' >lines

try() {
    "$top_builddir/tests/make_model" "$1-f32" model.gguf || exit 99
    GG_MODEL=model.gguf
    export GG_MODEL
    gg-eval --top 1 ids >want
    gg-eval --top 1 -t 1 --batch-size 7 ids | cmp - want
    tr '\n' ' ' <ids | gg-eval --top 1 -t 3 | tail -n 2 | cut -f 3- >last
    tail -n 2 want | cut -f 3- | cmp - last
    rm -f s
    head -n 20 ids | gg-eval --top 1 --state s >got
    tail -n +21 ids | gg-eval --top 1 --state s -t 2 >>got
    cmp got want

    gg-eval --top 1 --slots 3 lines | awk NF >got
    gg-eval --top 1 --slots 1 --batch 1 lines | awk NF | cmp - got
    gg-eval --top 1 --shift -c 40 ids >want
    gg-eval --top 1 --shift -c 40 -t 1 --batch-size 3 ids | cmp - want

    set -- -p abcabcabc -s 3 -n 40
    gg-generate "$@" >want
    gg-generate "$@" --draft prompt | cmp - want
    gg-generate "$@" --draft draft.gguf | cmp - want
    gg-generate "$@" --draft draft.gguf -v 2>&1 >got | grep -o 'ids drafted' |
        uniq
    gg-inspect --memory | grep -o '[0-9]* snapshots'
}
for model in qwen35 lfm2 mamba2 granitehybrid falcon-h1 rwkv6 rwkv7 arwkv7; do
    echo "$model"
    try "$model"
done
