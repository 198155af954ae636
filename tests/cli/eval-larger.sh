# Weights that are larger than the memory for them are read as they are needed:
# the same bytes, of prompts, of several sequences and of single ids, with any
# threads; and one line of -v says so.
for model in qwen3moe-q8_0 llama-q8_0; do
    "$top_builddir/tests/make_model" $model model.gguf || exit 99
    seq 1 60 | awk '{ printf("%d\t%s\n", $1 % 3, $1 * 7 % 290) }' >ids
    seq 1 90 | awk '{ printf("%s%d", NR > 1 ? " " : "3\t", $1 * 11 % 290) }
                    END { print "" }' >>ids
    gg-eval -m model.gguf --device cpu -c 256 ids >want
    for memory in 1 50K; do
        for t in 1 3; do
            GG_WEIGHT_MEMORY=$memory gg-eval -v -m model.gguf --device cpu \
                -t $t -c 256 ids 2>messages >got
            cmp got want
            grep -c 'weights: .* read from disk as they are needed' messages
        done
    done | sort | uniq -c | awk '{ print $1 " runs, lines: " $2 }'
    GG_WEIGHT_MEMORY=1G gg-eval -v -m model.gguf --device cpu -c 256 ids \
        2>messages | cmp - want
    grep -c 'read from disk' messages
done
exit 0
