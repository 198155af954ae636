# Each record of the input gives one of the output.
printf 'one\n\ntwo \\ three\nno newline' >text
gg-tokenize --no-bos --lines text >ids
cut -f 1 ids
sed -n 2p ids | grep -qx '2	' || echo "an empty line has no ids"
gg-tokenize -d --no-bos ids
gg-tokenize --no-bos --lines text | gg-tokenize -d --no-bos --lines
gg-tokenize --no-bos --lines text | gg-tokenize -d --no-bos -0 | tr '\0' '|'
echo
printf 'a\nb\0c\0\0d' | gg-tokenize --no-bos -0 | gg-tokenize -d --no-bos
# Escapes are taken out again; a field can have a tab then.
printf 'a\nb\\\0\tc\0\0' >odd # \0 is NUL
gg-tokenize --no-bos -0 odd | gg-tokenize -d --no-bos --lines >escaped
gg-tokenize --no-bos --lines --escapes escaped | gg-tokenize -d --no-bos -0 |
    cmp - odd
printf 'a\\tb\t\\\\n\n' | gg-tokenize --no-bos --lines --fields --escapes |
    tee two | gg-tokenize -d --no-bos -0 | tr '\t\0' 'T|'
echo
wc -l <two
printf 'a\\qb\nc\\\n' | gg-tokenize --no-bos --lines --escapes
gg-tokenize --escapes text 2>&1 | sed 1q
# Each is encoded on its own.
for n in 1 3; do
    sed -n ${n}p text | tr -d '\n' | gg-tokenize --no-bos
done >alone
sed -n '1p;3p' ids | cut -f 2 | cmp - alone
# Carriage returns are bytes as all others.
printf 'a\r\nb\r\n' | gg-tokenize --no-bos --lines |
    gg-tokenize -d --no-bos -0 | tr '\r\0' 'R|'
echo
# Chunks of several sequences, in turn; the order is that of appearance.
a=$(printf a | gg-tokenize --no-bos) b=$(printf b | gg-tokenize --no-bos)
printf '%s\t%s\n' 9 "$a" 7 "$b" 9 "$b" 3 "$b $a" 7 "$a" 7 '' 9 "$a" |
    gg-tokenize -d --no-bos
# A sequence that goes on after its end is another one.
printf '%s\t%s\n' 1 "$a" 1 '' 1 "$b" | gg-tokenize -d --no-bos
# Lines without numbers are one record.
printf '%s\n' "$a" "$b" | gg-tokenize -d --no-bos --lines
# No line at all: no record.
gg-tokenize --lines </dev/null
gg-tokenize -d --lines </dev/null
gg-tokenize -d </dev/null
