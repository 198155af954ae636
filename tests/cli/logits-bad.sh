# gg-logits: what it refuses, and how it says so.
printf '1\t5 6 7\n2\t8\n' | fake_eval -v 20 >a
gg-logits --to text a >good.text
gg-logits --to npz --compress 6 a >good.npz
gg-logits --to npy a >good.npy
try() {
    echo "$*"
    shift
    gg-logits "$@" >out 2>err
    echo "status $?, $(wc -c <out | tr -d ' ') bytes"
    cat err
}
# Changes the good text, and tries it.
text() {
    sed "$1" good.text >bad
    gg-logits bad >out 2>err
    echo "$1: status $?"
    cat err
}
echo text
text '1s/logits/logit/'
text '1s/\t20\t/\t0\t/'
text '1s/\t20\t/\t99999999\t/'
text '1s/f32/f64/'
text '1s/numbered/yes/'
text '1s/\t[^\t]*$//'
text '1s/\(\t[^\t]*\)$/\\q\1\\q/'
text '1d'
text '3s/1/x/'
text '3s/record\t1/record\t-/'
text '3s/3\t/18446744073709551616\t/'
text '3s/5 6/5 -6/'
text '3s/$/\t1/'
text '3s/record/rekord/'
text '5s/^1/0/'
text '5s/^1/20/'
text '5s/\t.*/\t0x1/'
text '5s/\t.*/\t1e39/'
text '5s/\t.*/\t/'
text '5s/\t/ /'
text '$d;/^end/d'
text '10q'
text '2a record\t1\t1\t'
text '2a end'
tr 2 '\000' <good.text | gg-logits >out
printf '' | gg-logits >out
echo arrays
head -c 100 good.npy | gg-logits >out
head -c 250 good.npy | gg-logits >out
sed 's/<f4/>f4/' good.npy | gg-logits >out
sed 's/False/True /' good.npy | gg-logits >out
sed 's/(2, 20)/(2, 0) /' good.npy | gg-logits >out
sed 's/(2, 20)/(9e9,) /' good.npy | gg-logits >out
sed "s/'shape'/'shade'/" good.npy | gg-logits >out
gg-logits --like a good.text >out
printf '1\t5\n' | fake_eval -v 20 >one
gg-logits --like one good.npy >out
gg-logits --to npy one | gg-logits --like a >out
printf '1\t5\n' | fake_eval -v 21 | gg-logits --to npy | gg-logits --like one >out
echo archives
gg-logits good.npz >out
echo "status $?"
printf PK | gg-logits >out
echo others
echo Welcome | gg-logits >out
printf -- '-\t1\t1\t5\t-1\tx\n\n' | gg-logits >out
head -c 200 a | gg-logits --to text >out
echo "status $?"
gg-logits none >out
try 'misuse' --to xml a
try 'misuse' --bias 3 a
try 'misuse' --bias x=3 a
try 'misuse' --bias 3=inf a
try 'misuse' --keep 3 --f16 a
try 'misuse' --largest 3 a
try 'misuse' --mix-by logarithms a
try 'misuse' --compress 3 a
try 'misuse' --mix a
try 'misuse' --mix a=x
try 'misuse' --mix a=1 a=-1
try 'misuse' a a
try 'a mask' --mask a a
echo 1 x >ids
try 'a mask' --forbid ids a
echo 20 >ids
try 'a mask' --mask ids a
gg-logits --keep 3 a | gg-logits --to npy >out
true
