# --multiple-choice: three shapes of questions, against --score.
echo '{"prompt":"a","choices":["b","c"],"answer":0}' >in
gg-eval --multiple-choice in 2>&1 | grep 'without Jansson' >&2 && exit 77

echo '-- scores'
# The likelihood of each option, and that of a character.
cat >in <<'END'
{"prompt":"Once upon a","choices":["time","horse","a very long way","x"],"answer":"time"}
{"prompt":"The cat sat on the","choices":["of","mat"],"answer":1}
{"prompt":"The cat sat on the ","choices":["of","mat"],"answer":"0"}
END
gg-eval --multiple-choice in
gg-eval --multiple-choice --json in
gg-eval --multiple-choice --batch 1 -t 3 <in | cmp - <<'END'
metric	questions	right	accuracy	error
acc	3	2	0.6667	0.3333
acc_norm	3	2	0.6667	0.3333
END
score() { # GIVEN TEXT
    printf '%s' "$1" | gg-tokenize >ids
    printf '%s' "$2" | gg-tokenize --no-bos >>ids
    gg-eval --score ids | awk 'END { printf "%.6f\n", $4 }'
}
best() { sort -n | tail -n 1; }
for o in time horse 'a very long way' x; do
    echo "$(score 'Once upon a' " $o") $o"
done | best | cut -d ' ' -f 2

echo '-- the shape of hellaswag'
cat >in <<'END'
{"ind":1,"activity_label":"A story","ctx_a":"Once [a] upon.","ctx_b":"ONE day","ctx":"x","endings":[" [title] of of of of","a girl went to the park. [step]"],"label":1}
{"ctx":"Once upon a","endings":["time","of of"],"label":"0"}
END
gg-eval --multiple-choice in
# As the same texts in our shape.
sed 1q in | jq -c '{prompt: "A story: Once upon. One day", choices: ["[title] of of of of" | sub("\\[title\\] "; ""), "a girl went to the park. "], answer: 1}' |
    gg-eval --multiple-choice | cut -f 1-3

echo '-- the shape of winogrande'
cat >in <<'END'
{"qID":"1","sentence":"The girl saw the dog and _ barked at her.","option1":"the dog","option2":"the girl","answer":"1"}
END
gg-eval --multiple-choice in
one=$(score 'The girl saw the dog and the dog' ' barked at her.')
two=$(score 'The girl saw the dog and the girl' ' barked at her.')
echo "$one $two" | awk '{ print ($1 > $2) }'

echo '-- what is none'
for line in '{}' 'x' '{"choices":["a","b"],"answer":0}' \
    '{"prompt":"a","choices":["a"],"answer":0}' \
    '{"prompt":"a","choices":["a",""],"answer":0}' \
    '{"prompt":"a","choices":["a","b"],"answer":2}' \
    '{"prompt":"a","choices":["a","b"]}' \
    '{"ctx":"a","endings":["a","b"],"label":""}' \
    '{"sentence":"a","option1":"b","option2":"c","answer":"1"}' \
    '{"sentence":"a _","option1":"b","option2":"c","answer":"1"}' \
    '{"sentence":"a _ b","option1":"b","option2":"c","answer":"3"}'; do
    echo "$line" | gg-eval --multiple-choice
done
: | gg-eval --multiple-choice
yes a | head -n 400 | tr '\n' ' ' >long
jq -Rc '{prompt: ., choices: ["a", "b"], answer: 0}' long |
    gg-eval --multiple-choice -c 100
gg-eval --multiple-choice --score in
gg-eval --json in
echo "status $?"
