# What goes round in gg-loop is what a shell would feed by hand.
limit() { timeout 60 "$@"; }
export FAKE_EVAL_EOG=none # no id ends a sequence

# One id at a time, everything evaluated anew.
ids='1 2 3' want=
for i in 1 2 3 4 5 6 7 8; do
    next=$(echo "$ids" | fake_eval | gg-sample --seed 5 --temp 2)
    ids="$ids $next" want="$want$next "
done
echo 1 2 3 | limit gg-loop 'fake_eval | gg-sample -n 8 --seed 5 --temp 2' |
    tr '\n' ' ' >got
test "$(cat got)" = "$want" && echo loop as by hand

# The same with a filter behind gg-sample, which sees no end of its own.
echo 1 2 3 | limit gg-loop 'fake_eval | gg-sample -n 8 --seed 5 --temp 2 | tee log' |
    tr '\n' ' ' >got
test "$(cat got)" = "$want" && test "$(tr '\n' ' ' <log)" = "$want" &&
    echo loop with tee as by hand

# The same through a FIFO: each process ends, and well.
mkfifo fifo
cat >script <<'END'
set -o pipefail
{ echo 1 2 3 && cat; } <fifo | fake_eval | gg-sample -n 8 --seed 5 --temp 2 |
    tee fifo | tr '\n' ' '
echo "${PIPESTATUS[*]}" >statuses
END
limit bash script >got
test "$(cat got)" = "$want" && echo FIFO as by hand
cat statuses

# Numbered sequences: one after the other, or three at once; each is counted
# and ended on its own, and none is the other's neighbour in vain.
printf '%s\n' '1	1 2 3' '2	4' '30	1 2 3' '4	5 6' >prompts
for batch in 1 3; do
    limit gg-loop --batch $batch 'fake_eval | gg-sample -n 6 --seed 5 --temp 2' \
        <prompts | sort -s -n -k 1,1 >batch-$batch
done
cmp batch-1 batch-3 && echo batches agree
grep -c . batch-1
for s in 1 2 30 4; do
    grep -q "^$s	\$" batch-1 || echo $s is not ended
done

# The last id of a sequence is not evaluated: 4 prompts of 5 ids more, 4 ends.
FAKE_EVAL_COUNT=1 limit gg-loop 'fake_eval | gg-sample -n 6 --seed 5 --temp 0' \
    <prompts 2>&1 >all | tr -d '\n' | wc -c
grep -c '	[0-9]' all

# An input that ends without a newline; one that is longer than any pipe.
printf '1 2 3' | limit gg-loop 'fake_eval | gg-sample -n 1 --greedy' >short
echo 1 2 3 | fake_eval | gg-sample -n 1 --greedy | cmp - short && echo no newline
seq 1 400000 | tr '\n' ' ' >long
echo >>long
limit gg-loop 'fake_eval | gg-sample -n 2 --greedy' <long >got
{ tr -d '\n' <long; sed -n 1p got; } | fake_eval | gg-sample --greedy >second
sed -n 2p got | cmp - second && echo long line
