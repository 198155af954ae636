# Text goes out as ids come in; answers to records do not wait for the next.
mkfifo in out
gg-tokenize -d --no-bos <in >out &
exec 3>in 4<out
for word in a b; do
    printf %s "$word" | gg-tokenize --no-bos >&3
    dd bs=1 count=1 <&4 2>/dev/null
    echo
done
exec 3>&- 4<&-
wait $! || echo "status $?"
gg-tokenize --no-bos --lines <in >out &
exec 3>in 4<out
echo hello >&3
read -r first <&4
echo world >&3
read -r second <&4
exec 3>&- 4<&-
wait $! || echo "status $?"
printf 'hello\nworld\n' | gg-tokenize --no-bos --lines >both
printf '%s\n' "$first" "$second" | cmp - both
# A sequence is written when it ends.
gg-tokenize -d --no-bos <in >out &
exec 3>in 4<out
printf '5\t%s\n5\t\n' "$(printf abc | gg-tokenize --no-bos)" >&3
read -r line <&4
echo "$line"
exec 3>&- 4<&-
wait $!
# A reader that has had enough ends the tool, and quietly.
{ gg-tokenize -d --no-bos; echo $? >status; } <<X | head -c 1
$(yes "$(printf 'abc ' | gg-tokenize --no-bos)" | head -n 100000)
X
echo
test "$(cat status)" -gt 128 || cat status
# Sequences without an end have a limit.
yes "$(printf 'abc ' | gg-tokenize --no-bos)" | head -n 500000 |
    awk '{ print NR % 1000 "\t" $0 }' | gg-tokenize -d --no-bos --max-held 1
echo $?
