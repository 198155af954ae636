# gg-sample on numbered sequences: each is counted and ended on its own.
export FAKE_EVAL_EOG=none
tab=$(printf '\t')

echo 'a limit per sequence'
printf '%s\n' "1${tab}5" "2${tab}5" "1${tab}6" "1${tab}7" "2${tab}8" |
    fake_eval | gg-sample --greedy -n 2 | sed 's/\t[0-9][0-9]*/\tID/'

echo 'an end that comes from above'
printf '%s\n' "1${tab}5" "1${tab}" "1${tab}5" "2${tab}" | fake_eval |
    gg-sample --greedy | sed 's/\t[0-9][0-9]*/\tID/'

echo 'a number is free again when its end has come round'
printf '%s\n' "1${tab}5" "1${tab}6" "1${tab}" "1${tab}7" | fake_eval |
    gg-sample --greedy -n 1 | sed 's/\t[0-9][0-9]*/\tID/'

echo 'an error ends its sequence, and is passed on once'
printf '%s\n' "1${tab}5" "2${tab}!bad" "2${tab}!bad" "1${tab}6 7 8" "1${tab}9" |
    fake_eval -c 3 | gg-sample --greedy | sed 's/\t[0-9][0-9]*/\tID/'

echo 'neighbours change nothing'
for s in 3 4 5; do
    echo "$s${tab}1 2 3"
done >all
fake_eval <all | gg-sample --seed 1 --temp 9 --top-k 0 | sort >together
while read -r line; do
    echo "$line" | fake_eval | gg-sample --seed 1 --temp 9 --top-k 0
done <all | sort | cmp - together

echo 'many'
seq 20000 | sed "s/\$/${tab}1 2/" >many
fake_eval_many() { # fake_eval holds few at a time
    awk '{ print; print $1 "\t" }' many | fake_eval
}
fake_eval_many | gg-sample -n 1 --seed 1 >out
grep -c "${tab}[0-9]" out
grep -c "${tab}\$" out
