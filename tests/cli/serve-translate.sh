# gg-serve --translate: requests of each interface as records of the engine, and
# its records as answers, whole and in events
gg-serve --translate chat </dev/null 2>&1 | grep -q 'without Jansson' && exit 77
SOURCE_DATE_EPOCH=1795780800
export SOURCE_DATE_EPOCH
try() { # API BODY [RECORD...]
    api=$1
    printf '%s' "$2" >body
    echo "-- $api"
    shift 2
    printf '%s\n' "$@" >records
    if test $# = 0; then
        gg-serve --translate "$api" body 2>words
    else
        gg-serve --translate "$api" --answer records body 2>words
    fi || echo "status $?"
    cat words
}
hi='"messages":[{"role":"user","content":"hi"}]'

# ---- chats: members pass through as they were written
try chat '{"model":"m", "messages" : [ {"role":"user",
    "content":"a\u0000b"} ],"temperature":0.10,"seed":-1,"max_tokens":-1,
    "n":2,"stop":["x"],"logit_bias":null,"store":true,"user":"u",
    "metadata":{},"service_tier":"flex","verbosity":"low",
    "parallel_tool_calls":false,"reasoning_effort":"low",
    "tools":[{"type":"web_search"},{"type":"function","function":
    {"name":"f","parameters":{"default":0.1e1}}}],"other":[1.0]}'
for bad in '{"n":9}' '{"n":0.5}' '{"stream":1}' '{"stream_options":1}' '[]' '{' \
    '{"model":7}' '{"tools":1}' '{"model":"a","model":"b"}' \
    '{"stop":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}'; do
    try chat "$bad"
done
awk 'BEGIN { for (i = 0; i < 300; i++) printf "["; print "" }' |
    gg-serve --translate chat 2>/dev/null || echo deep
awk 'BEGIN { printf "{\"a\":["; for (i = 0; i < 65536; i++) printf "{},"
    print "1]}" }' | gg-serve --translate chat 2>/dev/null || echo many

# ---- chats: answers
whole() { # MESSAGE FINISH [MORE]
    printf '%s' '{"id":"r1","response":{"status_code":200,"body":{"id":"x-1",' \
        '"object":"chat.completion","created":5,"model":"file","choices":[' \
        '{"index":0,"message":'"$1"',"logprobs":null,"finish_reason":"'"$2"'"' \
        "$3"'}],"usage":{"prompt_tokens":9,"completion_tokens":2,' \
        '"total_tokens":11,"prompt_tokens_details":{"cached_tokens":4}}}}}'
}
text='{"role":"assistant","content":"Hé","reasoning_content":"hm"}'
calls='{"role":"assistant","content":null,"tool_calls":[
{"id":"c0","type":"function","function":{"name":"f","arguments":"{\"a\":1.0}"}},
{"id":"c1","type":"function","function":{"name":"s__g","arguments":"no"}}]}'
calls=$(printf '%s' "$calls" | tr -d '\n')
start='{"id":"r1","start":{"prompt_tokens":9,"cached_tokens":4}}'
thought='{"id":"r1","index":0,"delta":{"reasoning_content":"hm"}}'
piece='{"id":"r1","index":0,"delta":{"content":"H\u00e9"}}'
call='{"id":"r1","index":0,"delta":{"tool_calls":[{"index":0,"id":"c0",
"name":"f","arguments":"{\"a\""}]}}'
call=$(printf '%s' "$call" | tr -d '\n')
more='{"id":"r1","index":0,"delta":{"tool_calls":[{"index":0,"arguments":":1}"}]}}'
other='{"id":"r1","index":0,"delta":{"tool_calls":[{"index":1,"id":"c1",
"name":"s__g","arguments":"{\"input\":\"x\\ny\"}"}]}}'
other=$(printf '%s' "$other" | tr -d '\n')
end() { # FINISH [MORE]
    printf '%s' '{"id":"r1","end":[{"index":0,"finish_reason":"'"$1"'"'"$2"'}],' \
        '"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}}'
}
lost='{"id":"r1","error":{"status":500,"code":"shutdown","message":"it ends"}}'
long='{"id":"r1","error":{"status":400,"code":"context_length_exceeded",
"message":"too long","n_prompt_tokens":9000,"n_ctx":8192}}'
long=$(printf '%s' "$long" | tr -d '\n')
try chat "{$hi}" "$(whole "$text" stop)"
try chat "{$hi,\"seed\":-1}" "$(whole "$calls" tool_calls)"
try chat "{$hi,\"user\":\"u\"}" \
    '{"response":{"status_code":200,"body":{"id":"a","warnings":["b"],"choices":[]}}}'
