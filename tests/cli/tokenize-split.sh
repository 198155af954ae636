# A split rule that is not known: a word about it, and the ids of 'default';
# of one that is known, no word.
LC_ALL=C
export LC_ALL
for name in gpt-9 gpt-2; do
    sed "s/gpt-2/$name/" "$GG_MODEL" >model.gguf
    echo "$name"
    echo "$name" >&2
    printf "it's 1234 (words)" | gg-tokenize --no-bos -m model.gguf |
        gg-tokenize -d --no-bos -m model.gguf 2>/dev/null
    echo
done
echo all >&2
sed "s/gpt-2/gpt-9/" "$GG_MODEL" >model.gguf
gg-generate -m model.gguf -p Once -n 1 >/dev/null
echo 1 2 3 | gg-eval -m model.gguf --top 1 >/dev/null
