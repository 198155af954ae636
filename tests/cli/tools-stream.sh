# What is no call reaches the reader once, whatever it looks like: an answer that
# begins as an object of JSON is held back with --tool-calls until it has ended,
# and other text is not. A grammar makes the demo model say it.
test -f "$GG_MODEL" || { echo "no demo model" >&2 && exit 77; }
echo '{"role":"user","content":""}' | gg-tokenize -q --chat --template alpaca \
    2>&1 | grep 'without Jansson' >&2 && exit 77
cat >t.jinja <<'END'
{% for t in tools or [] %}{{ t.function.name }} {% endfor %}{% for m in messages %}
<{{ m.role }}>{{ m.content or '' }}{% for c in m.tool_calls or [] %}
<tool_call>
{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}
</tool_call>{% endfor %}</{{ m.role }}>{% endfor %}{% if add_generation_prompt %}
<assistant>{% endif %}
END
echo '[{"type":"function","function":{"name":"date","parameters":{"type":"object","properties":{}}}}]' \
    >tools.json
answer() { # GRAMMAR OPTION...
    printf 'root ::= %s\n' "$1" >grammar
    shift
    : >calls
    timeout 100 gg-generate -q --template t.jinja --tools tools.json \
        --grammar grammar -p Hi -s 1 "$@" 3>calls
}
while read -r grammar; do
    printf '== %s\n' "$grammar"
    answer "$grammar" -n 200
    echo "[$?]"
    answer "$grammar" -n 200 --tool-calls 3
    echo "[$?]"
    sed 's/"id":"[^"]*"/"id":"ID"/' calls
done <<'END'
"{"
"[1, 2]"
"{ is no call"
"{\"a\": 1} is no call"
"{\"name\": \"Ann\", \"age\": 3}"
"{\"name\": \"later\", \"arguments\": {}}"
"{\"name\": \"da"
"[{\"name\": \"date\", \"arguments\": {}}] and more"
"{\"type\": \"object\"}\n{\"name\": \"date\", \"arguments\": {}}\ntail"
"so {\"name\": \"date\", \"arguments\": {}} it is"
"so <tool_call>\n{\"name\": \"later\", \"arg"
"```json\n{\"a\": 1}\n```\ndone"
"{\"name\": \"date\", \"arguments\": {}}"
"so <tool_call>\n{\"name\": \"date\", \"arguments\": {}}\n</tool_call> it is"
END
echo "== while it is being made"
endless() {
    answer "$@" -n 1000000 --shift --ignore-eog | head -c 14
    echo
}
endless '"Once upon a time" [a-z ]*' --tool-calls 3
endless '"so {\"a\": 1} is it" [a-z ]*' --tool-calls 3
endless '"{\"a\": 1} is no call" [a-z ]*'
echo "== in pieces"
cat >grammar <<'END'
root ::= "so <tool_call>\n{\"name\": \"date\", \"arguments\": {\"a\": \"Once upon a time there was a \\\"dog\\\" and a café\", \"b\": 12345, \"c\": [1, {\"x\": true}]}}\n</tool_call>\n<tool_call>\n{\"name\": \"date\", \"arguments\": {}}\n</tool_call> it is"
END
for stream in false true; do
    jq -nc --rawfile g grammar --slurpfile t tools.json --argjson stream $stream \
        '{id: 1, messages: [{role: "user", content: "Hi"}], tools: $t[0],
          grammar: $g, seed: 1, n: 300, stream: $stream}'
done | gg-generate -q --template t.jinja --jsonl --unordered --batch 1 >out
jq -c 'select(.text) | .text, .tool_calls[].function.arguments' out
jq -c 'select(.delta.content) | .delta.content' out | jq -sc add
for i in 0 1; do
    jq -c --argjson i $i '.delta.tool_calls[]? | select(.index == $i) |
        .function.arguments' out | jq -sc '[length > 2, add]'
done
jq -c '.delta.tool_calls[]? | select(.id) | [.index, .type, .function]' out
echo '{"id":1,"messages":[{"role":"user","content":"Hi"}],"n":40,"stream":true}' |
    jq -c --rawfile g grammar --slurpfile t tools.json '.grammar = $g | .tools = $t[0]' |
    gg-generate -q --template t.jinja --jsonl --unordered 2>/dev/null |
    jq -c 'select(.end) | .end'
