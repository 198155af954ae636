# What goes around a text and what it is cut to: EOS, --special, --max,
# --fields.
tok() { gg-tokenize -q "$@"; }
end=$(gg-inspect "$GG_MODEL" | awk '/eos_token_id/ { print $NF; exit }')
printf 'one two three\nfour\n' >text
tok --no-bos text >plain
tok --no-bos --eos text | sed "s/ $end\$//" | cmp - plain
tok --no-bos --eos --lines text | grep -c "[ 	]$end\$"
tok --no-bos --eos </dev/null | grep -cx "$end"
# Names of control tokens.
name=$(echo "$end" | gg-tokenize -q -d --no-bos --special parse)
printf 'one%stwo' "$name" >named
tok --no-bos --special parse named | tr ' ' '\n' | grep -cx "$end"
tok --no-bos --special text named | tr ' ' '\n' | grep -cx "$end"
tok --no-bos --special text named >out
tok --no-bos named | cmp - out
tok --no-bos --special parse named | tok -d --no-bos --special parse |
    cmp - named
tok --no-bos --special parse named | tok -d --no-bos
echo
tok --special error named 2>err
echo "$?"
grep -c "control token .* at byte 3" err
{ cat text; cat named; } | tok --no-bos --lines --special error 2>err >out
echo "$?"
cut -f 1 out
sed -n 3p out | grep -c '!control token'
head -n 2 out >two
tok --no-bos --lines text | cmp - two
# At most so many; BOS and EOS stay.
n=$(tok --no-bos --count text)
for max in 1 2 3; do
    tok --no-bos --max $max --truncate right text >out
    cut -d ' ' -f -$max plain | cmp - out
    tok --no-bos --max $max --truncate left text >out
    cut -d ' ' -f $((n - max + 1))- plain | cmp - out
done
tok --no-bos --max "$n" text | cmp - plain
tok --no-bos --max $((n - 1)) text 2>/dev/null
echo $?
tok --no-bos --eos --max 3 --truncate right text |
    cmp - <<X
$(cut -d ' ' -f -2 plain) $end
X
tok --no-bos --eos --max 3 --truncate left text |
    cmp - <<X
$(cut -d ' ' -f $((n - 1))- plain) $end
X
tok --no-bos --lines --max 2 text >out 2>/dev/null
echo $?
grep -c '	!.*more than 2$' out
tok --no-bos --lines --max 2 --truncate right text | awk '{ print NF }'
tok --bos --eos --max 1 text 2>&1 | sed 1q
# Fields: what they are together is the line without its tabs.
printf 'one two\t three\t four\nfive\n\n' >fields
tok --no-bos --lines --fields fields | cut -f 1 | paste -sd ' ' -
tok --no-bos --lines --fields fields | tok -d --no-bos --lines >out
tr -d '\t' <fields | cmp - out
tok --no-bos --lines --fields --count fields | awk -F '\t' '{ print NF }'
tok --bos --lines --fields fields >out
tok --bos --lines --fields fields | cut -f 2 | sed -n 1p >first
printf 'one two' | tok --bos | cmp - first
printf 'a\t\tb\nc\n' | tok --no-bos --lines --fields 2>&1 | tail -n 2
