# Whatever has a name from outside in it is shown without a byte that a terminal
# would obey: options, their values, files, keys, lists, schemas, records.
esc=$(printf 'a\033[31mb')
cp "$GG_MODEL" "$esc.gguf"
cp "$esc.gguf" "$esc"
printf '%064d  %s\n' 0 "$esc" >list
printf '{"$ref": "#/%s"}' 'a\u001b[31mb' >schema
printf 'root ::= x | %s' "$esc" >grammar
printf '{"prompt": "a", "temperature": "a\\u001b[31mb"}\n' >jsonl
printf '5\t!%s\n' "$esc" >failed
mkdir folder
printf '{"architectures": ["a\\u001b[31mb"]}' >folder/config.json
n=0
try() {
    "$@" </dev/null >out 2>err
    n=$((n + 1))
    if cat out err | LC_ALL=C grep -q "$(printf '\033')"; then
        echo "$* writes an ESC:" | cat -v
        cat -v out err
    fi
}
for tool in gg-inspect gg-tokenize gg-eval gg-logits gg-sample gg-generate \
    gg-convert gg-quantize gg-train gg-bench; do
    try $tool "--$esc"
    try $tool "--quiet=$esc"
    try $tool "-$esc"
    try $tool "no $esc"
    try $tool "$esc" "$esc" "$esc"
    $tool --help | awk '/^ *-/ {
        line = $0
        while (match(line, /--[a-z0-9-]+ [A-Z][A-Z]*/)) {
            n = split(substr(line, RSTART, RLENGTH), word, " ")
            print word[1]
            line = substr(line, RSTART + RLENGTH)
        }
    }' >options
    while read -r option; do
        try $tool $option "$esc"
    done <options
done
try gg-loop "--$esc"
for o in --json --stats --check --hash --histogram --memory --tensors; do
    try gg-inspect $o "$esc.gguf"
    try gg-inspect $o --json "$esc.gguf"
done
try gg-inspect "$esc.gguf"
try gg-inspect -k "$esc" "$esc.gguf"
try gg-inspect --tensor "$esc" "$esc.gguf"
try gg-inspect --hash-check list "$esc.gguf"
try gg-inspect folder
try gg-eval -v -m "$esc" list
try gg-eval failed
try gg-eval --top 1 failed
gg-eval failed >records
try gg-sample records
try gg-logits --to text records
try gg-generate --jsonl jsonl
try gg-generate --json-schema schema -p a
try gg-generate --grammar grammar -p a
try gg-quantize --dry-run "$esc" out Q8_0
test $n -gt 150 || echo "only $n"
