# Streams that are none, are cut short, or cannot be drawn from; outputs that
# fail.
printf 'Welcome to host\n\n' | gg-sample
echo "$?"
gg-sample </dev/null
echo "$?"
echo 1 2 3 | fake_eval >stream
head -c 100 stream | gg-sample --seed 1
echo "$?"
head -c 220 stream | gg-sample --greedy >id
echo "$?"
wc -l id
echo 1 2 3 | fake_eval -v 100000 | gg-sample --greedy >/dev/full
echo "$?"
gg-sample --greedy -o out stream && ls
gg-sample --greedy -o /no/such/folder/out stream
echo "$?"
gg-sample --greedy -o out </dev/null
echo "$?"
ls

# A record of NaN fails, those of other sequences do not.
printf '1\t6\n2\t5\n' | fake_eval -n 6 >nan
gg-sample --greedy nan | sed 's/\t[0-9][0-9]*/\tID/'
gg-sample --greedy nan >/dev/null 2>&1
echo "$?"
