# gg-logits: each form brings back the same bytes.
printf '1\t5 6 7\n2\t8\n1\t9\n3\t1 2 3 4 5 6 7 8 9\n2\t\n1\t4\n' >lines
fake_eval -v 50 -c 8 <lines >f32
gg-logits --f16 f32 >f16
gg-logits --keep 9 f32 >sparse
for form in text; do
    for s in f32 f16 sparse; do
        gg-logits --to $form $s >$s.$form
        echo "$form of $s: status $?"
        gg-logits $s.$form | cmp - $s
        gg-logits --to $form $s.$form | cmp - $s.$form
        cat $s.$form | gg-logits | cmp - $s
    done
done
# Stored, the first member of an archive is the array alone.
gg-logits --to npy f32 >rows
gg-logits --to npz f32 >f32.npz
tail -c +61 f32.npz | head -c "$(wc -c <rows)" | cmp - rows
gg-logits --to npz --compress 9 f32 >packed.npz
test "$(wc -c <packed.npz)" -lt "$(wc -c <f32.npz)" || echo "not smaller"
gg-logits f32.npz >none
echo "status $?"

echo 'what they look like'
gg-logits --to text sparse | head -n 4
gg-logits --to jsonl sparse | cut -c 1-100
gg-logits --to text f32 | grep -v '^[0-9]'

echo 'numbers at their limits'
cat >limits <<'END'
head	logits	12	00000000000000ff	f32	-	0 11	a\\b\x01\n

record	-	18446744073709551615	2147483647 0
0	-inf
1	inf
2	nan
3	1.17549435e-38
4	1.40129846e-45
5	3.40282347e+38
6	-3.40282347e+38
7	0.100000001
8	-0
9	16777216
10	-1.99999988
11	1.00000001e-10

end

END
gg-logits limits >bytes
gg-logits --to text bytes | diff limits - | tr '\n' ' '
echo
gg-logits --to jsonl bytes | sed -n 2p

echo 'what has no line is impossible'
grep -v '^7' limits | gg-logits | gg-logits --to text | grep '^7'

echo 'several members'
cat f32 f16 sparse >all
gg-logits --to text all | gg-logits | cmp - all
gg-logits --to npz all >none
echo "status $?"

echo 'rows'
gg-logits --to npy f32 >rows
gg-logits --like f32 rows | cmp - f32
gg-logits --like f16 rows | cmp - f16
gg-logits rows | gg-logits --to text | grep -v '^[0-9]'
tail -c +129 rows | od -An -tfF -w4 -v | tr -d ' ' | head -n 2
gg-logits --to text f32 | sed -n '/^record/,/^$/p' | sed -n 2,3p

echo 'embeddings'
sed 's/logits/embeddings/' limits | gg-logits >vectors
for form in text; do
    gg-logits --to $form vectors | gg-logits | cmp - vectors
done
gg-logits --keep 2 vectors >none
grep -v '^7' limits | sed 's/logits/embeddings/' | gg-logits >none
true
