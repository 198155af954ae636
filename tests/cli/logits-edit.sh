# gg-logits: biases, masks, fewer logits, against awk's doubles.
fake_eval -v 60 <<END >all
7 8 9
1 2
3
END
text() {
    gg-logits --to text "$@"
}
# Prints differences beyond the rounding of floats between two texts' values.
near() {
    awk -F '\t' 'NR == FNR { a[FNR] = $2; next }
        NF == 2 && $2 != a[FNR] {
            d = $2 - a[FNR]; if (d < 0) d = -d
            if ($2 ~ /inf/ || a[FNR] ~ /inf/ || d > 1e-6) print FNR, $0, a[FNR]
        }' "$1" "$2"
}
text all >plain

echo bias
text --bias 5=1.25 --bias 6=-inf --bias 7=0.5 --bias 7=0.25 all >biased
awk -F '\t' -v OFS='\t' -v CONVFMT=%.17g '
    BEGIN { n = 0 } $1 == "5" { $2 += 1.25 } $1 == "7" { $2 += 0.75 }
    $1 == "6" { $2 = "-inf" } 1' plain >wanted
near wanted biased
cmp -s plain biased || echo changed

echo masks
printf '3 4\n5\n' >some
text --mask some all | awk -F '\t' 'NF == 2 && $2 != "-inf"' >left
awk -F '\t' '$1 >= 3 && $1 <= 5 && NF == 2' plain | cmp - left
text --forbid some all | awk -F '\t' 'NF == 2 && $2 == "-inf" { print $1 }' |
    tr '\n' ' '
echo
text --mask some --forbid some --bias 4=3 all | grep -c inf
gg-logits --mask some all | gg-sample -n 1 --seed 3 | grep -cx '[345]'

echo 'the highest, and the sum of all'
text --keep 4 all >kept
awk -F '\t' 'BEGIN { n = 0 }
    function finish(i, j, best, sum) {
        for (i = 0; i < n; i++) sum += exp(x[i] - 5)
        printf "%.7f", 5 + log(sum)
        for (j = 0; j < 4; j++) {
            best = -1
            for (i = 0; i < n; i++)
                if (!(i in used) && (best < 0 || x[i] > x[best])) best = i
            used[best] = 1
            printf " %d %.6f", best, x[best]
        }
        print ""
        split("", used)
        n = 0
    }
    NF == 2 { x[n++] = $2 } NF == 0 && n { finish() }' plain >wanted
awk -F '\t' '/^record/ { printf "%.7f", $5 } NF == 2 { printf " %d %.6f", $1, $2 }
    NF == 0 && on { print "" } { on = NF == 2 }' kept | diff wanted -
gg-logits --keep 4 all >sparse
gg-logits --keep 2 sparse >fewer
gg-logits --keep 2 all | cmp - fewer
gg-logits --keep 100 all >everything
text everything | awk -F '\t' 'NF == 2' | sort | cksum >sums
text all | awk -F '\t' 'NF == 2' | sort | cksum | cmp - sums

echo 'a bias behind the choice is one before it'
best=$(text sparse | awk -F '\t' 'NF == 2 { print $1; exit }')
for x in -0.5 2 -inf; do
    gg-logits --bias "$best=$x" sparse >after
    gg-logits --bias "$best=$x" all | gg-logits --keep 60 >before
    for when in before after; do
        text $when | awk -F '\t' '/^record/ { printf "%.6f\n", $5; exit }' \
            >sum.$when
    done
    diff sum.before sum.after
done

echo 'half precision'
text --f16 all | awk -F '\t' 'NF == 2' >half
awk -F '\t' 'NR == FNR { if (NF == 2) a[++n] = $2; next }
    { d = ($2 - a[FNR]) / (a[FNR] + 1e-9); if (d < 0) d = -d
      if (d > 1 / 2048) print } END { print n == FNR }' plain half
gg-logits --f16 --bias 3=1e6 all | gg-logits --to text | grep -m 1 '^3	'

echo 'ids that are not there, and all that is left'
gg-logits --bias 60=1 all | wc -c
gg-logits --mask some --forbid some all | gg-sample -n 1
echo "status $?"
gg-logits --mask some --forbid some --keep 3 all | gg-logits --to text |
    grep failed
