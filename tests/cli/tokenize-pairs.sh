# gg-tokenize --pairs, --prefix, --prompt-name; gg-eval --rank, --dims, tokens.
make_folder bert-f32 bert.gguf bert || exit 99
GG_MODEL=bert
export GG_MODEL
ids() { printf "$1\n" | gg-tokenize --lines | cut -f 2; }
printf 'the cat\tit sat\n' | gg-tokenize --pairs | cut -f 2 >pair
echo $(ids 'the cat') $(ids 'it sat' | cut -d ' ' -f 2-) | cmp - pair
printf 'no tab\n{"query": "the cat", "document": "it sat"}\n{"query": 1}\n' |
    gg-tokenize --pairs >out
echo "status $?"
sed -n 2p out | cut -f 2 | cmp - pair
sed '2d' out

# What goes in front of a text.
ids 'the cat' >a
printf 'cat\n' | gg-tokenize --prefix 'the ' --lines | cut -f 2 | cmp - a
printf cat | gg-tokenize --prefix 'the ' | cmp - a
printf '{"prompts": {"query": "the "}}' >bert/config_sentence_transformers.json
printf 'cat' | gg-tokenize --prompt-name query -m bert | cmp - a
printf 'cat' | gg-tokenize --prompt-name other -m bert
echo "status $?"

# Without a classifier there is no score.
gg-eval --rank <pair
echo "status $?"

# The first values have length 1, and a vector for each id.
gg-eval --embed mean --dims 3 pair | gg-logits --to text |
    awk -F '\t' 'NF == 2 && $1 != "" { n++; s += $2 * $2 }
        END { print n, (s > 0.9999 && s < 1.0001) }'
gg-eval --embed tokens pair | gg-logits --to text | grep -c ^record >n
wc -w <pair | tr -d ' ' | cmp - n
gg-eval --embed mean --dims 100000 pair
echo "status $?"

# Names of members may have escapes; each is there once.
printf '{"qu\\u0065ry": "the cat", "document": "it sat"}\n' |
    gg-tokenize --pairs -m bert | cut -f 2 | cmp - pair
printf '{"query": "a", "query": "b", "document": "c"}\n' |
    gg-tokenize --pairs -m bert
echo "status $?"
