# On a terminal: the demo model by its last name, how typed input ends, /help, and
# how far a long prompt is, in a line that is gone before the answer. None of this
# where standard error is no terminal, nor with -q.
script -qec true /dev/null >/dev/null 2>&1 </dev/null || {
    echo "script(1) gives no terminal" >&2
    exit 77
}
test -f "$GG_MODEL" || { echo "no demo model" >&2 && exit 77; }
on_terminal() { # COMMAND, typed input
    printf "$2" | TERM=dumb timeout 200 script -qec "stty -echo; $1" /dev/null |
        tr -d '\r' | grep -v '^One day$' # an echo, at times
}
echo 'root ::= "ab"' >ab
unset GG_MODEL
echo "-- the demo model"
on_terminal 'echo 5 | gg-eval --top 1 2>&1 | wc -l'
on_terminal 'echo 5 | gg-eval --top 1 >out'
on_terminal 'echo 5 | gg-eval --top 1 -q >out'
on_terminal 'gg-tokenize words >out' # no such file is told, too

echo "-- what is typed"
on_terminal 'gg-tokenize -q | wc -l' 'One day\n\004'
on_terminal 'gg-generate -q --grammar ab' 'One day\n\004'
on_terminal 'gg-generate -q --grammar ab 2>words; cat words' 'One day\n\004'

echo "-- /help"
on_terminal 'gg-generate -i --template alpaca -n 1 >answer' '\004' | grep -c '/help lists'
on_terminal 'gg-generate -i --template alpaca -n 1 -q >answer' '\004' | grep -c '/help lists'

echo "-- a long prompt"
yes 'One day a girl saw a big red ball in the park and she was very happy.' |
    head -n "400" >long
bar() { # the last line of progress is taken away before the answer
    tr '\r' '\n' | sed -n '/ % prefill, [0-9]* of [0-9]* ids$/s/.*/bar/p; /ab/p' |
        sed 's/.\[K//' | uniq
}
for where in '' '| cat'; do
    TERM=dumb timeout 250 script -qec "gg-generate -c 20000 -t 1 --grammar ab long $where" \
        /dev/null </dev/null | bar
done
TERM=dumb script -qec "gg-tokenize long | gg-eval -t 1 -c 20000 -o /dev/null" /dev/null \
    </dev/null | bar
TERM=dumb script -qec "gg-generate -q -c 20000 -t 1 --grammar ab long" /dev/null </dev/null |
    bar
gg-generate -c 20000 -t 1 --grammar ab long 2>&1 | bar
