# With --ignore-eog a story does not end before -n, and the pipe agrees.
printf 'Once upon a time' >prompt
gg-generate -f prompt -n 480 -s 1 -v 2>&1 >ends |
    sed -n 's/.*made: \([0-9]*\).*/\1/p' >made
test "$(cat made)" -lt 480 || echo "the story did not end by itself"
gg-generate -f prompt -n 480 -s 1 --ignore-eog -v 2>&1 >goes-on |
    sed -n 's/.*made: \([0-9]*\).*/\1/p'
gg-tokenize prompt |
    gg-loop 'gg-eval | gg-sample -n 480 -s 1 --ignore-eog' |
    gg-tokenize -d | cmp - goes-on
gg-tokenize prompt |
    gg-loop 'gg-eval --keep 60 | gg-sample -n 480 -s 1 --ignore-eog' |
    gg-tokenize -d | cmp - goes-on
