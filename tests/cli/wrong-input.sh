# Each kind of input given to each tool that reads another one: the message says
# what the input is and which tool makes of it what is wanted. Nothing hangs.
test -f "$GG_MODEL" || { echo "no demo model" >&2 && exit 77; }
printf 'Once upon a time\nthere was\n' >text
printf '5 6 7\n8 9\n' >ids
gg-eval ids >logits 2>err || cat err
gg-eval --top 3 ids >top
cp "$GG_MODEL" gguf
printf '{"prompt":"a"}\n{"prompt":"b"}\n' >json
printf '\211PNG\r\n\032\n\0\0\0\rIHDR' >png
printf '\003\0\0\0\007\0\0\0' >binary
: >empty
kinds='text ids logits top gguf json png binary empty'

try() { # COMMAND: by a name, and by a pipe; both say the same
    echo "-- $1"
    for kind in $kinds; do
        cat $kind | $1 >out 2>err
        status=$?
        test $status = 0 && ! test -s err && continue
        sed "s/^gg-[a-z]*: /$kind: $status: /; s/\"GGUF.*\"/GGUF.../
            s/ [0-9]* ids at once/ N ids at once/" err
        test $status = 0 || test -s err || echo "$kind: $status and no word"
        $1 $kind 2>again >out
        sed "s/: $kind: /: standard input: /" again | cmp -s - err ||
            { echo "$kind, by its name: " && cat again; }
    done
}
try gg-eval
try gg-sample
try 'gg-logits --to text'
try 'gg-tokenize -d -q'
try 'gg-train -o out.gguf --dry-run'
try gg-tokenize
try 'gg-tokenize --lines'
try 'gg-generate -n 1 -q'
if echo '{"prompt":"a"}' | gg-generate --jsonl -n 1 2>&1 |
    grep -q 'without Jansson'; then
    exit
fi
try 'gg-generate -n 1 -q --messages --template chatml'
