# A prefix that sequences have in common is evaluated once, and changes no
# byte.
"$top_builddir/tests/make_model" llama-q8_0 model.gguf || exit 99
GG_MODEL=model.gguf
export GG_MODEL
prefix=$(seq -s ' ' 1 100)
counts() {
    gg-eval -v "$@" 2>&1 >got |
        sed -n 's/^gg-eval: \(.* batches\)$/\1/p'
}

echo "five that arrive together"
for s in 1 2 3 4 5; do
    printf '%d\t%s %d %d\n' $s "$prefix" $((200 + s)) 7
done >five
gg-eval --batch 1 five >want
counts five
cmp got want
counts --batch 1 five
cmp got want
counts --slots 1 five
cmp got want

echo "without it, one by one"
for s in 1 2 3 4 5; do
    sed -n "${s}p" five | gg-eval --top 9
done >want
gg-eval --top 9 five | cmp - want

echo "the same five times"
sed 's/\(	.*\) .* 7/\1 7/' five >same
counts same
gg-eval --top 9 same | cut -f 3- | head -n 10 >one
for i in 1 2 3 4 5; do cat one; done >want
gg-eval --top 9 same | cut -f 3- | cmp - want

echo "after the first has ended"
{ sed 1q five; printf '1\t\n'; sed -n 2p five; } >after
counts --batch 1 after
counts after

echo "a tree"
awk -v p="$prefix" 'BEGIN {
    for (i = 0; i < 8; i++) {
        printf "%d\t%s", i, p
        for (j = 0; j < 40; j++) printf " %d", 1 + (int(i / 4) * 50 + j)
        for (j = 0; j < 30; j++) printf " %d", 1 + (int(i / 2) * 50 + j)
        print " " i + 1
    }
}' >tree
gg-eval --top 9 --slots 8 --batch 1 tree >want
counts --top 9 tree
cmp got want
counts --top 9 --slots 2 tree
cmp got want

echo "a place that was lost"
{ cat five; sed 's/	.*/	9 8 7/' five; } >lost
gg-eval --batch 1 lost >want
counts --slots 2 lost
cmp got want

echo "layers that see a window, which has moved on"
"$top_builddir/tests/make_model" mistral-f32 model.gguf || exit 99
sed 2q five >want.in
gg-eval --top 9 --batch 1 --slots 1 want.in >want
counts --top 9 want.in
cmp got want
{ sed 1q five; seq 1 250 | sed 's/^/1	/'; sed 's/^/1	/' <<END
$(seq -s ' ' 1 250) $(seq -s ' ' 1 250)
END
sed -n 2p five; } >moved
tail -n 10 want >last
for b in 1 8; do
    counts --top 9 -c 1000 --batch-size 64 --batch $b moved
    tail -n 10 got | cmp - last
done
