# Options of one record in JSON, against the same on the command line.
test -f "$GG_MODEL" || { echo "no demo model" >&2 && exit 77; }
echo '{"prompt":"a"}' | gg-generate --jsonl -n 1 2>&1 | grep -q 'without Jansson' &&
    { echo "no Jansson" >&2 && exit 77; }
printf 'root ::= " the " ("cat" | "dog" | "bird") "."\n' >pet.gbnf
cat >color.json <<EOF
{"type":"object","properties":{"z":{"enum":["red","blue"]},"a":{"type":"boolean"}},"required":["z","a"]}
EOF
text='The dog and the cat and the dog and the cat and the dog'
one() { gg-generate -p "$text" -s 4 -n 20 "$@" | tr '\n' ' '; echo; }

{
    one --logit-bias 13=-inf --logit-bias 11=3
    one --logit-bias 13=-inf --logit-bias 11=3
    one --dry-multiplier 30 --dry-allowed-length 1 --dry-sequence-breaker he --dry-sequence-breaker ,
    one --dry-multiplier 30 --dry-allowed-length 1
    one --dry-multiplier 30 --dry-allowed-length 1 --dry-sequence-breaker none
    one --grammar pet.gbnf
    one --json-schema color.json
    one --mirostat 2 --mirostat-ent 3
    one --repeat-penalty 1.5 --presence-penalty 1 --typical-p 0.9 --eta-cutoff 0.1
    one
} >want
schema=$(cat color.json)
cat >records <<EOF
{"prompt":"$text","seed":4,"logit_bias":{"13":false,"11":3}}
{"prompt":"$text","seed":4,"logit-bias":[[13,false],[11,3]]}
{"prompt":"$text","seed":4,"dry_multiplier":30,"dry_allowed_length":1,"dry_sequence_breaker":["he",","]}
{"prompt":"$text","seed":4,"dry_multiplier":30,"dry_allowed_length":1}
{"prompt":"$text","seed":4,"dry_multiplier":30,"dry_allowed_length":1,"dry_sequence_breaker":"none"}
{"prompt":"$text","seed":4,"grammar":"root ::= \" the \" (\"cat\" | \"dog\" | \"bird\") \".\"\n"}
{"prompt":"$text","seed":4,"json_schema": $schema , "tag":1}
{"prompt":"$text","seed":4,"mirostat":2,"mirostat_ent":3}
{"prompt":"$text","seed":4,"repeat_penalty":1.5,"presence_penalty":1,"typical_p":0.9,"eta_cutoff":0.1}
{"prompt":"$text","seed":4,"grammar":"","logit_bias":{},"dry_sequence_breaker":null}
EOF
texts() { sed 's/.*"text":"\(.*\)","ids".*/\1/; s/\\"/"/g; s/\\n/ /g'; }
for b in 1 8; do
    gg-generate --jsonl -q --batch $b -n 20 records | texts | sed 's/$/ /' >got
    sed 's/ *$//' want >a
    sed 's/ *$//' got | cmp - a
done

echo 'what the command line says is replaced, or taken away:'
gg-generate --jsonl -q -n 20 --grammar pet.gbnf --logit-bias 11=9 records 2>words | texts >got
sed -n '6p;10p' got >some
sed 's/ *$//' want | sed -n '6p;10p' | cmp - some
LC_ALL=C sort -u want | wc -l

echo 'what is wrong is an error in its place:'
for m in '"grammar":7' '"grammar":"root ::= ("' '"json_schema":"file"' \
    '"json_schema":{"type":"wish"}' '"grammar":"root ::= [a]","json_schema":true' \
    '"logit_bias":3' '"logit_bias":{"x":1}' '"logit_bias":{"1":"a"}' \
    '"logit_bias":[[1]]' '"logit_bias":[[1.5,1]]' '"logit_bias":[[-1,1]]' \
    '"logit_bias":{"1":1e9}' '"dry_sequence_breaker":[""]' \
    '"dry_multiplier":1,"dry_sequence_breaker":"\u0007\u0007"' \
    '"n":1e300' '"n":0' '"temp":"hot"' '"seed":-1' '"top_k":1.5'; do
    echo "{$m,\"prompt\":\"a\"}"
done >bad
gg-generate --jsonl -n 2 -s 1 bad >out 2>words
echo "status $?"
sed 's/.*"error"/"error"/' out
wc -l <words
