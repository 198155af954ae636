# Sequences refer to the keys and values of a prefix that is longer than a block
# of them: it takes memory once, and no byte changes when they go on together,
# when the first one ends and another takes its slot, or with other threads.
"$top_builddir/tests/make_model" llama-q8_0 model.gguf || exit 99
GG_MODEL=model.gguf
export GG_MODEL
used() {
    gg-eval -v --device cpu -c 900 --top 3 "$@" 2>&1 >got |
        sed -n 's/^gg-eval: \(used: .*\)$/\1/p'
}
prefix=$(seq 1 700 | awk '{ printf("%s%d", NR > 1 ? " " : "", $1 * 7 % 290) }')

echo "eight that begin alike, and go on in another order"
for s in 1 2 3 4 5 6 7 8; do
    printf '%d\t%s %d %d\n' $s "$prefix" $((200 + s)) 7
done >eight
for s in 8 7 6 5 4 3 2 1; do
    printf '%d\t%d %d\n' $s $s 5
done >>eight
gg-eval --device cpu -c 900 --top 3 --batch 1 --slots 8 -t 1 eight >want
gg-eval --device cpu -c 900 --top 3 --batch 1 --slots 1 eight | cmp - want
used --slots 8 eight
cmp got want
used --slots 8 -t 3 --batch-size 5 eight
cmp got want

echo "a tree, of which slots get lost"
awk -v p="$prefix" 'BEGIN {
    for (i = 0; i < 9; i++) {
        printf "%d\t%s", i, i == 4 ? "9 8 7" : p
        for (j = 0; j < 130; j++) printf " %d", 1 + (int(i / 3) * 50 + j)
        print " " i + 1
    }
    for (i = 0; i < 9; i += 2) printf "%d\t%d\n", i, 30 + i
}' >tree
gg-eval --device cpu -c 900 --top 3 --batch 1 --slots 1 tree >want
for slots in 2 3 5 9; do
    used --slots $slots tree
    cmp got want
done

echo "each type of cache, and a state"
sed -n '1,3p' eight >three
for type in f32 f16 bf16; do
    gg-eval --device cpu -c 900 --top 3 --batch 1 --slots 1 --cache-type $type three >want
    gg-eval --device cpu -c 900 --top 3 --cache-type $type --save state three | cmp - want
    printf '2\t5\n3\t6\n1\t7\n' >more
    cat three more | gg-eval --device cpu -c 900 --top 3 --batch 1 --slots 1 --cache-type $type |
        tail -n 12 >want
    gg-eval --device cpu -c 900 --top 3 --cache-type $type --load state more | cmp - want
done
