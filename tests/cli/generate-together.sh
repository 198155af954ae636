# Options of which each has a meaning beside the other.
test -f "$GG_MODEL" || { echo "no demo model" >&2 && exit 77; }
set -- --temp 0 -n 9

echo "-p with records: it begins each of them"
printf ' cat\n dog\n' >animals
while IFS= read -r line; do
    gg-generate "$@" --echo -p "Once there was a$line"; echo
done <animals | sed 's/\\/\\\\/g' >want
gg-generate "$@" --echo -p 'Once there was a' --lines animals | cmp - want
tr '\n' '\0' <animals | gg-generate "$@" --echo -p 'Once there was a' -0 |
    tr '\0' '\n' | cmp - want
printf 'Once there was a' | gg-generate "$@" -n 0 --save begun
gg-generate "$@" -p ' big' --lines --load begun animals >big
while IFS= read -r line; do
    gg-generate "$@" -p " big$line" --load begun; echo
done <animals | cmp - big
gg-generate -p 'Once there was a' --lines --choice ' was, went' --scores animals >scores
while IFS= read -r line; do
    gg-generate --choice ' was, went' --scores -p "Once there was a$line" | paste -s -
done <animals | cmp - scores
gg-generate -p x --lines --messages animals

echo "--choice with a state: the text goes on with what was chosen"
gg-generate -p 'Once there was a' --choice ' cat, dog' --save chosen >best
gg-generate "$@" --load chosen -p '' >got
gg-generate "$@" -p "Once there was a$(cat best)" | cmp - got
gg-generate --state chosen -p ' who' --choice ' ran, sat' >>best
gg-generate --state chosen -p ' and' --choice ' ran, sat' >last
gg-generate "$@" -p "Once there was a$(sed 's/ [a-z]*$/ who&/' best) and$(cat last)" >want
gg-generate "$@" --load chosen -p '' | cmp - want
gg-generate --chat --template alpaca -p 'A cat or a dog?' --choice cat,dog --save chat >best
gg-generate "$@" --chat --load chat -p 'Why?' >got
jq -nc --arg best "$(cat best)" '[{role: "user", content: "A cat or a dog?"},
    {role: "assistant", content: $best}, {role: "user", content: "Why?"}]' >messages
gg-generate "$@" --messages --template alpaca messages 2>err | cmp - got ||
    grep -q 'without Jansson' err

echo "--choice with -i: the conversation goes on with what was chosen"
choose="--template alpaca --choice cat,dog,both"
printf 'A cat or a dog?\n\nAnd now?\n' >asked
gg-generate -i $choose <asked >got
head -n 1 asked | gg-generate -i $choose >first
(gg-generate --chat $choose -p 'A cat or a dog?' --save chat; echo) | cmp - first
head -n 1 got | cmp - first
(gg-generate --chat $choose --load chat -p 'And now?'; echo) >second
tail -n 1 got | cmp - second
gg-generate -i $choose --scores --system 'Be kind.' <asked >scores
tail -n 1 asked | gg-generate -i $choose --scores --system 'Be kind.' -p 'A cat or a dog?' |
    cmp - scores
head -n 2 asked | gg-generate -i $choose --scores --system 'Be kind.' --save chat >got
tail -n 1 asked | gg-generate -i $choose --scores --state chat >>got
cmp got scores
gg-generate "$@" --chat --load chat -p 'Why?' >got
best=$(sed -n 1p scores | cut -f 3) next=$(sed -n 5p scores | cut -f 3)
jq -nc --arg a "$best" --arg b "$next" '[{role: "system", content: "Be kind."},
    {role: "user", content: "A cat or a dog?"}, {role: "assistant", content: $a},
    {role: "user", content: "And now?"}, {role: "assistant", content: $b},
    {role: "user", content: "Why?"}]' >messages
gg-generate "$@" --messages --template alpaca messages 2>err | cmp - got ||
    grep -q 'without Jansson' err
gg-generate -i $choose -c 100 --quiet <asked >small || echo "[$?]"
cmp small first

echo "records in JSON with -p, --echo and --scores"
echo '{"prompt": 1}' | gg-generate --jsonl 2>&1 | grep -q 'without Jansson' && exit 0
printf '{"prompt":" cat"}\n{"prompt":" dog"}\n' >records
gg-generate "$@" --echo -p 'Once there was a' --jsonl records | jq -r .text >got
gg-generate "$@" --echo -p 'Once there was a' --lines animals |
    sed 's/\\n/\n/g; s/\\\\/\\/g' | cmp - got
gg-generate "$@" --jsonl records --choice ' was, went' --scores | jq -c '.choices | length'
gg-generate -p 'Once there' --jsonl -n 2 -s 1 <<X | jq -c '[.text != null, .error]'
{"prompt":""}
{"messages":[]}
X
