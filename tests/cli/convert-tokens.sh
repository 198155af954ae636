# Tokens of a folder: the template, tokens that were added, split rules.
mkdir none && gg-convert none x 2>&1 | grep 'without Jansson' >&2 && exit 77
rmdir none
make_folder qwen2-f32 m.gguf dir || exit 99
key() {
    gg-inspect -k "tokenizer.$1" dir
}
pre() { # steps of a pre_tokenizer
    steps=$1 awk '{
        match($0, /"pre_tokenizer":.*,"model":/)
        print substr($0, 1, RSTART - 1) "\"pre_tokenizer\":" ENVIRON["steps"] \
            ",\"model\":" substr($0, RSTART + RLENGTH)
    }' dir/tokenizer.json >new && mv new dir/tokenizer.json
    gg-convert dir out.gguf && gg-inspect -k tokenizer.ggml.pre out.gguf
}
config() {
    printf '{"add_bos_token":false,%s}\n' "$1" >dir/tokenizer_config.json
}

# A file of its own counts more than the configuration, as in transformers.
config '"chat_template":"one"' && key chat_template
config '"chat_template":[{"name":"tool_use","template":"x"},
    {"name":"default","template":"two"}]' && key chat_template
printf 'three' >dir/chat_template.jinja && key chat_template
mkdir dir/additional_chat_templates
printf 'four' >dir/additional_chat_templates/tool_use.jinja
printf 'five' >dir/additional_chat_templates/a-b.jinja
printf 'six' >dir/additional_chat_templates/other.txt
gg-convert dir out.gguf
for k in chat_template chat_template.tool_use chat_template.a_b chat_templates; do
    gg-inspect -k "tokenizer.$k" out.gguf
done
gg-inspect out.gguf | grep '^template'
gg-inspect --json out.gguf | grep '"templates"'
rm -r dir/chat_template.jinja dir/additional_chat_templates
gg-convert dir out.gguf
for k in chat_template chat_template.tool_use chat_templates; do
    gg-inspect -k "tokenizer.$k" out.gguf
done

# Without one in the configuration, that of a processor counts.
printf '{"chat_template":"seven"}' >dir/chat_template.json && key chat_template
config '"x":1' && key chat_template
printf '{"chat_template":[{"name":"default","template":"eight"},
    {"name":"tool_use","template":"nine"}]}' >dir/chat_template.json
key chat_template && key chat_template.tool_use
printf '{"chat_template":' >dir/chat_template.json
gg-convert dir out.gguf
rm dir/chat_template.json

# Special ids by their texts.
config '"eos_token":{"content":"<|control|>"},"bos_token":"a","pad_token":null'
key ggml.eos_token_id && key ggml.bos_token_id
printf '{"eos_token_id":[299,7,8]}' >dir/generation_config.json
key ggml.eot_token_id && key ggml.eom_token_id

# What splits a text: known steps, and others.
bytes='{"type":"ByteLevel","add_prefix_space":false,"use_regex":'
pre "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Digits\",\
\"individual_digits\":true},${bytes}true}]}"
pre "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Punctuation\",\
\"behavior\":\"Contiguous\"},${bytes}true},{\"type\":\"Digits\",\
\"individual_digits\":false},{\"type\":\"Split\",\"pattern\":{\"Regex\":\
\"[0-9][0-9][0-9]\"},\"behavior\":\"Isolated\",\"invert\":false}]}"
pre "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Whitespace\"},\
${bytes}true}]}"
# Llama's rule: words that are tokens stay whole, and without a token that begins
# a text.
llama="{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Split\",\"pattern\":\
{\"Regex\":\"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?\\\\p{L}+|\\\\p{N}{1,3}\
| ?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n]*|\\\\s*[\\\\r\\\\n]+|\\\\s+(?!\\\\S)|\\\\s+\"},\
\"behavior\":\"Isolated\",\"invert\":false},${bytes}false}]}"
pre "$llama"
sed -i 's/"type":"BPE"/"type":"BPE","ignore_merges":true/' dir/tokenizer.json
pre "$llama"
config '"x":1' && pre "$llama"

