# systemone.jq - questions about one context: to --choice records and back
#     jq -ncf systemone.jq request.json |
#         gg-generate -q --jsonl -m model.gguf | jq -nf systemone.jq
# A request is one of llama.cpp's POST /v1/systemone; its questions, of types
# choice, score and noul (true or false), become conversations.
def need(ok; $why): if ok then . else error($why) end;
def code($n): [if $n > 26 then . / 26 | floor else empty end, . % 26 |
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[.:. + 1]] | add; # all have one length
def options($kind): # {key, code, value} of each
    if $kind == "choice" then length as $n |
        need(type == "object" and $n > 0 and $n < 677;
            "criteria must be an object of 1 to 676 options") |
        to_entries | to_entries[] | {code: .key | code($n)} + .value
    elif $kind == "score" then
        need(type == "array" and length > 1 and length < 11;
            "criteria must be an array of 2 to 10 levels") |
        to_entries[] | .key |= tostring | .code = .key
    elif $kind == "noul" then
        need(type == "object" or . == null; "criteria must be an object") |
        {key: "true", code: "yes", value: .true},
        {key: "false", code: "no", value: .false}
    else error("type must be choice, score or noul") end;
def record($state): need(type == "object"; "it must be an object") |
    need(.instructions != null; "instructions must be there") |
    .type as $kind | [.criteria | options($kind)] as $options |
    [$options[].code] as $choice | [$state, "", .instructions,
     ($options[] | [.code, (.key | select($kind == "choice")),
        (.value | values | tostring)] | join(": ")),
     "Answer with \($choice | join(" or ")), and nothing else."] |
    {messages: [{role: "user", content: map(tostring) | join("\n")}],
     $choice, metadata: {type: $kind, $options}};
def records: need(.state != null; "state must be there") | .model as $model |
    need(.questions | type == "object" and . != {};
        "questions must be an object with members") |
    need(isempty((.images, .videos | values | select(. != [])), (.state | .. |
        objects | select(.type == "image_url"))); "there must be no images") |
    .state as $state | (.questions | keys_unsorted) as $ids | .questions |
    to_entries[] | .key as $id | {$model} + (.value | try record($state)
        catch error("questions.\($id): \(.)")) |
    .metadata += {systemone: $id, last: ($id == $ids[-1])};
def answer: (.choices | map({(.text): .probability}) | add) as $of | .metadata |
    [.options[] | $of[.code]] as $p | ($p | length) as $n |
    def mean(f): [range($n) | f] | add; ($p | index(max)) as $at | {type} +
    if .type == "noul" then {noul: $p[0]} else
        {probabilities: (.options | map(.value = $of[.code]) | from_entries)} +
        if .type == "choice" then {choice: .options[$at].key, confidence:
           (if $n < 2 then 1 else [0, ($p[$at] * $n - 1) / ($n - 1)] | max end)}
        else {score: mean(. * $p[.]), legend: (.options | from_entries),
            confidence: ([0, 1 - mean($p[.] * (. - $at | fabs)) /
                mean(. - ($n - 1) / 2 | fabs / $n)] | max)} end end;
foreach inputs as $in (null; need($in | type == "object"; "it is no object") |
    ($in.metadata | objects // {}) as {$systemone, $last} |
    if $systemone == null then {records: [$in | records]}
    else (select(.last == false) // {}) | .model = $in.model | .last = $last |
        if $in | has("error") then .error = ($in.error | .message? // .)
        else .answers[$systemone] = ($in | answer) end end;
    if .records then .records[] elif .last | not then empty else {model} +
        if .error == null then {answers} else {error: {code: 500,
            type: "server_error", message: .error}} end end)
