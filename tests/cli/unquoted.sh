# A text, or another program's word, where a tool wants a FILE.
test -f "$GG_MODEL" || { echo "no demo model" >&2 && exit 77; }
try() {
    "$@" </dev/null
    echo "status $?"
}
exec 2>&1
try gg-generate -p Once upon a time
try gg-generate -p Once upon
try gg-generate 'Once upon a time'
try gg-generate run llama3
try gg-generate Once upon
try gg-generate -f no-such-file
try gg-tokenize 'Once upon a time'
try gg-tokenize Once upon
try gg-eval 'Once upon a time'
try gg-eval 1 2 3
try gg-sample 'Once upon a time'
try gg-train -o out.gguf 'Once upon a time'