try chat "{$hi}" "$long"
try chat "{$hi}" '{"error":"a word"}'
try chat "{$hi}" '{"response":{"status_code":400,"body":{"error":{"message":"no","code":null}}}}'
try chat "{$hi}" 'no record'
try chat "{$hi}" '{"start":{}}'
try chat "{$hi,\"stream\":true,\"user\":\"u\"}" "$start" "$thought" "$piece" \
    "$call" "$more" "$(end tool_calls)" 'after the end'
try chat "{$hi,\"stream\":true,\"n\":2,\"stream_options\":{\"include_usage\":true}}" \
    "$start" '{"index":1,"delta":{"content":"b"},"logprobs":{"content":[{"token":"b"}]}}' \
    '{"end":[{"index":0,"finish_reason":"length"},{"index":1,"finish_reason":"stop"}],"usage":{"a":1}}'
try chat "{$hi,\"stream\":true}" "$start" "$piece" "$lost" "$piece"
try chat "{$hi,\"stream\":true}" "$long"
try chat "{$hi,\"stream\":true}" "$start" '{"index":1e300,"delta":{"content":"b"}}'
try chat "{$hi,\"stream\":true}" '{"index":1e999,"delta":{"content":"b"}}'
try completions '{"prompt":["a",[1,2]],"suffix":"z","echo":true,"stream":true}' \
    "$start" '{"index":1,"delta":{"content":"b"}}' \
    '{"end":[{"index":1,"finish_reason":"length"}]}'
try completions '{"prompt":"a","stream":true}' "$start" "$lost"
try completions '{"prompt":"a","stream":true}' "$start" '{"index":0,"delta":7}'
try chat "{$hi,\"stream\":true}" "$start" '{"end":{}}'

# ---- Anthropic's messages
try messages '{"model":"m","max_tokens":9,"system":[{"type":"text","text":
    "x-anthropic-billing-header: cc_version=1"},{"type":"text","text":"A \"b\"",
    "cache_control":{"type":"ephemeral"}},{"type":"text","text":"c"}],
    "messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[
    {"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"o"},
    {"type":"text","text":"k"},{"type":"tool_use","id":"t1","name":"f","input":
    {"a":0.1,"b":[1,
    2]}}]},{"role":"user","content":[{"type":"text","text":"1"},
    {"type":"tool_result","tool_use_id":"t1","is_error":true,"content":[
    {"type":"text","text":"x"},{"type":"text","text":"y"}]},
    {"type":"tool_result","tool_use_id":"t2"},{"type":"text","text":"2"},
    {"type":"text","text":"3"},{"type":"image","source":{"type":"base64",
    "media_type":"image/png","data":"AA=="}}]}],"tools":[{"name":"f",
    "description":"d","input_schema":{"type":"object"}},{"type":
    "bash_20250124","name":"bash"}],"tool_choice":{"type":"any",
    "disable_parallel_tool_use":true},"stop_sequences":["E"],"thinking":
    {"type":"enabled","budget_tokens":1024},"metadata":{"user_id":"u"},
    "mcp_servers":[],"top_k":4,"output_config":{"effort":"low","format":
    {"type":"json_schema","schema":{"type":"object"}}}}'
for bad in '{}' '{"messages":[]}' '{"messages":[1]}' \
    '{"messages":[{"role":"tool","content":""}]}' \
    '{"messages":[{"role":"user","content":7}]}' \
    '{"messages":[{"role":"user","content":[{"type":"audio"}]}]}' \
    '{"messages":[{"role":"user","content":[{"type":"tool_use"}]}]}' \
    '{"messages":[{"role":"assistant","content":[{"type":"tool_use"}]}]}' \
    '{"messages":[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"http://a/"}}]}]}' \
    '{"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"a\"b","data":""}}]}]}' \
    "{$hi,\"tool_choice\":{\"type\":\"tool\"}}" "{$hi,\"thinking\":1}" \
    "{$hi,\"output_format\":{}}" "{$hi,\"tools\":{}}"; do
    try messages "$bad"
