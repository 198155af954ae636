# A run that was killed goes on where it was.
"$top_builddir/tests/make_model" llama-q4_0 random.gguf || exit 99
GG_MODEL=random.gguf
export GG_MODEL
seq 12 | sed 's/.*/&	a b &/' >in
mkfifo pipe

# Starts with the first 7 records, and is killed once 5 are answered.
start() {
    rm -f out
    # A shell lets its background commands ignore INT.
    default_signals gg-generate -s 3 -n 9 --batch 2 --resume out "$@" \
        <pipe 2>/dev/null &
    exec 3>pipe
    head -n 7 data >&3
    until test "$(cat out 2>/dev/null | wc -l)" -ge 5; do
        sleep 0.02
    done
    kill -$signal $!
    { wait $!; } 2>/dev/null
    echo "killed: $?"
    exec 3>&-
}

echo "-- lines"
cp in data
gg-generate --lines -s 3 -n 9 data >want
for signal in KILL INT TERM; do
    start --lines
    cmp -n "$(wc -c <out)" out want
    printf 'an incomplete rec' >>out
    gg-generate --lines -s 3 -n 9 --resume out data
    echo "[$?]"
    cmp out want
done
gg-generate --lines -s 3 -n 9 --resume out data -v 2>&1 |
    grep -o '[0-9]* records are'
cmp out want
head -n 3 data | gg-generate --lines -s 3 -n 9 --resume out
echo "[$?]"
# The last answer shows whether it is the same job.
try() {
    head -n 5 want >out
    gg-generate --lines -n 9 --resume out data "$@"
    echo "[$?] $(wc -l <out)"
}
try -s 4
try -s 3 --temp 0.5
sed '5s/a/b/' in >data
try -s 3
cp in data
try
rm out
gg-generate --lines -s 3 -n 9 --resume out data && cmp out want
printf 'no end' >out
gg-generate --lines -s 3 -n 9 --resume out data && cmp out want

echo "-- numbers"
signal=KILL
gg-generate --lines --numbered -s 3 -n 9 data >want
start --lines --numbered
gg-generate --lines --numbered -s 3 -n 9 --resume out data && cmp out want
tac data | gg-generate --lines --numbered -s 3 -n 9 --resume out
echo "[$?]"
cmp out want

echo "-- NUL"
tr '\n' '\0' <in >nul
gg-generate -0 -s 3 -n 9 nul >want
head -c 30 want >out
gg-generate -0 -s 3 -n 9 --resume out nul && cmp out want

echo "-- a file that somebody writes, or that is none"
gg-generate --lines -n 1 --resume new <pipe &
exec 3>pipe
echo a >&3
until test -s new; do sleep 0.02; done
gg-generate --lines --resume new data
echo "[$?]"
exec 3>&-
wait
gg-generate --lines --resume pipe data
gg-generate --lines --resume . data
echo "[$?]"

echo '{"prompt":"a"}' | gg-generate --jsonl -n 1 2>&1 |
    grep 'without Jansson' >&2 && exit 77
echo "-- JSON"
sed 's/\([0-9]*\)	\(.*\)/{"id":\1,"prompt":"\2"}/; 3s/.*/bad/' in >data
gg-generate --jsonl -s 3 -n 9 data >want 2>/dev/null
start --jsonl
printf '{"id":7,"pro' >>out
# One of the records has failed, though not now.
gg-generate --jsonl -s 3 -n 9 --resume out data
echo "[$?]"
cmp out want
try() {
    cp want out
    gg-generate --jsonl -n 9 --resume out "$@"
    echo "[$?]"
    cmp out want
}
sed 's/a b 12/another/' data >other
try -s 3 other
sed '3s/.*/{"prompt":"good"}/' data >other
try -s 3 other
sed 's/"id":12/&,"x":1/' data >other
try -s 3 other
try -s 4 data
try data
