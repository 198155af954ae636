# --profile: a table on stderr, the same stream.
"$top_builddir/tests/make_model" llama-q4_0 model.gguf || exit 99
GG_MODEL=model.gguf
export GG_MODEL

printf '1 2 3 4 5 6 7 8 9\n4\n5\n' >ids
gg-eval ids >plain
gg-eval -t 2 --profile ids 2>table | cmp - plain

echo 'the head'
head -n 1 table | tr '\t' '|'
echo 'what there is of decoding, in any order'
awk -F '\t' '$1 == "decode" { print $2 }' table | LC_ALL=C sort
echo 'graphs'
awk -F '\t' '$2 == "total" { print $1, $3 }' table
check() {
    awk -F '\t' '
        NF != 10 { print "fields: " NF }
        NR == 1 { next }
        $2 == "total" { total[$1] = $4; next }
        $2 ~ /^thread/ { next }
        { ms[$1] += $4; percent[$1] += $5 }
        $9 != "-" && $9 + 0 < 0 { print "rate " $9 }
        END { for (p in total) {
            if (ms[p] < total[p] - 0.1 || ms[p] > total[p] + 0.1)
                print p ": " ms[p] " ms of " total[p]
            if (percent[p] < 97 || percent[p] > 103)
                print p ": " percent[p] " percent" } }' "$1"
}
check table

echo 'gg-generate'
gg-generate -p "one two" -n 5 --temp 0 --ignore-eog >plain
gg-generate -p "one two" -n 5 --temp 0 --ignore-eog --profile 2>table | cmp - plain
awk -F '\t' '$2 == "total" { print $1, $3 }' table
check table
