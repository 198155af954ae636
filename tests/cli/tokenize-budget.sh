# Pieces of so many tokens: together they are the text, none has more.
tok() { gg-tokenize -q "$@"; }
awk 'BEGIN { for (i = 0; i < 400; i++) {
    for (k = 0; k < i * 7 % 9; k++) printf "the cat \303\251 %d ", i * k
    print i % 5 ? "" : "." } }' >text
printf 'no newline' >>text
for n in 8 20 100 100000; do
    tok --budget $n -0 text >pieces
    tr -d '\0' <pieces | cmp - text
    tok -0 --count pieces |
        awk -v n=$n '$1 > n { print "too many: " $1 } $1 * 3 < n { few++ }
            END { if (n == 100 && few > NR / 3) print few " of " NR }'
    tok --budget $n text | awk '$1 != at { print "gap" } { at = $2 }
        END { print at, (NR > 1) }'
    tok --budget $n text | awk 'END { print NR }' >number
    tr -dc '\0' <pieces | wc -c | tr -d ' ' | cmp - number
done
# Where a piece ends, a line does; unless it is longer by itself.
tok --budget 100 -0 text | tr '\n\0' 'N|' | grep -o '.|' | sort -u
tok --budget 8 -v text 2>&1 >/dev/null | grep -c 'cuts within a line'
# No character is cut while there is another place.
tok --budget 8 -0 text | tok -0 | tok -d -0 --replace-invalid | tr -d '\0' |
    cmp - text
# Long lines, no lines, nothing.
head -c 300000 /dev/zero | tr '\0' a >long
tok --budget 50 -0 long | tr -d '\0' | cmp - long
tok --budget 50 -0 long | tok -0 --count | awk '$1 > 50 { print $1 }'
tok --budget 50 </dev/null
printf 'a\0b' | tok --budget 50 -0
echo $?
printf 'a\0b' | tok --budget 50
