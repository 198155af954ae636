# Counts, pieces, offsets and binary ids are the ids of the lines, otherwise.
printf 'one \303\251\n\ntwo\t\\\377 three\nlast' >text
tok() { gg-tokenize -q "$@"; }
tok --lines text >lines
tok text >whole
awk -F '\t' '{ print split($2, a, " ") }' lines >counts
tok --lines --count text | cmp - counts
tok --count text | cmp - <<X
$(wc -w <whole | tr -d ' ')
X
tok --count </dev/null
printf 'a\0b\nb\0\0' | tok --no-bos --count -0 | wc -l | tr -d ' '
# Pieces: the ids, then their bytes; records are separated by empty lines.
tok --pieces text | cut -f 1 | paste -sd ' ' - | cmp - whole
tok --pieces text | cut -f 2 | tr -d '\n' >shown
printf '%s\n' "$(cat shown)" | grep -c 'two\\t\\\\\\xff three\\nlast$'
tok --no-bos --pieces --lines text | grep -c '^$'
tok --no-bos --pieces --lines text | awk 'BEGIN { RS = "" } { print (NF > 0) }'
# Offsets: the ranges lie side by side and hold what the ids stand for.
tok --no-bos --offsets text |
    awk -F '\t' '$2 != at || $3 < $2 { print "gap" } { at = $3 }
        END { print at }'
wc -c <text | tr -d ' '
tok --no-bos --offsets --pieces text | awk -F '\t' '{ print NF }' | sort -u
tok --no-bos --offsets text | cut -f 2,3 | while read -r begin end; do
    tail -c +$((begin + 1)) text | head -c $((end - begin))
done | cmp - text
# In records they are counted from the begin of each.
tok --no-bos --offsets --lines text | awk 'BEGIN { RS = "" }
    { n = split($0, a, "[\t\n]"); print a[2], a[n] }'
# Binary: both sizes, both ways.
for type in u16 u32; do
    tok --binary $type text >ids
    wc -c <ids | tr -d ' '
    od -An -v -t$(echo $type | sed 's/16/2/; s/32/4/') ids | tr -s ' \n' ' ' |
        sed 's/^ //; s/ $//' >back
    printf '\n' >>back
    cmp back whole
    tok -d --binary $type ids | cmp - text
done
tok --no-bos --lines --binary u32 text >ids
tok --no-bos --lines text | cut -f 2 | tr -s ' \n' '\n\n' | grep . >flat
od -An -v -tu4 ids | tr -s ' \n' '\n\n' | grep . | cmp - flat
head -c 5 ids | gg-tokenize -d --no-bos --binary u32 >/dev/null
echo $?
printf '\377\377\377\177' | gg-tokenize -d --binary u32
echo $?
printf '\377\377\377\377' | gg-tokenize -d --binary u32
echo $?
