# An empty prompt is a mistake, also where the model would put a BOS in front,
# unless --bos asks for just that. (The demo model adds BOS.)
try() {
    echo "-- $*"
    timeout 60 "$@"
    echo "status $?"
}
try gg-tokenize </dev/null
try gg-tokenize --bos </dev/null | tr '0-9' N
try gg-generate -p ''
try gg-generate </dev/null
try gg-generate --bos -p '' -n 20 -s 1 -o text
test -s text || echo "no text"
try bash -o pipefail -c \
    "gg-tokenize </dev/null | gg-loop 'gg-eval | gg-sample -n 9' | gg-tokenize -d" \
    2>/dev/null
