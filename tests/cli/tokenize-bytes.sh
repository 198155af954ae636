# Bytes come back, whatever they are, in one text, in records and in pieces.
LC_ALL=C
export LC_ALL
awk 'BEGIN { for (r = 0; r < 3; r++) for (i = 0; i < 256; i++)
        printf "printf \"\\%03o\"\n", (i * (2 * r + 1) + r) % 256 }' |
    sh >all
awk 'BEGIN { x = 1; for (i = 0; i < 100000; i++) {
        x = x * 16807 % 2147483647
        printf "printf \"\\%03o\"\n", int(x / 8388608) } }' | sh >random
head -c 3000 /dev/zero >zeros
printf '\303\251\303 \342\202 \360\237\230\200\r\n\n  \302\205\t' >broken
printf x >one
printf '\n' >newline
yes 'a long text' | head -c 300000 >long
printf 'ab%.0s' $(seq 5000) >word
for f in all random zeros broken one newline long word; do
    gg-tokenize "$f" >ids || echo "$f: failed"
    wc -l <ids | grep -qx 1 || echo "$f: not one line"
    gg-tokenize -d ids | cmp - "$f" || echo "$f: differs"
    gg-tokenize --no-bos -f "$f" | gg-tokenize -d --no-bos | cmp - "$f" ||
        echo "$f: differs without BOS"
    # An id a line is the same text in many chunks.
    tr ' ' '\n' <ids | gg-tokenize -d | cmp - "$f" || echo "$f: in chunks"
    gg-tokenize -o out.txt "$f" && cmp ids out.txt || echo "$f: -o"
done
# NUL ends a record; what holds none comes back with NULs only.
tr -d '\000' <all >no-nul
gg-tokenize -0 no-nul | gg-tokenize -d -0 | tr -d '\000' | cmp - no-nul
tr '\n' '\000' <random | gg-tokenize -0 | gg-tokenize -d -0 >back
{ tr '\n' '\000' <random; printf '\000'; } | cmp - back
