# Each row of the table of other programs' words is in gg-from(7): its words, and
# the option of ours that it is written with.
page=$top_srcdir/man/gg-from.7
sed 's/\\-/-/g; s/\\e/\\/g; s/^\.It Li //' "$page" >page
for f in "$top_srcdir"/bin/common/foreign/words_*.c; do
    sed -n 's/^ *{ "\([^"]*\)", [0-9].*/\1/p' "$f" | tr '|' ',' | sed 's/,/, /g'
    sed -n 's/^ *{ "\([^"]*\)", \(NULL\|"[^"]*"\), &.*/\1/p' "$f" | tr '|' ' ' |
        cut -d' ' -f1
done >words
test "$(wc -l <words)" -gt 150 || echo "too few rows are found"
while read -r row; do
    grep -qF -e "$row" page || echo "$row: is not on the page"
done <words
for f in "$top_srcdir"/bin/common/foreign/words_*.c; do
    sed -n 's/.*\.ours = "\(--*[a-zA-Z-]*\)[ "].*/\1/p' "$f"
done | sort -u | while read -r option; do
    grep -q -e "^\.Li $option\( \|$\)" page || echo "$option: is not on the page"
done