done
try count "{$hi,\"tool_choice\":{\"type\":\"tool\",\"name\":\"f\"},\"thinking\":{\"type\":\"adaptive\"}}" 
try count "{$hi}" '{"id":"r1","count":12}'
try count "{$hi}" '{"id":"r1"}'
on=',"thinking":{"type":"enabled"}'
try messages "{$hi}" "$(whole "$text" stop)"
try messages "{$hi$on}" "$(whole "$text" length)"
try messages "{$hi}" "$(whole "$calls" tool_calls)"
try messages "{$hi}" "$(whole '{"content":""}' stop ',"stop":"E"')"
try messages "{$hi}" "$long"
try messages "{$hi$on,\"stream\":true,\"container\":\"c\"}" "$start" "$thought" \
    "$piece" "$piece" "$call" "$more" "$other" "$(end tool_calls)"
try messages "{$hi,\"stream\":true}" "$start" "$thought" "$(end stop ',"stop":"E"')"
try messages "{$hi,\"stream\":true}" "$start" "$piece" "$lost"
try messages "{$hi,\"stream\":true}" "$start" "$more"
try messages "{$hi,\"stream\":true}" '{"start":{"warnings":["b"]}}' "$(end stop)"

# ---- responses
tools='"tools":[{"type":"namespace","name":"s","description":"d","tools":[
{"type":"custom","name":"g","description":"d","format":{"type":"grammar"}}]},
{"type":"function","name":"f","strict":true,"parameters":{"type":"object"}},
{"type":"web_search"}]'
tools=$(printf '%s' "$tools" | tr -d '\n')
try responses '{"model":"m","instructions":"I","input":[{"type":"message","role":
    "developer","content":[{"type":"input_text","text":"D"}]},{"role":"user",
    "content":"hi"},{"role":"user","content":"ho"},{"type":"reasoning","id":"r",
    "summary":[{"type":"summary_text","text":"hm"}],"content":null},{"type":
    "message","role":"assistant","content":[{"type":"output_text","text":"ok"}]},
    {"type":"function_call","call_id":"c0","name":"f","arguments":"{}"},
    {"type":"custom_tool_call","call_id":"c1","namespace":"s","name":"g","input":
    "a\"b"},{"type":"function_call_output","call_id":"c0","output":"0"},
    {"type":"custom_tool_call_output","call_id":"c1","output":[{"type":
    "input_text","text":"1"},{"type":"input_text","text":"2"}]},{"type":
    "web_search_call","id":"w"},{"role":"user","content":[{"type":"input_text",
    "text":"see"},{"type":"input_image","image_url":"data:image/png;base64,AA"}
    ]}],'"$tools"',"tool_choice":{"type":"custom","namespace":"s","name":"g"},
    "text":{"format":{"type":"json_schema","name":"n","strict":true,"schema":{}},
    "verbosity":"low"},"reasoning":{"effort":"low","summary":"auto"},
    "max_output_tokens":7,"include":["reasoning.encrypted_content",
    "message.output_text.logprobs"],"top_logprobs":2,"store":false,
    "truncation":"auto","prompt_cache_key":"k","background":false}'
for bad in '{}' '{"input":[]}' '{"input":1}' '{"input":[{"role":"tool"}]}' \
    '{"input":[{"role":"user","content":1}]}' '{"input":[{"type":"item_reference"}]}' \
    '{"input":[{"role":"user","content":[{"type":"input_file"}]}]}' \
    '{"input":[{"role":"user","content":[{"type":"input_image","image_url":"file:///etc/passwd"}]}]}' \
    '{"input":[{"type":"function_call","name":"f"}]}' \
    '{"input":[{"type":"function_call_output","output":""}]}' \
    '{"input":"x","previous_response_id":"r"}' '{"input":"x","background":true}' \
    '{"input":"x","text":{"format":{"type":"regex"}}}' \
    '{"input":"x","tool_choice":{"type":"web_search"}}' \
    '{"input":"x","tools":[{"type":"function","name":"s__g"},{"type":"namespace","name":"s__","tools":[{"type":"function","name":"g"}]}]}'; do
    try responses "$bad"
done
try responses '{"input":"x","tool_choice":{"type":"allowed_tools","mode":"required","tools":[{"type":"function","name":"f"}]},"text":{"format":{"type":"text"}}}'
try responses "{\"input\":\"x\"}" "$(whole "$text" length)"
try responses "{\"input\":\"x\",$tools}" "$(whole "$calls" tool_calls)"
try responses "{\"input\":\"x\",\"stream\":true,$tools}" "$start" "$thought" \
    "$piece" "$piece" "$call" "$more" "$other" "$(end tool_calls)"
