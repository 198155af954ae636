# What the model may call: --tools, --tool-choice, --tool-calls, and the same in
# records. A grammar makes the demo model call.
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
cat >strip.sed <<'END'
s/"tools":\[.*\],"tool_choice"/"tool_choice"/
s/"tools":\[[^]]*\]}}}\]//
s/"messages":.*"id":\([0-9]\)/"id":\1/
s/\(\\"from\\":\) /\1/
s/"id":"[0-9a-zA-Z]\{9\}"/"id":"ID"/g
s/"ids":\[.*\],"logprob":[-0-9.]*,//
s/"created":[0-9]*/"created":T/
s/"usage":.*}}}/USAGE/
s/,"template_date":[0-9]*//
END
tools='[{"type":"function","function":{"name":"date","parameters":{"type":"object","properties":{}}}},{"type":"function","function":{"name":"units","parameters":{"type":"object","properties":{"from":{"enum":["km"]}},"required":["from"]}}}]'
echo "$tools" >tools.json

echo "-- the prompt names them, unless nothing may be called"
gg-generate -q --template t.jinja --tools tools.json -p Hi -n 0 --save s
gg-generate -q --template t.jinja --tools tools.json --tool-choice none -p Hi -n 0 --save n
gg-generate -q --template t.jinja -p Hi -n 0 --save o
size() {
    gg-inspect "$1" | grep -a '^ids' || wc -c <"$1"
}
test "$(size s)" != "$(size o)" || echo "no tools in the prompt"
test "$(size n)" = "$(size o)" || echo "tools in the prompt"

echo "-- as the model writes it, and as JSON"
gg-generate -q --template t.jinja --tools tools.json --tool-choice date -p Hi -s 1 -n 200
echo " [$?]"
gg-generate -q --template t.jinja --tools tools.json --tool-choice units -p Hi -s 1 -n 200 \
    --tool-calls 3 3>calls
echo "[$?]"
sed -f strip.sed calls
gg-generate -q --template t.jinja --tools tools.json --tool-choice required -p Hi -s 1 -n 400 \
    --tool-calls 3 3>calls
grep -c '"name":"[a-z]*","arguments"' <calls | sed 's/[1-9][0-9]*/some/'

echo "-- cut within a call"
gg-generate -q --template t.jinja --tools tools.json --tool-choice units -p Hi -s 1 -n 12 \
    >/dev/null 2>&1
echo "[$?]"
gg-generate -q --template t.jinja --tools tools.json --tool-choice units -p Hi -s 1 -n 12 \
    2>&1 >/dev/null | grep -c thought

echo "-- each line, each message"
printf 'a\nb\n' | gg-generate -q --lines --template t.jinja --tools tools.json \
    --tool-choice date -s 1 -n 200
printf 'a\nb\n' | gg-generate -q -i --template t.jinja --tools tools.json \
    --tool-choice date -s 1 -n 200 --tool-calls 2 2>&1 | sed 's/"id":"[^"]*"/"id":"ID"/'

echo "-- records"
say='"messages":[{"role":"user","content":"Hi"}],"max_tokens":200,"seed":1'
past='{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"date","arguments":"{}"}}]},{"role":"tool","content":"noon","tool_call_id":"a"}'
cat >records <<END
{$say,"id":1,"tools":$tools,"tool_choice":{"type":"function","function":{"name":"units"}}}
{$say,"id":2,"tools":$tools,"tool_choice":"required","grammar":"root ::= [ab]"}
{$say,"id":3,"tools":$tools,"tool_choice":"date"}
{$say,"id":4,"tools":{}}
{$say,"id":5,"tool_choice":"required"}
{"prompt":"a","id":6,"tools":$tools}
{"messages":[{"role":"user","content":"Hi"},$past],"max_tokens":200,"seed":1,"id":7,"tools":$tools,"tool_choice":{"function":{"name":"date"}}}
{$say,"id":8,"tools":$tools,"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[{"type":"function","function":{"name":"date"}}]}}}
{$say,"id":9,"tools":$tools,"tool_choice":{"type":"allowed_tools","mode":"required","tools":[{"type":"function","name":"date"}]}}
{$say,"id":10,"tools":$tools,"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"name":"later"}]}}}
{$say,"id":11,"tools":$tools,"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[]}}}
{"custom_id":"8","method":"POST","url":"/v1/chat/completions","body":{$say,"tools":$tools,"tool_choice":{"function":{"name":"date"}}}}
END
gg-generate -q --jsonl --template t.jinja records 2>errors |
    grep -v '"id":6' | sed -f strip.sed
cat errors
gg-generate -q --jsonl records 2>&1 | grep '"id":6' | sed 's/"tools".*"error"/"error"/'

echo "-- what is wrong"
for bad in '{}' '[' '[{}]' '[{"name":""}]'; do
    echo "$bad" >bad.json
    gg-generate -q --template t.jinja --tools bad.json --tool-choice required -p Hi
done
gg-generate -q --template t.jinja --tools tools.json --tool-choice later -p Hi
gg-generate -q --template t.jinja --tools tools.json --tool-choice date --grammar none -p Hi
gg-generate -q --template chatml --tools tools.json -p Hi
echo '{{ messages[0].content }}' >none.jinja
gg-generate -q --template none.jinja --tools tools.json -p Hi
gg-generate -q --tools tools.json -p Hi
gg-generate -q --template t.jinja --tools tools.json --tool-calls 3 --lines -p Hi
gg-generate -q --template t.jinja --tools tools.json --tool-choice date -s 1 -p Hi --tool-calls 9
echo "[$?]"
