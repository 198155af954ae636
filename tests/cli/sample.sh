# gg-sample on a stream without numbers.
export FAKE_EVAL_EOG=none

echo 'one record in, one id out'
echo 1 2 3 | fake_eval | gg-sample --seed 1 | grep -cx '[0-9]*'
seq 5 | fake_eval | gg-sample --seed 1 | wc -l

echo 'as soon as it is there'
mkfifo in out
fake_eval <in | gg-sample --greedy >out &
exec 3>in 4<out
echo 1 2 >&3
read -r id <&4 && echo "$id" | grep -cx '[0-9]*'
echo "$id" >&3
read -r id <&4 && echo "$id" | grep -cx '[0-9]*'
exec 3>&- 4<&-
wait

echo 'the seed decides, and nothing else'
seq 30 >prompt
fake_eval <prompt >stream
gg-sample --seed 7 --temp 3 stream >a
gg-sample -s 7 --temp 3 - <stream >b
gg-sample -s 8 --temp 3 <stream >c
cmp a b
cmp -s a c || echo differs
gg-sample -v --temp 3 stream 2>seed >a
gg-sample -s "$(sed 's/gg-sample: seed //' seed)" --temp 3 stream | cmp - a

echo 'greedy'
gg-sample --greedy stream >a
gg-sample --temp 0 --seed 3 stream | cmp - a
gg-sample --top-k 1 stream | cmp - a
gg-sample --top-p 0 stream | cmp - a

echo 'the end: after -n, or at the id that ends a generation'
gg-sample -n 3 stream | wc -l
unset FAKE_EVAL_EOG
gg-sample --seed 7 --temp 9 --top-k 0 stream >free
grep -qx 0 free || echo 'the seed should bring a 0'
fake_eval <prompt | gg-sample --seed 7 --temp 9 --top-k 0 >ended
sed '/^0$/q' free | cmp - ended

echo 'its input is read to the end'
seq 3000 | { fake_eval -v 5000; echo $? >status; } | gg-sample -n 1 | wc -l
cat status

echo 'several streams in a file'
cat stream stream >twice
gg-sample -n 2 --seed 1 twice | wc -l
gg-sample -n 2 --seed 1 twice -o file
gg-sample -n 2 --seed 1 <twice | cmp - file

echo 'candidates as text'
printf -- '-\t3\t1\t40\t-0.1\tx\n-\t3\t2\t50\t-3\ty\n\n' | gg-sample --greedy
printf '8\t3\t1\t40\t-0.1\tx\n\n8\t!too long\n' | gg-sample --greedy
echo "status $?"
