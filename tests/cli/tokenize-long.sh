# A pipe of any length: the ids of the whole, in little memory, with any number
# of threads.
tok() { gg-tokenize -q "$@"; }
awk 'BEGIN { for (i = 0; i < 60000; i++) {
    printf "Line %d of a text that the cat\047s tail \303\251 has ", i
    print i % 7 ? "" : "\344\275\240\345\245\275\343\200\202 <|x|>" } }' >text
# With --max all of it is encoded in one piece: the reference.
tok --max 100000000 text >whole
for t in 1 2 3; do
    tok -t $t text | cmp - whole
    { head -c 1000 text; sleep 0.1; tail -c +1001 text; } |
        tok -t $t | cmp - whole
done
tok --special parse --max 100000000 text >parsed
tok --special parse -t 2 text | cmp - parsed
tok --pieces -t 2 text | cut -f 1 | paste -sd ' ' - | cmp - whole
tok --no-bos --offsets -t 2 text |
    awk '$2 != at { print "gap" } { at = $3 } END { print at }'
wc -c <text | tr -d ' '
tok --count -t 2 text | cmp - <<X
$(wc -w <whole | tr -d ' ')
X
tok --binary u32 -t 2 text | tok -d --binary u32 | cmp - text
# Records: their order stays, and bad ones stay in their places.
tok --lines text >lines
for t in 2 5; do
    tok --lines -t $t text | cmp - lines
done
sed '40000s/$/ <|endoftext|>/; 50000s/cat/<|endoftext|>/' text >bad
tok --lines --special error bad >one 2>one.err
tok --lines --special error -t 3 bad 2>three.err | cmp - one
cmp one.err three.err
# Who writes a record need not write another to get its ids.
mkfifo in out
tok --no-bos --lines -t 2 <in >out &
exec 3>in 4<out
for word in one two; do
    echo $word >&3
    read -r line <&4
    echo "$line" >>answers
done
exec 3>&- 4<&-
wait $! || echo "status $?"
printf 'one\ntwo\n' | tok --no-bos --lines | cmp - answers
# In less memory than the text has bytes, unless sanitizers need more.
if (ulimit -v 400000; tok --count text) >/dev/null 2>&1; then
    for i in 1 2 3 4 5 6 7 8 9 10; do cat text text; done >much
    (ulimit -v 250000; tok --no-bos --count -t 2 much) >n ||
        echo "too much memory"
fi
# What follows an error is not what follows the text before it.
{ cat text; printf '<|endoftext|>'; } | tok --special error 2>/dev/null >failed
echo $?
tail -n 1 failed
