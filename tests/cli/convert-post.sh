# The tokens that a folder's post_processor puts around a text count, whatever
# eos_token and bos_token are.
mkdir none && gg-convert none x 2>&1 | grep 'without Jansson' >&2 && exit 77
rmdir none
make_folder qwen2-f32 m.gguf dir || exit 99
cp dir/tokenizer.json plain.json
echo '{"add_bos_token":false,"eos_token":"<|control|>","bos_token":"py"}' \
    >dir/tokenizer_config.json
post() { # what, steps
    printf '%s: ' "$1"
    sed "s/\"model\":/\"post_processor\":$2,&/" plain.json >dir/tokenizer.json
    gg-convert dir out.gguf && printf a | gg-tokenize -m out.gguf
    for k in bos_token_id eos_token_id eot_token_id eom_token_id; do
        gg-inspect -k tokenizer.ggml.$k out.gguf 2>/dev/null
    done | tr '\n' ' '
    echo
}
text='{"Sequence":{"id":"A","type_id":0}}'
bytes='{"type":"ByteLevel","add_prefix_space":false}'
special() { # token
    echo "{\"SpecialToken\":{\"id\":\"$1\",\"type_id\":0}}"
}
template() { # pieces, special tokens
    echo "{\"type\":\"TemplateProcessing\",\"single\":[$1],\"pair\":[],\
\"special_tokens\":{$2}}"
}
ids='"no":{"id":"no","ids":[295],"tokens":["no"]},
"ot":{"id":"ot","ids":[296],"tokens":["ot"]}'
ids=$(echo "$ids" | tr -d '\n')
sequence() {
    echo "{\"type\":\"Sequence\",\"processors\":[$1]}"
}

post 'none' "$bytes"
post 'after' "$(template "$text,$(special ot)" "$ids")"
post 'before' "$(template "$(special no),$text" "$ids")"
post 'both' "$(template "$(special no),$text,$(special ot)" "$ids")"
post 'by their texts' "$(template "$(special no),$text,$(special ot)" '')"
post 'the same' "$(template "$text,$(special '<|control|>')" '')"
post 'no such token' "$(template "$text,$(special zzz)" '')"
post 'in a sequence' \
    "$(sequence "$bytes,$(template "$(special no),$text,$(special ot)" "$ids")")"
post 'the outer of two' "$(sequence "$(sequence "$(template \
    "$(special no),$text,$(special ot)" "$ids")"),$(template \
    "$(special qd),$text" '')")"
for kind in Bert Roberta; do
    post $kind "{\"type\":\"${kind}Processing\",\"sep\":[\"ot\",296],\
\"cls\":[\"no\",295]}"
done
post 'nonsense' '{"type":7,"single":{"a":[]},"processors":[null,[],3]}'
post 'ids out of range' "$(template "$text,$(special ot)" \
    '"ot":{"ids":[9999999999]}')"

# What ends an answer besides, by generation_config.json, too.
echo '{"eos_token_id":[299,296,7,8]}' >dir/generation_config.json
post 'more ends' "$(template "$text,$(special ot)" "$ids")"
