# Options that make no sense.
for o in --temp=-1 --temp=x --top-k=-1 --top-k=1.5 --top-p=2 --min-p=nan \
    --seed=-1 --seed=18446744073709551616 -n0 -nx -x --nothing; do
    gg-sample "$o" </dev/null
    echo "$?"
done
gg-sample one two
echo "$?"
gg-sample /no/such/file
echo "$?"
gg-sample .
echo "$?"
gg-sample --help | head -n 1
gg-sample --version | sed 's/[0-9.]*$//'
gg-sample --help >/dev/full
echo "$?"
