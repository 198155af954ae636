# Options that do not go together end with one line and status 2.
t() {
    gg-tokenize -q "$@" </dev/null 2>&1 | grep -v '^Try'
    gg-tokenize -q "$@" </dev/null >/dev/null 2>&1
    test $? = 2 || echo "status $?"
}
t -d --eos
t -d --special error
t -d --count
t -d --budget 5
t -d --max 5
t -d --fields --lines
t -d -t 2
t -d --binary u16 --lines
t --replace-invalid
t --special
t --special show
t --binary u8
t --truncate middle --max 3
t --truncate left
t --max 0
t -t 0
t --fields
t --fields -0
t --fields --lines --pieces
t --fields --lines --max 3
t --count --pieces
t --count --offsets
t --binary u16 --count
t --budget 5 --lines
t --budget 5 --count
t --budget 5 -t 2
t --budget 1 --bos
t --chat --special error
t --chat --offsets
t --chat --eos
