# gg-logits --diff against awk's doubles.
printf '1\t5 6 7\n2\t8\n1\t9\n2\t\n' >lines
fake_eval -v 40 <lines >a
gg-logits --to text a | awk -F '\t' -v OFS='\t' -v CONVFMT=%.9g '
    NF == 2 && $1 + 0 == $1 { $2 = $2 * 0.9 + $1 % 3 } 1' | gg-logits >b
gg-logits --to text a >a.text
gg-logits --to text b >b.text
gg-logits --diff a b >table
head -n 1 table
paste a.text b.text | awk -F '\t' 'BEGIN { n = 0 }
    function finish(i, s, t, p, q, kl, ta, tb, d, big) {
        for (i = 0; i < n; i++) {
            s += exp(a[i]); t += exp(b[i])
            if (a[i] > a[ta + 0]) ta = i
            if (b[i] > b[tb + 0]) tb = i
        }
        big = -1
        for (i = 0; i < n; i++) {
            p = exp(a[i]) / s; q = exp(b[i]) / t
            kl += p * log(p / q)
            d = p > q ? p - q : q - p
            if (d > big) { big = d; at = i; pa = p; pb = q }
        }
        printf "%d %d %.7f %d %d %d %.7f %.7f\n", sequence, position, kl, ta,
            tb, at, pa, pb
        n = 0
    }
    /^record/ { sequence = $2; position = $3 }
    NF == 4 && $1 == $3 && $1 ~ /^[0-9]/ { a[n] = $2; b[n++] = $4 }
    $0 == "\t" && n { finish() }' >wanted
awk 'NR > 1 && $1 != "all" { printf "%d %d %.7f %d %d %d %.7f %.7f\n", $1, $2,
    $3, $4, $5, $6, $7, $8 }' table | diff wanted -
awk '{ n++; kl += $3; if ($3 > worst) worst = $3; same += $4 == $5
       d = $7 - $8; if (d < 0) d = -d; if (d > step) step = d }
     END { printf "%d %.6f %.6f %.3f %.6f\n", n, kl / n, worst, same / n, step }' \
    wanted >sums
awk '$1 == "all" { printf "%d %.6f %.6f %.3f %.6f\n", $2, $3, $4, $5, $6 }' \
    table | diff sums -

echo 'the same twice'
gg-logits --diff a a | cut -f 1-5,7-8 | awk '$1 == "all" || $3 != 0 || $4 != $5'

echo 'the largest, in order'
gg-logits --diff --largest 3 a b | awk -F '\t' '
    NR == 1 { print }
    NR > 1 && $1 != "all" {
        for (i = 7; i <= 13; i += 3) { d = $i - $(i + 1); v[i] = d < 0 ? -d : d }
        print NF, (v[7] >= v[10] && v[10] >= v[13]), ($6 != $9 && $9 != $12) }'

echo 'what is impossible'
gg-logits --bias 3=-inf b >never
gg-logits --diff a never | awk '$1 != "sequence" { print $1, $3, $4 }' |
    sed 's/ [0-9]*$//'
gg-logits --diff never a | awk 'NR > 1 && ($3 ~ /inf|nan/ || $3 <= 0)'

echo 'records that failed'
fake_eval -v 40 -c 3 <lines >short
gg-logits --diff a short >out
echo "status $?"
cut -f 1-2 out

echo embeddings
printf 'head\tembeddings\t2\t0000000000000000\tf32\t-\t\tx\n' >head
{ cat head; printf 'record\t-\t1\t\n0\t3\n1\t4\n\nend\n'; } >v
{ cat head; printf 'record\t-\t1\t\n0\t4\n1\t3\n\nend\n'; } >w
gg-logits --diff v w
gg-logits --diff v v | tail -n 1

echo misuse
gg-logits --diff a
gg-logits --diff a b --keep 3
gg-logits --diff - - <a
echo "status $?"
