# gg-logits in a loop: each record goes on as soon as it is there.
echo '{}' | gg-logits 2>&1 | grep 'without Jansson' >&2 && exit 77
echo 5 6 7 >prompt
gg-loop 'fake_eval | gg-logits --bias 3=-inf | gg-sample -n 30 --seed 2' \
    <prompt >direct
wc -l <direct
# mawk else waits for a whole buffer of input.
awk=awk
awk -W version </dev/null 2>&1 | grep -q mawk && awk='awk -W interactive'
export awk
gg-loop 'fake_eval | gg-logits --to text | $awk -F "\t" -v OFS="\t" "
    NF == 2 && \$1 == 3 { \$2 = \"-inf\" } { print; fflush() }" | gg-logits |
    gg-sample -n 30 --seed 2' <prompt | cmp - direct
gg-loop 'fake_eval | gg-logits --to jsonl | gg-logits --bias 3=-inf |
    gg-sample -n 30 --seed 2' <prompt | cmp - direct
# Two models in a loop: each gets all ids.
mkfifo ids other
gg-loop 'tee ids | fake_eval | gg-logits --mix -=1 other=1 |
    gg-logits --bias 3=-inf | gg-sample -n 30 --seed 2' <prompt >mixed &
fake_eval <ids >other
wait
wc -l <mixed

echo 'in numbered streams'
printf '1\t5\n2\t6\n3\t7\n' >prompts
gg-loop 'fake_eval | gg-logits --keep 60 | gg-sample -n 9 --seed 2' \
    <prompts | sort -sn >sparse
gg-loop 'fake_eval | gg-sample -n 9 --seed 2' <prompts | sort -sn | cmp - sparse
