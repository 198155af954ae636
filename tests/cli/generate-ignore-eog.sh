# With --ignore-eog a story does not end before -n, and the pipe agrees.
printf 'Once upon a time' >prompt
gg-generate -f prompt -n 480 -s 1 -v 2>&1 >ends |
    sed -n 's/.*decoding: \([0-9]*\).*/\1/p' >made
test "$(cat made)" -lt 480 || echo "the story did not end by itself"
gg-generate -f prompt -n 480 -s 1 --ignore-eog -v 2>&1 >goes-on |
    sed -n 's/.*decoding: \([0-9]*\).*/\1/p'
gg-tokenize prompt |
    gg-loop 'gg-eval | gg-sample -n 480 -s 1 --ignore-eog' |
    gg-tokenize -d | cmp - goes-on
gg-tokenize prompt |
    gg-loop 'gg-eval --keep 60 | gg-sample -n 480 -s 1 --ignore-eog' |
    gg-tokenize -d | cmp - goes-on
# Log-probabilities are what the model gave, the ids that cannot be drawn, too.
gg-generate -f prompt -n 480 -s 1 --ignore-eog --logprobs 3 3>want | cmp - goes-on
gg-tokenize prompt |
    gg-loop 'gg-eval | gg-sample -n 480 -s 1 --ignore-eog --logprobs 3' 3>got |
    gg-tokenize -d | cmp - goes-on
cmp want got
test "$(wc -l <got)" -eq 480 || echo "not a line an id"
