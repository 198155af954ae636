# Each row of the table of other programs' words is in gg-from(7): its words, and
# the option of ours that it is written with.
page=$top_srcdir/man/gg-from.7
sed 's/\\-/-/g; s/\\e/\\/g; s/^\.It Li //' "$page" >page
# Rows in a line each, their words in one piece.
cat "$top_srcdir"/bin/common/foreign/theirs_*.c |
    awk '/^    { "/ { row = "" } { row = row " " $0 } /},$/ { print row; row = "" }' |
    sed 's/" *"//g; s/   */ /g' >rows
sed -n 's/^ *{ "\([^"]*\)", -*[0-9].*/\1/p' rows | tr '|' ',' | sed 's/,/, /g' >words
sed -n 's/^ *{ "\([^"|]*\)[^"]*", [N"&].*/\1/p' rows >>words
test "$(wc -l <words)" -gt 150 || echo "too few rows are found"
while read -r row; do
    grep -qF -e "$row" page || echo "$row: is not on the page"
done <words
sed -n 's/.*\.ours = "\(--*[a-zA-Z-]*\)[ "].*/\1/p' rows | sort -u | while read -r option; do
    grep -q -e "^\.Li $option\( \|$\)" page || echo "$option: is not on the page"
done
