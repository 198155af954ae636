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
