# --top: six fields, in order of probability, which sum to one.
"$top_builddir/tests/make_model" gpt2-f16 model.gguf || exit 99
GG_MODEL=model.gguf
export GG_MODEL

check() {
    awk -F '\t' -v n="$1" '
        NF == 0 { if (rank != n) print "record of " rank; rank = 0; next }
        NF != 6 { print "fields: " NF }
        $3 != ++rank { print "rank " $3 }
        rank > 1 && $5 > last { print "order at " rank }
        { last = $5; p[$2] += exp($5) }
        END { for (i in p) if (n == 300 && (p[i] < 0.999 || p[i] > 1.001))
                  print "sum " p[i] }'
}
printf '1 2 3\n4\n' >ids
gg-eval --top 3 ids | check 3
gg-eval --top 300 ids | check 300
gg-eval --top 999999 ids | check 300
gg-eval --top 1 ids | cut -f 1,2,3

# The stream has what the text has.
gg-eval ids | gg-sample --temp 0 >greedy
gg-eval --top 1 ids | gg-sample --temp 0 | cmp - greedy
gg-eval --keep 5 ids | gg-sample --temp 0 | cmp - greedy
gg-eval --f16 ids >half && gg-sample --temp 0 half | cmp - greedy
gg-eval ids >float
test $(wc -c <half) -lt $(wc -c <float) || echo "halves are not smaller"
gg-eval --keep 5 ids | gg-sample --seed 3 --top-k 5 >kept
gg-eval ids | gg-sample --seed 3 --top-k 5 | cmp - kept

# A token's text is escaped.
echo 1 | gg-eval --top 300 | awk -F '\t' '$4 == 198 || $4 == 92' | cut -f 6 |
    sort
