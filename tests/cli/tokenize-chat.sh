# Conversations in JSON become ids, or one clear message.
test -f "$GG_MODEL" || { echo "no demo model" >&2 && exit 77; }
echo '{"role":"user","content":""}' | gg-tokenize -q --chat --template alpaca \
    2>&1 | grep 'without Jansson' >&2 && exit 77

show() {
    gg-tokenize -q --chat "$@" >ids
    status=$?
    gg-tokenize -q -d --no-bos --special parse <ids
    echo "[$status]"
}

echo "-- a conversation, a message a line"
printf '<|endoftext|>' >end
cat >chat.jsonl <<'END'
{"role": "system", "content": "Be kind."}

{"role": "user", "content": "Hi!\n"}
{"content": "Hello.", "role": "assistant", "name": "what is this"}
{"role": "user", "content": "<|endoftext|>"}
END
show --template zephyr chat.jsonl
echo "-- the text of a message is no token: what ends turns, and BOS, only"
tr ' ' '\n' <ids | grep -cx "$(gg-tokenize -q --special parse --no-bos <end)"
cp ids want
echo "-- the same in other forms"
for form in '-s .' '-s {messages:.}' '-sc .' '-sc {model:1,messages:.}'; do
    # shellcheck disable=SC2086
    jq $form chat.jsonl | gg-tokenize -q --chat --template zephyr | cmp - want
done

echo "-- an answer goes on, or whole messages only"
head -n 4 chat.jsonl >answer.jsonl
show --template zephyr answer.jsonl
show --template zephyr --no-answer answer.jsonl
show --template zephyr --no-answer --bos chat.jsonl

echo "-- records"
# What Jansson says is its own.
quiet() {
    sed 's/\(not JSON\):.*/\1/'
}
{
    jq -sc . chat.jsonl
    echo '{"role": "user", "content": "Hi!"}'
    echo '{"role": "user"'
    echo
    echo '{"messages": [{"role": "user", "content": "Ho!"}]}'
} >lines
gg-tokenize -q --chat --template alpaca --lines lines 2>err >records
echo "[$?]"
quiet <err
grep -a '!' records | quiet
grep -av '!' records | gg-tokenize -q -d --special parse --lines
{
    cat chat.jsonl
    printf '\0'
    printf '{"role": "user", "content": "a\\u0000b"}\n{"role": "x"}\0'
} | gg-tokenize -q --chat --template alpaca -0 | cut -c 1-70
head -n 1 lines | gg-tokenize -q --chat --template zephyr --lines | cut -f 2 |
    cmp - want

echo "-- what is not a conversation"
bad() {
    printf '%b' "$1" | gg-tokenize -q --chat --template alpaca 2>err
    echo "[$?] $(quiet <err)"
}
bad ''
bad '\n[]\n'
bad 'Hello'
bad '{"role":"user","content":"a"} \n\n{"role":"bot","content":"\\u001b[31m"}'
bad '{"role":"b\\u001b[31m","content":"a"}'
bad '{"content":"a"}'
bad '{"role":"user"}'
bad '{"role":"user","content":["a"]}'
bad '{"role":"user","content":"a","content":"b"}'
bad '{"role":"user","content":[{"type":"image_url","image_url":{}}]}'
bad '{"role":"user","content":[{"type":"text","text":1}]}'
bad '{"role":"user","content":1}'
bad '{"role":"assistant","content":"","tool_calls":[{}]}'
bad '{"role":"assistant","content":"","function_call":{}}'
bad '{"messages":{}}'
bad '["a"]'
bad '{"role":"user",\n"content":"\0377"}'
bad '{"role":"user","content":"a'
bad '{"role":"tool","content":"a"}'
{
    printf '{"role":"user","content":'
    yes '[' | head -n 100000 | tr -d '\n'
} >deep
bad "$(cat deep)"

echo "-- templates"
gg-tokenize --template list | grep -x -e chatml -e harmony -e llama3
gg-tokenize -q --chat --template nonesuch chat.jsonl
echo "[$?]"
gg-tokenize -q --chat --template chatml chat.jsonl
echo "[$?]"
gg-tokenize -q --chat chat.jsonl 2>&1 | sed 's/^\(gg-tokenize: \).*gguf: /\1/'
gg-tokenize --chat -d
gg-tokenize --chat --special parse
gg-tokenize --template chatml
gg-tokenize --no-answer
echo "[$?]"

echo "-- parts of a content, and a developer"
same() {
    echo "$1" | gg-tokenize --chat --template alpaca >one
    echo "$2" | gg-tokenize --chat --template alpaca | cmp - one
}
same '{"role":"user","content":"a\nb"}' \
    '{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"tool_calls":null}'
same '{"role":"user","content":"\na"}' \
    '{"role":"user","content":[{"type":"text","text":""},{"text":"a","type":"text"}],"tool_calls":[]}'
same '[{"role":"system","content":"Be kind."},{"role":"user","content":"a"}]' \
    '[{"role":"developer","content":"Be kind."},{"role":"user","content":"a"}]'

