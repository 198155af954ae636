# Members of records in JSON that other programs know: obeyed, refused, or told
# of.
test -f "$GG_MODEL" || { echo "no demo model" >&2 && exit 77; }
echo '{"prompt":"a"}' | gg-generate --jsonl -n 1 2>&1 | grep -q 'without Jansson' &&
    { echo "no Jansson" >&2 && exit 77; }
text() { sed 's/.*"text":"\(.*\)","ids".*/\1/; s/\\"/"/g; s/\\n/\n/g'; }
count() { sed 's/.*"ids":\[\([^]]*\)\].*/\1/' | tr ',' ' ' | wc -w; }
answer() { echo "{\"prompt\":\"Once\",\"seed\":4$1}" | gg-generate --jsonl -n 60; }

echo "how many tokens, and how many answers:"
for m in '"n":1' '"n":1,"max_tokens":8' '"max_tokens":8,"n":1' \
    '"max_completion_tokens":9' '"n_predict":7,"n":1' '"max_tokens":8,"n":null' \
    '"max_tokens":6,"max_completion_tokens":6' '"max_tokens":null,"n":3' \
    '"max_output_tokens":4,"n":1' '"stop_sequences":["upon"],"stop":"upon"'; do
    answer ",$m" | count
done

echo "what the JSON looks like:"
schema='{"type":"object","properties":{"z":{"enum":["red","blue"]},"a":{"type":"boolean"}},"required":["z","a"]}'
echo "$schema" >schema
gg-generate -p Once -s 4 -n 60 --json-schema schema >want
for m in "\"json_schema\": $schema" \
    "\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"x\",\"strict\":true,\"schema\": $schema }}" \
    "\"response_format\":{\"schema\": $schema,\"type\":\"json_object\"}" \
    "\"response_format\":{\"schema\":$schema,\"type\":\"json_schema\"}"; do
    answer ",$m" | text | tr -d '\n' | cmp - want
done
answer ',"response_format":{"type":"json_object"},"max_tokens":200,"logit_bias":{"2":3}' 2>words |
    grep -o '"text":"{'
answer '' | cut -d , -f 3- >plain
echo '{"prompt":"Once","seed":4,"response_format":{"type":"text"}}' |
    gg-generate --jsonl -n 60 --json-schema schema | cut -d , -f 4- | cmp - plain

echo "what changes nothing:"
while read -r m; do
    answer ",$m" 2>&1 | grep -c '"text"'
done <<'END' | sort | uniq -c
"tools":[],"tool_choice":"none"
"tools":null,"echo":false,"suffix":""
"best_of":1,"min_tokens":0,"repetition_penalty":1.0,"modalities":["text"]
"model":"x","user":"y","stream":true,"metadata":{"a":1},"custom_id":"7"
"skip_special_tokens":true,"add_generation_prompt":true
"temperature":0.5,"temp":0.5
END

echo "what would, and is not done:"
{
    while read -r m; do
        echo "{\"prompt\":\"a\",$m}"
    done <<'END'
"n":2,"max_tokens":3
"tools":[{"type":"function"}]
"tool_choice":"auto"
"functions":[{}]
"best_of":4
"suffix":"the end"
"enable_thinking":false
"reasoning_effort":"low"
"chat_template_kwargs":{"x":1}
"skip_special_tokens":false
"use_beam_search":true
"stop_token_ids":[1]
"repetition_penalty":1.2
"guided_json":{}
"guided_json":{"type":"object"}
"temperature":0.5,"temp":0.7
"max_tokens":4,"max_completion_tokens":5
"response_format":{"type":"xml"}
"response_format":"json_object"
"response_format":{"type":"json_schema"}
"response_format":{"type":"json_object"},"grammar":"root ::= [a]"
END
    echo '{"prompt":"good","n":1}'
} >in
gg-generate --jsonl -s 1 -n 2 in >out 2>words
echo "status $?"
sed 's/.*"error"/"error"/; s/.*"text".*/an answer/' out

echo "an unknown member is named once:"
for i in 1 2 3; do
    echo "{\"prompt\":\"a\",\"label\":$i,\"t\\u001b[2J$((i / 3))\":0}"
done >in
gg-generate --jsonl -n 1 -s 1 in 2>&1 >out
gg-generate --jsonl -n 1 -s 1 -q in | cmp - out

echo "what the model has no place for, in lenient records:"
while read -r m; do
    echo '{"custom_id":"a",'"${m%%|*}"'"body":{"messages":[{"role":"user","content":"a"}],'"${m#*|}}}"
done <<'END' >in
"lenient":true,|"reasoning_effort":"low","tools":[{"type":"function","function":{"name":"f"}}]
"lenient":true,|"tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":"required"
"lenient":true,|"enable_thinking":true
|"reasoning_effort":"low"
END
gg-generate --jsonl -s 1 -n 1 --template vicuna in 2>/dev/null |
    sed 's/.*"warnings"/"warnings"/; s/.*"message"/"message"/'