# SentencePiece's, with tokens that only a list of added ones has.
piece() { # text, type
    printf "\\012\\$(printf %o $((${#1} + 9)))\\012\\$(printf %o ${#1})%s" "$1"
    printf "\\025\\0\\0\\200\\300\\030\\$(printf %o "$2")"
}
{
    piece '<unk>' 2 && piece '<s>' 3 && piece '</s>' 3
    for i in 0 1 2 3 4 5 6 7 8 9 A B C D E F; do
        for k in 0 1 2 3 4 5 6 7 8 9 A B C D E F; do piece "<0x$i$k>" 6; done
    done
    for c in a b c ab abc; do piece $c 1; done
    printf '\022\002\030\002\032\002\030\000'
} >dir/tokenizer.model
rm dir/tokenizer.json
echo '{"architectures":["LlamaForCausalLM"],"vocab_size":266,"hidden_size":8,
    "num_hidden_layers":1,"num_attention_heads":1}' >dir/config.json
config '"x":1'
echo '{"<new>":264,"<last>":265}' >dir/added_tokens.json
echo 'abcab<new>a' | gg-tokenize -m dir --no-bos
config '"added_tokens_decoder":{"264":{"content":"<other>","special":true}}'
echo 'abcab<other>a<new>' | gg-tokenize -m dir --no-bos --special parse
echo '{"<new>":260}' >dir/added_tokens.json && config '"x":1'
echo x | gg-tokenize -m dir; echo $?

# Unigram's, as T5 has it; as XLM-R has it, ids are moved by what that adds.
score() { # text, type, score as octal bytes
    printf "\\012\\$(printf %o $((${#1} + 9)))\\012\\$(printf %o ${#1})%s" "$1"
    printf "\\025$3\\030\\$(printf %o "$2")"
}
rm -r dir && mkdir dir
{
    score '<unk>' 2 '\0\0\0\0' && score '<s>' 3 '\0\0\0\0'
    score '</s>' 3 '\0\0\0\0'
    for c in a b c; do score $c 1 '\0\0\200\300'; done    # -4
    score ab 1 '\0\0\240\300' && score bc 1 '\0\0\200\277' # -5, -1
    printf '\022\002\030\001\032\002\030\000'
} >dir/spiece.model
model() { # class, vocab_size
    echo "{\"architectures\":[\"$1\"],\"vocab_size\":$2,\"hidden_size\":8,
        \"num_hidden_layers\":1,\"num_attention_heads\":1,
        \"eos_token_id\":2,\"bos_token_id\":0}" >dir/config.json
}
model T5EncoderModel 10
printf abcab | gg-tokenize -m dir
mv dir/spiece.model dir/sentencepiece.bpe.model
model XLMRobertaModel 10
printf abcab | gg-tokenize -m dir
printf '<pad><mask>' | gg-tokenize -m dir --special parse

# Gemma 4's is BPE of characters by rank.
rm -r dir && mkdir dir
model Gemma4ForCausalLM 12
cat >dir/tokenizer.json <<'END'
{"added_tokens":[{"id":0,"content":"<bos>","special":true},
    {"id":1,"content":"<|channel>","special":true}],
"normalizer":{"type":"Replace","pattern":{"String":" "},"content":"\u2581"},
"pre_tokenizer":{"type":"Split","pattern":{"String":" "},"behavior":
    "MergedWithPrevious","invert":false},
"post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":
    {"id":"<bos>"}},{"Sequence":{"id":"A"}}]},
"model":{"type":"BPE","byte_fallback":true,"unk_token":"<unk>","vocab":
    {"<unk>":2,"a":3,"b":4,"c":5,"bc":6,"ab":7,"<0x64>":8,"\u2581":9,
     "c\u2581":10,"\u2581a":11},
"merges":[["b","c"],["a","b"],["c","\u2581"],["\u2581","a"]]}}
END
printf 'abc ab<|channel>a' | gg-tokenize -m dir
