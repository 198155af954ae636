# --score against the log-probabilities that --top writes; the same bytes
# however lines are evaluated together, sequences lose their places or lines
# come.
"$top_builddir/tests/make_model" llama-q8_0 model.gguf || exit 99
GG_MODEL=model.gguf
export GG_MODEL

awk -v count=240 -v alike=1 -f "$top_srcdir/tests/cli/sequences.awk" >lines
grep -v -e '!' -e 100000 lines | sed 150q >good

echo 'against --top, id by id:'
awk -F '\t' '{ n = split($2, id, " "); for (i = 1; i <= n; i++)
    print $1 "\t" id[i]; if (!n) print }' good >single
gg-eval --slots 12 --top 1408 single >top
truth() {
    awk -F '\t' '
        FILENAME == "single" && $2 != "" { # what is foretold by which record
            if (open[$1]++) wanted[last[$1]] = $2
            last[$1] = ++n
        }
        FILENAME == "single" && $2 == "" { open[$1] = 0 }
        FILENAME == "top" && /^$/ { k++ }
        FILENAME == "top" && $4 == wanted[k + 1] { lp[k + 1] = $5 }
        FILENAME != "good" { next }
        $2 == "" { chunk[$1] = seen[$1] = 0; next }
        {
            sum = m = 0
            for (i = split($2, id, " "); i > 0; i--) {
                if (seen[$1]) { m++; sum += lp[at[$1]] }
                at[$1] = ++j
                seen[$1] = 1
            }
            printf "%d\t%d\t%d\t%.6f\n", $1, ++chunk[$1], m, sum
        }' single top good
}
truth >want
gg-eval --score good >got
paste got want | awk -F '\t' '
    $1 != $5 || $2 != $6 || $3 != $7 || ($4 - $8) ^ 2 > (2e-6 * ($3 + 1)) ^ 2 {
        print "not the same: " $0 }
    { n += $3 }
    END { print NR " chunks, " n " ids" }'

echo 'the same bytes:'
compare() {
    gg-eval --score --batch 1 $1 lines >want 2>want.err && echo 'nothing failed'
    for o in '--slots 12' '--slots 3 -t 3' '--slots 3 --batch 2' \
        '--batch 40 --batch-size 7'; do
        gg-eval --score $o $1 lines >got 2>got.err && echo 'nothing failed'
        cmp got want && cmp got.err want.err
    done
    grep -q "$2" want.err || echo "none: $2"
}
compare '-c 110' 'context is full'
compare '-c 90 --shift' 'is not in 0'
compare '--remember 400' 'ids were forgotten'
sed 60q lines >some
gg-eval --score some >want 2>/dev/null
while IFS= read -r line; do echo "$line"; done <some |
    gg-eval --score 2>/dev/null | cmp - want
for kind in gpt2-f16 mistral-f32 gemma2-f32; do # windows, too
    "$top_builddir/tests/make_model" $kind other.gguf || exit 99
    o='-m other.gguf --score -c 200'
    gg-eval $o --batch 1 some >want 2>/dev/null
    gg-eval $o --slots 2 some 2>/dev/null | cmp - want
    gg-eval $o some 2>/dev/null | cmp - want
done

echo 'one sequence, without numbers; the context is full:'
printf '1 2 3\n4 5\n6\n' | gg-eval --score -c 5 >got
echo "status $?"
cut -f 1-3 got

echo 'what sequences begin with is evaluated once:'
for s in 1 2 3 4; do
    seq -s ' ' 1 100 | sed "s/^/$s	/"
    printf '%d\t%d 2\n' $s $((20 + s))
done >labels
for o in '--slots 8' '--slots 1' '--batch 2'; do
    gg-eval $o -v --score labels 2>&1 >got | sed -n 's/^gg-eval: \(.* copied\).*/\1/p'
    cmp got "${want:=got}"
    cp got want && want=want
done

echo 'what does not go with it:'
gg-eval --score --top 3 lines
gg-eval --score --perplexity lines
gg-eval --score </dev/null
gg-eval --score some >/dev/full 2>err
echo "status $?, $(tail -n 1 err)"

echo '-- whether ids are the likeliest'
printf '1\t%s\n' "$(printf 'Once upon a' | gg-tokenize)" >ids
printf '2\t%s\n' "$(printf 'Once upon a' | gg-tokenize)" >>ids
next=$(printf 'Once upon a' | gg-tokenize | gg-eval --top 2 | cut -f 4)
printf '1\t%s\n' $next >>ids # the likeliest, and another after it
printf '2\t%s\n' $(echo $next | cut -d ' ' -f 2) >>ids
gg-eval --score --greedy ids | cut -f 1-3,5
gg-eval --score --greedy ids | cut -f 1-4 >got
gg-eval --score ids | cmp - got
gg-eval --score --greedy --batch 1 --slots 1 -t 3 <ids | cut -f 1-4 | cmp - got
