# --choice for records, against the pipe that scores the same ids; --load for
# records, against one text after another.
test -f "$GG_MODEL" || { echo "no demo model" >&2 && exit 77; }
cat >prompts <<EOF
Once upon a time, there was a little girl called Mary. One day,
Once upon a time, there was a little boy called Tom. One day,
Once upon a time, there was a big red
The cat
Lily and
EOF
labels=' Tom, Mary went, asked her mom, ball'

# Each line of the input, and each choice.
while IFS= read -r text; do
    for label in ' Tom' ' Mary went' ' asked her mom' ' ball'; do
        printf '%s\t%s\n' "$text" "$label"
    done
done <prompts >fields
gg-tokenize --lines --fields fields | gg-eval --score |
    awk '$2 == 2 { print $4 "\t" $3 }' | paste - fields |
    awk -F '\t' '{ print int((NR - 1) / 4), $0 }' | LC_ALL=C sort -s -k 1,1n -k 2,2gr >want

echo 'the likeliest for each line, at once:'
gg-generate --lines --choice "$labels" prompts >best
cat best
awk -F '\t' 'NR % 4 == 1 { print $4 }' want | cmp - best

echo 'scores, in any batch:'
for b in 1 3 8; do
    gg-generate --lines --choice "$labels" --scores --batch $b prompts >scores.$b
done
cmp scores.1 scores.3
cmp scores.1 scores.8
tr '\t' '\n' <scores.1 | paste - - - - | grep ..... >got
sed 's/^[0-9]* //' want | cut -f 1,2,4 >three
cut -f 1-3 got | cmp - three
awk -F '\t' '{ sum += $4 } END { printf "%.4f\n", sum }' got

echo 'numbers, prompts, and NUL:'
cat -n prompts | gg-generate --lines --numbered --echo --choice ' a, the' | sed -n '3,5p'
printf 'One day\0The\n' | gg-generate -0 --choice 'A\nB' | od -An -c
head -n 2 prompts | gg-generate --lines --choice Mary --choice "$(seq -s , 1 30)" --scores |
    awk -F '\t' '{ print NF, $3 }'

echo 'what fails is one record:'
long=$(seq -s ' ' 1 90)
printf '%s\n' a "$long" b | gg-generate --lines -c 64 --choice x,y | wc -l
printf '%s\n' a b | gg-generate --lines --scores
printf '%s\n' a b | gg-generate --lines --choice ,
printf 'a\n\nb\n' | gg-generate --lines --no-bos --choice 'x y,z' | awk '{ print NF > 0 }'

echo 'a state that each record goes on from:'
head -n 1 prompts | tr -d '\n' >first
gg-generate -s 1 -n 1 --save state.gguf first >made
printf ' %s\n' Mary 'her mom' 'the dog' >more
while IFS= read -r text; do
    gg-generate --load state.gguf -p "$text" --greedy -n 9; echo
done <more >one
for b in 1 2; do
    gg-generate --lines --load state.gguf --greedy -n 9 --batch $b more | cmp - one
done
while IFS= read -r text; do
    printf '%s\n' "$(cat first made)$text"
done <more | gg-generate --lines --choice ' is, went' --scores >want
gg-generate --lines --load state.gguf --choice ' is, went' --scores more | cmp - want
gg-generate --load state.gguf -p ' Mary' --choice ' is, went' --scores |
    paste -s >scores
head -n 1 want | cmp - scores
echo | gg-generate --lines --load state.gguf --greedy -n 9 >empty
(gg-generate --load state.gguf -p '' --greedy -n 9; echo) | cmp - empty
gg-generate --chat --template alpaca --system 'Be kind.' -s 1 -n 5 --save chat.gguf -p Hi >made
for text in 'A cat?' 'A dog?'; do
    gg-generate --chat --load chat.gguf -s 1 --greedy -n 9 -p "$text"; echo
done >one
printf 'A cat?\nA dog?\n' | gg-generate --chat --lines --load chat.gguf --greedy -n 9 | cmp - one
gg-generate --chat --load chat.gguf --choice yes,no -p 'A dog?' >choice
printf 'A cat?\nA dog?\n' | gg-generate --chat --lines --load chat.gguf --choice yes,no |
    tail -n 1 | tr -d '\n' | cmp - choice
gg-generate --lines --load chat.gguf more
gg-generate --lines --state state.gguf more
gg-generate --lines --save state.gguf more
test -s state.gguf
