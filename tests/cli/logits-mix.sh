# gg-logits --mix against awk's doubles.
printf '1\t5 6 7\n2\t8\n1\t9\n2\t\n' >lines
fake_eval -v 40 <lines >a
# Another model: what the first says of other ids, with these ids' names.
gg-logits --to text a | awk -F '\t' -v OFS='\t' -v CONVFMT=%.9g '
    NF == 2 && $1 + 0 == $1 { $2 = $2 * $2 / 3 - $1 / 7 } 1' | gg-logits >b
gg-logits --to text a >a.text
gg-logits --to text b >b.text

# What a mix must be, up to what is the same in all logits of a record.
mixed() {
    paste a.text b.text | awk -F '\t' -v u="$1" -v w="$2" -v logs="$3" '
        BEGIN { n = 0 }
        function finish(i, s, t, m, y) {
            for (i = 0; i < n; i++) { s += exp(a[i]); t += exp(b[i]) }
            for (i = 0; i < n; i++) {
                y = a[i] - log(s); m = b[i] - log(t)
                if (logs) m = u * y + w * m
                else m = log((u * exp(y) + w * exp(m)) / (u + w))
                printf "%.5f\n", m
            }
            n = 0
        }
        NF == 4 && $1 == $3 && $1 ~ /^[0-9]/ { a[n] = $2; b[n++] = $4 }
        $0 == "\t" && n { finish() }' | sed 's/^-0.00000/0.00000/'
}
logits() {
    gg-logits --to text "$@" | awk -F '\t' 'NF == 2 && $1 ~ /^[0-9]/ {
        printf "%.5f\n", $2 }' | sed 's/^-0.00000/0.00000/'
}
# Texts of the same numbers, but for roundings of the last digit.
same() {
    paste "$1" "$2" | awk '{ d = $1 - $2; if (d < 0) d = -d
        if (NF != 2 || d > 1.5e-5) print } END { print NR }'
}

echo probabilities
mixed 0.25 0.75 0 >wanted
logits --mix a=0.25 b=0.75 >got
same wanted got
logits --mix a=1 b=3 | cmp - got

echo logarithms
mixed 1.5 -0.5 1 >wanted
logits --mix --mix-by logarithms a=1.5 b=-0.5 >got
same wanted got

echo 'their sum is one'
gg-logits --mix a=0.3 b=0.7 | gg-logits --keep 1 --to text |
    awk -F '\t' '/^record/ { print ($5 < 1e-6 && $5 > -1e-6) }'
gg-logits --mix a=1 a=1 | gg-sample --greedy >ids
gg-sample --greedy a | cmp - ids

echo 'pipes, and what is done behind them'
cat b | gg-logits --mix a=0.25 -=0.75 --bias 3=-inf >edited
gg-logits --mix a=0.25 b=0.75 | gg-logits --bias 3=-inf | cmp - edited
mkfifo one two
cat a >one & cat b >two &
gg-logits --mix one=0.25 two=0.75 --bias 3=-inf | cmp - edited
wait
cat a a >aa
cat b b >bb
gg-logits --mix aa=1 bb=1 >both
gg-logits --mix a=1 b=1 >once
cat once once | cmp - both

echo 'records that failed'
fake_eval -v 40 -c 3 <lines >short
gg-logits --mix a=1 short=1 --to text | grep -v '^[0-9]'
gg-logits --mix short=1 a=1 >none
echo "status $?"

echo 'what does not fit'
printf '1\t5 6 7\n' | fake_eval -v 40 >fewer
printf '1\t5 6 8\n2\t8\n1\t9\n2\t\n' | fake_eval -v 40 >others
printf '2\t8\n1\t5 6 7\n1\t9\n2\t\n' | fake_eval -v 40 >order
fake_eval -v 41 <lines >larger
echo 5 6 7 | fake_eval -v 40 >unnumbered
gg-logits --to text a | sed '1s/00000000000000../0000000000000123/;1s/\(\t40\t\)[0-9a-f]*/\1fedcba9876543210/' |
    gg-logits >vocabulary
sed '1s/logits/embeddings/' a.text | gg-logits >vectors
gg-logits --keep 3 a >sparse
for x in fewer others order larger unnumbered vectors sparse; do
    gg-logits --mix a=1 $x=1 >none
    echo "$x: status $?"
done
gg-logits --mix vocabulary=1 vocabulary=1 | wc -c

echo embeddings
gg-logits --mix vectors=1 vectors=3 --to text | cut -f 2 >got
gg-logits --to text vectors | cut -f 2 | cmp - got
