# What a model writes to a terminal: control characters are shown, not obeyed,
# a newline ends the text, and progress stands on standard error.
script -qec true /dev/null >/dev/null 2>&1 </dev/null || {
    echo "script(1) gives no terminal" >&2
    exit 77
}
test -f "$GG_MODEL" || { echo "no demo model" >&2 && exit 77; }
# A terminal writes a carriage return before each newline, and TABs as they are.
show() {
    script -qec "$1" /dev/null </dev/null | tr -d '\r' | od -An -c | tr -s ' '
}
printf 'a\033[2J\tb\r\n\177\302\233\303\251\377\342\202' | gg-tokenize >ids
echo "-- ids to text"
show 'gg-tokenize -d ids'
show 'gg-tokenize -d --raw ids'
gg-tokenize -d ids | od -An -c | tr -s ' '
show 'gg-tokenize -d --lines ids'
printf 'a\n' | gg-tokenize >line
show 'gg-tokenize -d line'

echo "-- answers"
printf 'root ::= "a\\x1B[31m\\u009B\\x07" [\\t] "\303\251b"\n' >control
show 'gg-generate -p a --grammar control -s 1'
show 'gg-generate -p a --grammar control -s 1 --raw'
gg-generate -p a --grammar control -s 1 | od -An -c | tr -s ' '
printf 'p\033\n' >prompt
show 'gg-generate prompt --echo --grammar control -s 1'
echo a >lines
show 'gg-generate --lines lines --grammar control -s 1'
show 'gg-generate -0 lines --choice x'
show "gg-generate -p a --choice \"$(printf 'x\033')\""
show 'gg-generate -p a --choice x -o file; cat file'
show 'gg-generate -p Once -n 0'

echo "-- before what is said"
lines() { script -qec "$1" /dev/null </dev/null | tr -d '\r'; }
lines 'gg-generate -p Once -n 3 -s 1 -v' |
    sed 's/^gg-generate: \([a-z]*\).*/a message: \1/' | tail -n 4
lines 'gg-generate -p Once -c 4' | grep -c '^gg-generate: stopped'

echo "-- progress, where standard output is a file"
yes 'Once upon a time' | head -n 20 >lines
slow='{ head -n 1 lines; sleep 1.5; cat lines; } |'
progress() {
    lines "$1" | tr '\033' '\n' | grep -c 'K[0-9]*\( of [0-9]*\)\{0,1\} records, [0-9]* ids, [0-9.]*/s'
}
progress "$slow gg-generate --lines -n 20 -s 1 >out" | grep -vx 0 >/dev/null || echo none
progress "$slow gg-generate --lines -n 20 -s 1 -q >out"
progress "$slow gg-generate --lines -n 20 -s 1 | cat >out"
wc -l <out
yes 'Once upon a time' | head -n 400 >many
lines 'gg-generate --lines -n 40 -s 1 --batch 2 many >out' |
    grep -q '% [0-9]* of ~\{0,1\}[0-9]* records, [0-9.]*/s' || echo none
gg-tokenize lines >ids
lines "{ cat ids; sleep 1.5; for i in 1 2 3 4; do cat ids; done; } |
    gg-eval --perplexity -c 64 >out" | tr '\033' '\n' |
    grep 'K[0-9]* ids, perplexity' >/dev/null || echo none
