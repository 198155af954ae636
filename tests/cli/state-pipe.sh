# A text that was saved and goes on, in one process or in the pipe: the bytes
# are those of one that had not stopped, whatever drawing has to remember.
test -f "$GG_MODEL" || { echo "no demo model" >&2 && exit 77; }
text='Once upon a time, there was a little girl'

try() {
    echo "$*"
    rm -f one pipe
    gg-generate -p "$text" -s 5 -n 24 "$@" >whole
    gg-generate -p "$text" -s 5 -n 11 --state one "$@" >got
    cp one behind
    gg-generate -p '' -s 5 -n 13 --state one "$@" >>got
    cmp whole got
    rm one
    gg-generate -p "$text" -s 5 -n 11 --state one --draft prompt "$@" >got
    gg-generate -p '' -s 5 -n 13 --state one --draft prompt "$@" >>got
    cmp whole got

    # The pipe goes on with what gg-generate has left, through a filter; an
    # empty prompt is the id that was drawn last.
    gg-generate -p ' and' -s 5 -n 13 --load behind "$@" >want
    printf ' and' | gg-tokenize --no-bos |
        gg-loop "gg-eval --load behind | gg-logits --bias 3=0 | gg-sample -s 5 -n 13 $*" |
        gg-tokenize -d | cmp - want
}
try --repeat-penalty 1.3 --frequency-penalty 0.3 --repeat-last-n -1
try --dry-multiplier 2 --dry-allowed-length 1
try --mirostat 2 --mirostat-ent 3
gg-inspect behind | grep -q state.mirostat && echo kept

echo 'the pipe all the way, whose last id was not evaluated:'
set -- --repeat-penalty 1.3 --frequency-penalty 0.3 --repeat-last-n -1
gg-generate -p "$text" -s 5 -n 24 "$@" >whole
printf %s "$text" | gg-tokenize |
    gg-loop "gg-eval --state pipe | gg-sample -s 5 -n 11 $*" >ids
tail -n 1 ids | gg-loop "gg-eval --state pipe | gg-sample -s 5 -n 13 $*" >>ids
gg-tokenize -d ids | cmp - whole

echo 'numbered sequences, each with its own:'
printf '1\t5 6 7 6\n2\t8 9 8\n3\t4\n' >first
printf '3\t6\n1\t6\n2\t9\n1\t7\n' >then
cat first then | gg-eval >all
gg-eval --save many <first >/dev/null
gg-eval --load many <then >rest
gg-sample -s 2 "$@" all | tail -n 4 >want
gg-sample -s 2 "$@" rest | cmp - want
gg-logits --bias 3=0 rest | gg-sample -s 2 "$@" | cmp - want
cat rest rest | gg-sample -s 2 "$@" | tail -n 4 | cmp - want
