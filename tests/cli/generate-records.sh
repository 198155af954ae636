# A record each: the same bytes as the pipe, and as each alone, for any number
# at once and of threads.
"$top_builddir/tests/make_model" llama-q4_0 random.gguf || exit 99
pipe() {
    gg-tokenize "$1" in |
        gg-loop --batch 4 "gg-eval --batch 4 | gg-sample -n $2 -s 3" |
        gg-tokenize -d "$1" >want
}
compare() {
    cmp - want || echo "differs: $*"
}

echo "-- the pipe"
long='a b c d e f g h i j k l m n o p q r s t u v w x y z'
printf '%s\n' "$long one" 'a \ b' '' "$long two" 'x' "$long" "$long one" y >in
printf 'no newline \303' >>in
run() {
    pipe "$1" 20
    gg-generate "$1" -n 20 -s 3 -f in | compare "$@"
    for batch in 1 2 5; do
        gg-generate "$1" -n 20 -s 3 --batch $batch -t 2 <in | compare $batch
    done
}
test -f "$GG_MODEL" && run --lines
GG_MODEL=random.gguf
export GG_MODEL
run --lines
test "$(wc -l <want)" = 9 || echo "not a line each"
# What must not be in a line is escaped.
hot='-n 300 --temp 9 --top-k 0 --top-p 1'
printf 'a\nb\nc\nd\n' | gg-generate --lines $hot -s 1 >out
printf 'a\nb\nc\nd\n' | gg-tokenize --lines |
    gg-loop "gg-eval | gg-sample $hot -s 1" | gg-tokenize -d --lines | cmp - out
printf 'a \\n b\n' | gg-generate --lines --echo -n 1 -s 1 | head -c 7
echo
# A shared prefix of records is evaluated once.
gg-generate --lines -n 2 -v in 2>&1 >/dev/null |
    awk '/copied/ { exit !($4 > 100) }' || echo "nothing was copied"
tr '\n' '\0' <in >in0 && mv in0 in
run -0

echo "-- numbers"
printf '%s\n' "$long one" x y "$long two" z >in
pipe --lines 9
cat -n in | tac | gg-generate --lines --numbered -n 9 -s 3 -o out
sort -n out | cut -f 2- | compare numbered
printf '7\ta\nb\n18446744073709551616\tc\n8\t\n' |
    gg-generate --lines --numbered -n 1 --greedy >out
echo "[$?]"
cut -f 1 out

echo "-- other options"
gg-generate --lines --echo -n 9 -s 3 in >out
paste -d '\0' in want | cmp - out
# A stop string ends a record only.
stop=$(sed -n 2p want | cut -c 3-4)
gg-generate --lines -n 9 -s 3 --stop "$stop" in >out
test "$(wc -l <out)" = 5 || echo "the stop string stopped more"
test "$(sed -n 2p out)" = "$(sed -n 2p want | cut -c 1-2)" || echo "no stop"
# A context that is full ends a record; with -n that is not what was wanted.
printf '%s\n' x "$long" y >in
gg-generate --lines -c 12 -s 3 in >out
echo "[$?] $(wc -l <out)"
gg-generate --lines -c 12 -s 3 -n 40 in >again
echo "[$?]"
cmp out again
pipe --lines 9
gg-generate --lines -n 9 -s 3 --shift -c 2000 in | compare shift

echo "-- one by one"
mkfifo from to
gg-generate --lines -n 9 -s 3 <to >from &
exec 3>to 4<from
while IFS= read -r line; do
    printf '%s\n' "$line" >&3
    IFS= read -r answer <&4
    printf '%s\n' "$answer"
done <in >out
exec 3>&- 4<&-
wait
cmp out want
: | gg-generate --lines | wc -c

echo "-- misuse"
run() {
    "$@" </dev/null
    echo "[$?]"
}
run gg-generate --lines -i
run gg-generate --batch 2
run gg-generate --lines --resume a -o b
run gg-generate --lines --batch 0
run gg-generate --lines --messages --numbered --echo >/dev/null
printf 'a\n' | run gg-generate -0 -f nonesuch
full() {
    gg-generate --lines -n 1 -s 3 in >/dev/full
}
run full