try responses '{"input":"x","stream":true}' "$start" \
    '{"index":0,"delta":{"content":"a"},"logprobs":{"content":[{"token":"a"}]}}' \
    "$lost"

# ---- the rest
try embeddings '{"input":["a",[1]],"encoding_format":"base64","model":"m","x":1}' 
try embeddings '{"input":"a","user":"u"}' \
    '{"response":{"status_code":200,"body":{"object":"list","data":[],"model":"m"}}}'
try tokenize '{"content":"a\nb","add_special":true,"with_pieces":true}'
try tokenize '{"content":"a","with_pieces":true,"parse_special":false}' \
    '{"id":"r1","ids":[1],"tokens":[{"id":1,"piece":[195]}]}'
try tokenize '{"prompt":7}'
try tokenize '{"messages":[],"tools":[],"model":"m"}'
try tokenize '{"prompt":"a"}' '{"id":"r1","ids":[1,2]}'
try detokenize '{"tokens":[1,2]}'
try detokenize '{"tokens":[1,2]}' '{"id":"r1","text":"a"}'
printf 'a\nb "c"\n' | gg-serve --translate models
form() { # TYPE [RECORD]
    printf '%s' "$2" >records
    printf -- '--XX\r\nContent-Type: audio/mpeg\r\nContent-Disposition: form-data; name="file"; filename="a.mp3"\r\n\r\nabcd\r\n--XX\r\nContent-Disposition: form-data; name="response_format"\r\n\r\n%s\r\n--XX\r\nContent-Disposition: form-data; name="temperature"\r\n\r\n0.5\r\n--XX\r\nContent-Disposition: form-data; name=prompt\r\n\r\nName "it".\r\n--XX--\r\n' "$1" |
        gg-serve --translate transcriptions ${2:+--answer records} \
            --content-type 'multipart/form-data; boundary=XX' 2>&1 || echo "status $?"
}
form json
form json "$(whole "$text" stop)"
form text "$(whole "$text" stop)"
form srt
stream='json\r\n--XX\r\nContent-Disposition: form-data; name="stream"\r\n\r\ntrue'
form "$(printf "$stream")" "$start
$piece
$(end stop)"
form "$(printf "$stream")" "$start
$lost"

# ---- llama.cpp's server
try completion '{"prompt":{"prompt_string":"a"},"n_predict":-1,"n_probs":2,
    "cache_prompt":true,"verbose":true,"response_fields":["content"]}'
try completion '{"prompt":{"prompt_string":"a","multimodal_data":"x"}}'
text='{"response":{"status_code":200,"body":{"choices":[{"index":0,"text":"a\nb",
"finish_reason":"stop","stop":"c","logprobs":{"tokens":["a"],"token_logprobs":[-1.5],
"top_logprobs":[{"a":-1.5,"b":-2}]}}CHOICE],"usage":{"prompt_tokens":9,
"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":4}}}}}'
text=$(printf '%s' "$text" | tr -d '\n')
try completion '{"prompt":"a","n_probs":2}' "$(printf '%s' "$text" | sed s/CHOICE//)"
try completion '{"prompt":["a","b"]}' "$(printf '%s' "$text" |
    sed 's/CHOICE/,{"index":1,"text":"c","finish_reason":"length"}/')"
try completion '{"prompt":"a"}' '{"response":{"status_code":200,"body":{"choices":[]}}}'
try completion '{"prompt":"a","stream":true}' "$start" "$piece" \
    "$(end length | sed 's/}$/,"timings":{"prompt_ms":10,"decode_ms":4.5}}/')"
try completion '{"prompt":"a","stream":true}' "$start" "$lost"
try infill '{"input_prefix":"int \"a\"","prompt":"b","input_suffix":"c","n_predict":3,
    "input_extra":[{"filename":"f","text":"t"},{"text":"u"}]}'
for bad in '{"input_extra":[{}]}' '{"input_extra":[{"text":7}]}' \
    '{"input_extra":1}' '{"input_prefix":1}'; do
    try infill "$bad"
done
try rerank '{"query":"q","documents":["a"],"top_n":1,"model":"m"}'
try template "{$hi,\"tools\":[]}" '{"id":"r1","text":"a\n","ids":[1]}'
try chat-count "{$hi}" '{"id":"r1","count":7}'
try responses-count '{"input":"a"}' '{"id":"r1","count":7}'
try /v1/reranking '{"query":"q","documents":["a"]}'
try transcriptions '--XX'
gg-serve --translate none </dev/null 2>&1 || echo "status $?"
