# Layers that keep a window of keys: records behind a saved state begin with a
# copy of it, although an earlier record, which shares more, has moved on. The
# ids that are evaluated are counted.
"$top_builddir/tests/make_model" gemma2-q8_0 model.gguf || exit 99
GG_MODEL=model.gguf
export GG_MODEL
words() {
    seq -s ' ' "$1" "$2" | tr -d '\n'
}
generate() {
    gg-generate --batch-size 32 -c 2000 --temp 0 -n 3 "$@"
}
words 1000 1040 | generate -n 0 --save state
words 1 20 >same
{
    cat same
    words 100 400
    echo
    cat same
    echo ' and more'
} >records

echo "behind the state"
generate -v --load state --lines --batch 1 records 2>&1 >got |
    sed -n 's/^gg-generate: \(.*\) evaluated.*/\1/p'
echo "one by one"
while read -r line; do
    printf '%s\n' "$line" | generate -v --load state --lines --batch 1 2>>err
done <records | cmp - got
sed -n 's/^gg-generate: \(.*\) evaluated.*/\1/p' err
