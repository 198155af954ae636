# WordPiece normalises a text; ranges are those of the text as it was.
test -n "$GG_TEST_VOCAB" || {
    echo "GG_TEST_VOCAB names no folder of vocabularies" >&2
    exit 77
}
GG_MODEL=$GG_TEST_VOCAB/bert-bge.gguf
printf 'Cr\303\250me BR\303\233L\303\211E,  don\342\200\231t\n\344\270\255\346\226\207 nai\314\210ve\n' >text
gg-tokenize --offsets text
gg-tokenize --lines --count text
# Each range gives the piece again; the pieces of a budget give the text.
gg-tokenize --offsets text | while read -r id from to; do
    test "$from" -lt "$to" || continue
    tail -c "+$((from + 1))" text | head -c "$((to - from))"
    echo
done
for n in 5 6 9 40; do
    gg-tokenize --budget $n text
    gg-tokenize --budget $n -0 text | tr -d '\0' | cmp - text
done
gg-tokenize --budget 2 text; echo $?
