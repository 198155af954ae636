# Lines of ids of any length become text, in little memory and at once.
tok() { gg-tokenize -q --no-bos "$@"; }
awk 'BEGIN { for (i = 0; i < 30000; i++)
    printf "Line %d\134 \303\251 \344\275\240\345\245\275 of a text\n", i }' >text
tok text >one
test "$(wc -l <one)" = 1 && test "$(wc -c <one)" -gt 500000 || echo "no long line"
# One line, one id a line, one byte after the other, no last newline.
tok -d one | cmp - text
tr ' ' '\n' <one | tok -d | cmp - text
{ head -c 100000 one; sleep 0.1; tail -c +100001 one | tr -d '\n'; } |
    tok -d | cmp - text
head -c 3000 one | dd bs=1 2>/dev/null | tok -d >few
head -c 3000 one | tok -d | cmp - few
# Ids in binary.
for type in u16 u32; do
    tok --binary $type text | tok -d --binary $type | cmp - text
done
# Clean text stays as it is; each broken byte becomes one character.
tok -d --replace-invalid one | cmp - text
printf 'caf\303\nab\377\134c' | tok | tr ' ' '\n' | tok -d --replace-invalid
echo
# Long lines with numbers, between others.
{
    printf '4\t' && head -c 200000 one | tr -d '\n' && printf '\n9\t'
    printf 'x\\y\nz' | tok
    printf '4\t' && tail -c +200001 one && printf '9\t\n4\t\n'
} >mixed
tok -d -0 mixed | tr -d '\0' >verbatim
{ cat text; printf 'x\\y\nz'; } | cmp - verbatim
tok -d --lines mixed | tail -n 1
# An id that is none: its line ends there, the next one goes on.
{
    printf '4\t%s 99999999 ' "$(printf abc | tok)"
    head -c 100000 one | tr '\n' ' '
    printf '\n4\t%s\n' "$(printf def | tok)"
} | tok -d --lines 2>err
echo $?
sed 's/ of the .*//' err
# So does a text that has one; what stands before it is written.
{ cat one; echo 5 x; } | tok -d 2>err | cmp - text
cat err
# A line's text goes out before the line has ended.
mkfifo in out
tok -d <in >out &
exec 3>in 4<out
{ head -c 40000 one | tr -d '\n'; } >&3
head -c 1000 <&4 | cmp -n 1000 - text
exec 3>&-
cat <&4 >/dev/null
exec 4<&-
wait
# Many times as much in the same memory, unless sanitizers need more.
if (ulimit -v 60000; tok -d one) >/dev/null 2>&1; then
    for i in 1 2 3 4 5 6 7 8 9 10; do tr '\n' ' ' <one; done >ten
    for i in 1 2 3 4 5 6 7 8 9 10; do cat ten; done >hundred
    (ulimit -v 60000; tok -d hundred) | tail -c "$(wc -c <text)" | cmp - text
fi
