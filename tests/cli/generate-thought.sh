# With -i thoughts of earlier answers are where the template puts them.
"$top_builddir/tests/make_model" llama-f32 model.gguf || exit 99
echo '{"role":"user","content":""}' | gg-tokenize -q -m model.gguf --chat --template alpaca \
    2>&1 | grep 'without Jansson' >&2 && exit 77
try() { # what the template makes of a thought
    printf '%s' "{{ '<think></think>' if false }}{% for m in messages %}{{ '<|user|>' if m.role == 'user' else '<|answer|>' }}$1{{ m.content }}{% endfor %}{% if add_generation_prompt %}<|answer|>{% endif %}" >template
    "$top_builddir/tests/make_chain" chain.gguf template -c '<|end|>' \
        -c '<|user|>' -c '<|answer|>' -u '<think>' -u '</think>' \
        -s '<|answer|><think>abc</think>xy<|end|>' || exit 99
    GG_MODEL=chain.gguf
    export GG_MODEL
    printf 'q\nr\n/save talk.json\n' |
        gg-generate -i --commands --temp 0 --save talk
    jq -c '.[1], length' talk.json
    jq -c '.[:3]' talk.json >asked.json
    gg-generate --messages --temp 0 --save want -f asked.json >/dev/null
    cmp talk want
    printf 'q\nx\ny\n/undo\n/undo\nr\n' |
        gg-generate -i --commands --temp 0 --save talk >/dev/null
    cmp talk want
    printf 'q\nr\n/again\n' |
        gg-generate -i --commands --temp 0 --save talk >/dev/null
    cmp talk want
    gg-generate --chat --temp 0 --save one -p q >/dev/null
    printf 'r\n' | gg-generate -i --temp 0 --state one | tail -n 1
}
try ''
try "{{ '[' ~ m.reasoning_content ~ ']' if m.reasoning_content }}"