echo "-- a template in Jinja"
cat >turns.jinja <<'END'
{% for m in messages %}{{ bos_token if loop.first }}{{ m.role | upper }}: {{ m.content | trim }}
{% endfor %}{% if add_generation_prompt %}ASSISTANT:{% endif %}
END
gg-tokenize -q --chat --template turns.jinja --text chat.jsonl
echo
gg-tokenize -q --chat --template turns.jinja --text --no-answer answer.jsonl
show --template turns.jinja chat.jsonl
tr ' ' '\n' <ids | grep -cx "$(gg-tokenize -q --special parse --no-bos <end)"
printf 'a\n{{ messages[0].content }}{{ raise_exception("No " ~ messages | length) }}' >no.jinja
gg-tokenize -q --chat --template no.jinja chat.jsonl
echo "[$?]"
printf '\n\n{%% if x %%}' >open.jinja
gg-tokenize -q --chat --template open.jinja chat.jsonl
echo "[$?]"
echo '{{ strftime_now("%d %B %Y") }}' >date.jinja
echo '{"role":"user","content":""}' |
    SOURCE_DATE_EPOCH=1795780800 gg-tokenize -q --chat --template date.jinja --text
echo
gg-tokenize -q --chat --template zephyr --text chat.jsonl
echo "[$?]"

echo "-- all that a message has"
cat >whole.jinja <<'END'
{%- if tools %}{{ tools | tojson }}
{% endif %}
{%- for m in messages %}
{{- m.role }}{{ '(' + m.name + ')' if m.name }}:{% if m.content is string %} {{ m.content }}{% else %}{% for p in m.content %} {{ p.text }}{% endfor %}{% endif %}
{%- for c in m.tool_calls %} {{ c.function.name }}({{ c.function.arguments | tojson }}){% endfor %}

{% endfor %}{{ 'thinking' if enable_thinking }}
END
cat >whole.json <<'END'
{"messages": [{"role": "developer", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
  {"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": {"name": "now", "arguments": {"x": [1, 2.5, null]}}}]},
  {"role": "tool", "name": "now", "content": "no\u0000on"}],
 "tools": [{"type": "function", "function": {"name": "now"}}],
 "chat_template_kwargs": {"enable_thinking": true}}
END
gg-tokenize -q --chat --template whole.jinja --text whole.json | tr '\0' 0
echo
echo "-- made plainer, where the template refuses it"
printf '%s' '{% for m in messages %}{% if m.role not in ["system", "user"] %}{{ raise_exception("who?") }}{% endif %}{{ m.role + m.content }}{% endfor %}' >strict.jinja
echo '[{"role":"developer","content":null},{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}]' |
    gg-tokenize -q --chat --template strict.jinja --text
echo
printf '%s' '{% for m in messages %}{{ m.content }}{% endfor %}' >prints.jinja
echo '[{"role":"user","content":[{"type":"text","text":"a"}]}]' |
    gg-tokenize -q --chat --template prints.jinja --text
echo
echo "-- with -v that is said"
{
    echo '[{"role":"user","content":"a"}]'
    echo '[{"role":"developer","content":null},{"role":"user","content":"a"}]'
    echo '[{"role":"developer","content":"a"}]'
    echo '[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}]'
} >plain.jsonl
gg-tokenize -v --chat --template strict.jinja --lines -t 2 plain.jsonl 2>&1 >/dev/null | grep 'the chat template'
head -n 3 plain.jsonl | gg-tokenize -v --chat --template strict.jinja --lines 2>&1 >/dev/null | grep 'the chat template'
sed 's/.*/{"messages":&}/' plain.jsonl |
    gg-generate -v --jsonl --template strict.jinja -n 1 2>&1 >/dev/null | grep 'the chat template'
echo '[{"role":"robot","content":""}]' | gg-tokenize -q --chat --template strict.jinja
echo "[$?]"
echo '[{"role":"user","content":"","tools":[]},3]' | gg-tokenize -q --chat --template strict.jinja
echo "[$?]"
echo "-- another template where there are tools"
gg-convert --set 'tokenizer.chat_template={{ "default" }}' \
    --set 'tokenizer.chat_template.tool_use={{ "tools " ~ tools | length }}' \
    "$GG_MODEL" named.gguf
text() { # members
    echo "{\"messages\":[{\"role\":\"user\",\"content\":\"\"}]$1}" |
        gg-tokenize -m named.gguf --chat --text
    echo
}
text ''
text ',"tools":null'
text ',"tools":[]'
text ',"tools":[{},{}]'
gg-convert --set 'tokenizer.chat_template.tool_use={% x' named.gguf bad.gguf
gg-tokenize -m bad.gguf --chat whole.json
echo "[$?]"
echo "-- the same in gg-generate, which would have to read calls back"
jq 'del(.tools)' whole.json >told.json
gg-tokenize -q --chat --template whole.jinja told.json |
    gg-loop 'gg-eval -q | gg-sample -n 5 -s 1' | gg-tokenize -q -d >piped
gg-generate -q --messages --template whole.jinja -n 5 -s 1 -f told.json | cmp - piped
