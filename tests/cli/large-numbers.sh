# Numbers that C has no type for are text that passes through: in tools, in calls
# of earlier answers, in a schema, in variables of a template.
echo '{"role":"user","content":""}' | gg-tokenize -q --chat --template alpaca \
    2>&1 | grep 'without Jansson' >&2 && exit 77
cat >head <<'END'
{% for t in tools or [] %}{{ t | tojson }}
{% endfor %}{% for m in messages %}
{{ m.role }}: {{ m.content or '' }}
{% for c in m.tool_calls or [] %}
END
cat >tail <<'END'
{% endfor %}
{% endfor %}
{% if x is defined %}
{{ x }} {{ x is integer }} {{ x is number }} {{ x > 5 }} {{ x | int }} {{ -x }} {{ [x] }}
{% endif %}
END
{
    cat head
    echo '{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}'
    echo '{% for k, v in c.function.arguments.items() %} {{ k }}={{ v }}{% endfor %}'
    cat tail
} >t.jinja
{
    cat head
    echo '{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments }}}'
    cat tail
} >text.jinja
numbers='"a":18446744073709551615,"b":-9223372036854775809,"c":1e400,"d":[0.1,1.10,1e5,1.0,-0,1E2,5,1e16]'
tool='{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"x":{"type":"integer","maximum":18446744073709551615,"minimum":-1e400,"multipleOf":0.1}}}}}'
cat >talk.json <<END
{"messages": [{"role": "user", "content": "Hi"},
  {"role": "assistant", "content": "", "tool_calls": [
    {"type": "function", "function": {"name": "f", "arguments": {$numbers}}}]},
  {"role": "tool", "content": "1e400"}], "tools": [$tool],
 "chat_template_kwargs": {"x": 100000000000000000000}}
END
render() { gg-tokenize -q --chat --text "$@"; }
render --template t.jinja talk.json
echo "-- arguments as text"
render --template text.jinja talk.json | grep '"name": "f", "a'
sed '/arguments/{s/"\([abcd]\)"/\\"\1\\"/g;s/"arguments": {\(.*\)}}}\]}/"arguments": "{\1}"}}]}/;}' talk.json >string.json
render --template t.jinja string.json | grep '"name": "f", "a'
echo "-- two conversations"
cat talk.json talk.json | render --template t.jinja | grep -c '^user: Hi'
echo "-- an argument of the template"
echo '{"role":"user","content":"Hi"}' |
    render --template t.jinja --template-arg x=-1e400
echo '{"role":"user","content":"Hi"}' |
    render --template t.jinja --template-arg x=01e400

test -f "$GG_MODEL" || exit 0
echo "-- records"
cat >records <<END
{"prompt":"a","seed":1,"max_tokens":30,"json_schema":{"enum":[18446744073709551615]},"metadata":{$numbers}}
{"prompt":"a","seed":1,"max_tokens":30,"response_format":{"type":"json_schema","json_schema":{"schema":{"const":[0.1,-1e400]}}}}
{"prompt":18446744073709551615}
{"prompt":"a","stop":1e400}
{"prompt":"a","temperature":1e400}
{"custom_id":"a","body":1e400}
END
gg-generate -q --jsonl records 2>errors |
    sed 's/"ids":.*"logprob":[-0-9.]*,//'
cat errors
