# What a model thinks before it answers: a model whose thoughts are scripted.
echo '{"role":"user","content":"q"}' >q.json
gg-tokenize -q --chat --template alpaca q.json 2>&1 |
    grep 'without Jansson' >&2 && exit 77
printf '%s' "{% for m in messages %}<|user|>{{ m.content }}{% endfor %}\
{% if add_generation_prompt %}<|answer|>{% if enable_thinking is defined and \
not enable_thinking %}{{ '<think>\n\n</think>\n' }}{% endif %}{% endif %}" \
    >template
"$top_builddir/tests/make_chain" chain.gguf template -c '<|end|>' \
    -c '<|user|>' -c '<|answer|>' -u '<think>' -u '</think>' \
    -s '<|answer|><think>abc</think>\n[1]<|end|>' -s 'b<|end|>' || exit 99
GG_MODEL=chain.gguf
export GG_MODEL
try() {
    gg-generate --temp 0 "$@"
    echo "[$?]"
}

echo "-- what the model wrote, as the pipe has it"
try --chat -p q
gg-tokenize --chat q.json | gg-loop 'gg-eval | gg-sample --temp 0' |
    gg-tokenize -d >pipe
gg-generate --chat --temp 0 -p q | cmp - pipe
gg-tokenize --chat --template-arg enable_thinking=false q.json |
    gg-loop 'gg-eval | gg-sample --temp 0' | gg-tokenize -d >pipe
gg-generate --reasoning off --chat --temp 0 -p q | cmp - pipe

echo "-- hidden, or elsewhere"
try --chat -p q --show-reasoning hide
try --chat -p q --show-reasoning 3 3>thought
cat thought
echo
try --chat -p q --show-reasoning 9 9>&-
try --lines --chat --show-reasoning hide -p q </dev/null
printf 'a\nb\n' | try --lines --chat --show-reasoning hide
printf 'a\n' | try --lines --chat --show-reasoning 3 3>/dev/null

printf 'a\nb\n' | gg-generate -i --temp 0 --show-reasoning 3 3>thought
cat thought

echo "-- on and off"
try --chat -p q --reasoning off
try --chat -p q --reasoning on
try --chat -p q --template-arg enable_thinking=false
try --chat -p q --template-arg no_such=1
try --chat -p q --template-arg messages=1
try --chat -p q --template-arg a
try -p q --reasoning on
printf '%s' '{{ messages[0].content }}' >plain
try --chat -p q --template plain --reasoning on -n 1
gg-generate -q --chat -p q --template plain --reasoning off -n 1 >out ||
    echo 'off is refused where nothing thinks'
gg-tokenize --chat --text --template-arg enable_thinking=false q.json
gg-tokenize --chat --text --template-arg enable_thinking= q.json
echo "[$?]"
gg-tokenize --chat --text --template-arg x=1 q.json
echo "[$?]"

echo "-- a limit"
try --chat -p q --reasoning-budget 1
try --chat -p q --reasoning-budget 0
try --chat -p q --reasoning-budget -1
try --chat -p q --reasoning-budget 2 --draft prompt
try --chat -p q --reasoning-budget 1 --reasoning-budget-message ' q'
try --chat -p q --reasoning-budget 0 --reasoning-budget-message 'q' -s 1
try --chat -p q --reasoning-budget 9 --reasoning-budget-message 'q'
echo '{"messages":[{"role":"user","content":"q"}],"reasoning_budget":1,
"reasoning_budget_message":"q"}' | tr -d '\n' |
    gg-generate --jsonl --temp 0 | jq -r .reasoning_content
try --chat -p q -n 3

echo "-- a grammar begins behind the thought"
printf 'root ::= "[" [0-9] "]"' >grammar
try --chat -p q --grammar grammar
try --chat -p q --grammar grammar --reasoning off
try --chat -p q --grammar grammar --reasoning-budget 1 --draft prompt
try --chat -p q --grammar grammar -n 3
for s in 1 2 3 4; do
    gg-generate --chat -p q -s $s --temp 1.5 --grammar grammar
    echo
done | sort | uniq -c | sed 's/^ *//'

echo "-- stop strings are those of the answer"
try --chat -p q --stop b
try --chat -p q --stop 1

echo "-- records"
m='"messages":[{"role":"user","content":"q"}]'
cat >records <<E
{$m}
{$m,"reasoning":"off"}
{$m,"enable_thinking":false}
{$m,"reasoning_effort":"none"}
{$m,"reasoning":{"effort":"none"}}
{$m,"thinking":{"type":"disabled"}}
{$m,"chat_template_kwargs":{"enable_thinking":false}}
{$m,"thinking":{"type":"enabled","budget_tokens":1}}
{$m,"reasoning_budget":2}
{$m,"thinking_budget_tokens":-1}
{$m,"grammar":"root ::= \"[\" [0-9] \"]\""}
{$m,"max_tokens":2}
{$m,"reasoning_effort":"high"}
{$m,"reasoning":"off","enable_thinking":true}
{$m,"reasoning":7}
{$m,"thinking":{"type":"enabled","budget":1}}
{$m,"chat_template_kwargs":{"tools":[]}}
{"prompt":"q","enable_thinking":false}
E
gg-generate --temp 0 --jsonl records >out
echo "[$?]"
jq -c 'del(.messages, .ids, .logprob)' <out
gg-generate --temp 0 --jsonl --show-reasoning hide records 2>/dev/null | head -n 1 |
    jq -c 'del(.messages, .ids, .logprob)'

echo "-- harmony"
printf '%s' "{{ '<|channel|>analysis<|message|><|end|><|channel|>final<|message|>' \
if false }}<|start|>user<|message|>{{ messages[0].content }}<|end|>\
<|start|>assistant" >template
"$top_builddir/tests/make_chain" harmony.gguf template -c '<|return|>' \
    -c '<|call|>' -c '<|start|>' -c '<|end|>' -c '<|message|>' \
    -c '<|channel|>' -u assistant -u analysis -u final \
    -s 'assistant<|channel|>analysis<|message|>ab<|end|><|start|>assistant' \
    -s '<|channel|>final' -s 'final<|message|>' -s '[1]<|return|>' \
    -s '<|message|>[' || exit 99
GG_MODEL=harmony.gguf
try --chat -p q --grammar grammar --show-reasoning hide
try --chat -p q --grammar grammar --show-reasoning 3 3>thought
cat thought
echo
try --chat -p q --reasoning off
