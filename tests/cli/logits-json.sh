# gg-logits: JSON lines and back; what is refused of them.
echo '{' | gg-logits 2>&1 | grep 'without Jansson' >&2 && exit 77
printf '1\t5 6 7\n2\t8\n1\t9\n3\t1 2 3 4 5 6 7 8 9\n2\t\n1\t4\n' >lines
fake_eval -v 50 -c 8 <lines >f32
gg-logits --f16 f32 >f16
gg-logits --keep 9 f32 >sparse
cat f32 f16 sparse >all
cat >limits <<'END'
head	logits	8	00000000000000ff	f32	-	0 7	a\\b\x01\n

record	-	18446744073709551615	2147483647 0
0	-inf
1	inf
2	nan
3	1.17549435e-38
4	1.40129846e-45
5	3.40282347e+38
6	-0
7	16777216

end

END
gg-logits limits >bytes
sed 's/logits/embeddings/' limits | gg-logits >vectors
for s in f32 f16 sparse all bytes vectors; do
    gg-logits --to jsonl $s >$s.jsonl
    gg-logits $s.jsonl | cmp - $s
    cat $s.jsonl | gg-logits --to jsonl | cmp - $s.jsonl
done

echo 'JSON of other programs'
cat >json <<'END'
{"head": {"kind": "logits", "n_vocab": 4, "fingerprint": "0123456789abcdef",
END
tr '\n' ' ' <json >json.1
echo '"encoding": "f32", "numbered": true, "eog": [], "writer": "\"x\""}}' >>json.1
echo '{"logits": [1, -Infinity, null, 2.5], "more": "-Infinity", "ids": [], "position": 3, "sequence": "18446744073709551615"}' >>json.1
echo '{"closed": true, "sequence": 7}' >>json.1
echo '{"end": true}' >>json.1
gg-logits --to text json.1

echo 'what is refused'
printf '1\t5 6 7\n2\t8\n' | fake_eval -v 20 | gg-logits --to jsonl >good.jsonl
json() {
    sed "$1" good.jsonl >bad
    gg-logits bad >out 2>err
    echo "$1: status $?"
    sed 's/: not JSON: .*/: not JSON/' err # the rest is Jansson's
}
json '1s/"head"/"tail"/'
json '1s/20,/20.5,/'
json '1s/"eog":\[/&20,/'
json '2s/"sequence":1,//'
json '2s/"position":3/"position":-3/'
json '2s/"ids":\[5/"ids":["5x"/'
json '2s/"logits":\[/&0,/'
json '2s/"logits":\[/&NaN,/'
json '2s/"logits":\[/&"x",/;2s/,[^,]*\]}/]}/'
json '2s/"logits":\[/&1e39,/;2s/,[^,]*\]}/]}/'
json '2s/}$//'
json '3,$d'
json '1d'
true
