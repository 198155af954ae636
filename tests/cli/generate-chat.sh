# A conversation in one process gives the bytes of the pipe; what was said
# before stays in the cache.
test -f "$GG_MODEL" || { echo "no demo model" >&2 && exit 77; }
echo '{"role":"user","content":""}' | gg-tokenize -q --chat --template alpaca \
    2>&1 | grep 'without Jansson' >&2 && exit 77

text='Tell me of a dog and "a cat".'
jq -nc --arg t "$text" '{role: "user", content: $t}' >user
{
    echo '{"role": "system", "content": "Once upon a time"}'
    cat user
} >both
compare() {
    cmp - want || echo "differs: $*"
}

echo "-- the same as the pipe"
for template in alpaca tulu; do
    for seed in 1 2 3; do
        gg-generate --chat --template $template -p "$text" -n 60 -s $seed >want
        test -s want || echo "nothing was written"
        bash -o pipefail -c "gg-tokenize --chat --template $template user |
            gg-loop 'gg-eval | gg-sample -n 60 --seed $seed' |
            gg-tokenize -d" | compare $template $seed pipe
        gg-generate --messages --template $template -f user -n 60 -s $seed |
            compare $template $seed messages
        # The newline at the end of a file is not meant.
        echo "$text" |
            gg-generate --chat --template $template -n 60 -s $seed |
            compare $template $seed newline
        gg-generate --system 'Once upon a time' --template $template \
            -p "$text" -n 60 -s $seed >want
        bash -o pipefail -c "gg-tokenize --chat --template $template both |
            gg-loop 'gg-eval | gg-sample -n 60 --seed $seed' |
            gg-tokenize -d" | compare $template $seed system
    done
done

echo "-- line by line"
printf 'a\n\n \t\nb\nc' | gg-generate -i --template tulu -n 5 -s 1 >lines
echo "[$?]"
gg-generate --chat --template tulu -p a -n 5 -s 1 >want
head -c "$(wc -c <want)" lines | compare the first
# What the session holds is what a whole conversation would be: the second
# answer is the same.
head -n 2 lines | tail -n 1 >second
cp want answer
jq -nc --rawfile a answer '{role: "user", content: "a"},
    {role: "assistant", content: $a}, {role: "user", content: "b"}' |
    gg-generate --messages --template tulu -n 5 -s 1 >want
echo >>want
compare the second <second
# A first message from elsewhere; then lines.
printf 'b\n' | gg-generate -i -p a --template tulu -n 5 -s 1 >out
head -n 2 lines >want
compare a prompt <out
printf '' | gg-generate -i --template tulu -n 5
echo "[$?]"
printf 'a\nb\nc\nd\n' | gg-generate -i --template tulu -n 20 -c 60 -s 1 -q >full
echo "[$?]"
test -s full || echo "nothing was answered"
printf 'a\nb\nc\nd\n' |
    gg-generate -i --template tulu -n 5 -c 60 --shift --ignore-eog >full
echo "[$?]"

echo "-- misuse"
run() {
    gg-generate "$@" </dev/null
    echo "[$?]"
}
run --chat --template nonesuch
run --chat -p a 2>&1 | sed 's/^\(gg-generate: \).*gguf: /\1/'
run --template chatml -p a
run --chat --echo -p a
run --messages --system a -p a
run -i -
run --chat --template tulu -p ''
run --chat --template tulu
run --messages --template tulu -p ''
run --messages --template tulu -p '{"role":"user"}'
run --stop ''
gg-generate --template list | cmp - "$(gg-tokenize --template list >list; echo list)"
