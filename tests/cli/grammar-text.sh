# --grammar and --json-schema take the text itself, too.
try() {
    "$@" 2>&1
    echo " = $?"
}
go() { try gg-generate --seed 1 -n 20 -p 'Is it late?' "$@"; }
go --grammar 'root ::= " yes" | " no"'
printf 'root ::= " yes" | " no"' >yes.gbnf
go --grammar yes.gbnf
go --json-schema ' {"enum": ["a", "b"]}'
printf ' {"enum": ["a", "b"]}' >schema.json
go --json-schema schema.json
go --json-schema '{"enum": '
go --grammar 'root ::= "'
go --grammar nonesuch
printf 'Is it' | gg-tokenize | gg-eval | gg-sample --seed 1 --grammar \
    'root ::= "x"' | gg-tokenize -d
# A hub's name is no file's.
for name in me/small me/small:Q8_0 hf.co/me/small hf:me/small small:1b ollama:small \
    https://example.org/a.gguf; do
    try gg-generate -m "$name" -p x
done
GG_MODEL=me/small try gg-tokenize -f /dev/null
try gg-generate --draft me/small -p x
mkdir me
for name in me/small ./me/small me/small.gguf small a:b/c; do
    try gg-tokenize -m "$name" -f /dev/null
done
