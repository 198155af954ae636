# The date that templates take: of an option, a state, the run that is resumed,
# the environment, else the clock.
test -f "$GG_MODEL" || { echo "no demo model" >&2 && exit 77; }
echo '{"role":"user","content":""}' | gg-tokenize -q --chat --template alpaca \
    2>&1 | grep 'without Jansson' >&2 && exit 77
unset SOURCE_DATE_EPOCH
printf '%s' '{{ strftime_now("%Y-%m-%d %H:%M:%S") }}{% for m in messages %} {{ m.content }}{% endfor %}' >date.jinja
printf '%s' '{% for m in messages %}{{ m.content }}{% endfor %}' >none.jinja
echo '{"role":"user","content":"Hi"}' >hi

echo "-- --date"
show() {
    gg-tokenize -q --chat --template date.jinja --text hi "$@"
    echo " [$?]"
}
show --date 2024-02-29
show --date 2024-02-29Z
show --date 2024-02-29T23:59
show --date 2024-02-29T23:59:58Z
show --date 1700000000
for bad in '' 0 -1 1.5 now 2023-02-29 2024-1-1 2024-01-01T24:00 2024-01-01T1:00 \
    2024-01-01T10 2024-01-01T10:00:00+01:00 '2024-01-01 10:00' 1960-01-01 \
    99999999999999; do
    show --date "$bad"
done
gg-tokenize -q --date 2024-02-29 hi
gg-generate -q --date 2024-02-29 -p a

echo "-- SOURCE_DATE_EPOCH"
SOURCE_DATE_EPOCH=1700000000 show
SOURCE_DATE_EPOCH=1700000000 show --date 2024-02-29
SOURCE_DATE_EPOCH=yesterday show
SOURCE_DATE_EPOCH=yesterday gg-generate -q --chat --template date.jinja -p Hi
echo "[$?]"
now=$(show | cut -c 1-4)
test "$now" -ge 2024 || echo "the clock says $now"

echo "-- a state keeps it"
turn() {
    gg-generate -q --chat --template date.jinja --state s -n 4 -s 1 "$@" >/dev/null
    gg-inspect --key state.date s
}
turn --date 2024-02-29 -p a
turn -p b
SOURCE_DATE_EPOCH=1700000000 turn -p c
turn -p d --date 2024-03-01
rm s
gg-generate -q --chat --template none.jinja --save s -n 4 -p a >/dev/null
gg-inspect --key state.date s
# What the prompt had: the same as with the date of the first turn.
rm s
printf 'a\nb\n' | gg-generate -q -i --template date.jinja --date 2024-02-29 -n 4 -s 1 >want
turn --date 2024-02-29 -p a >/dev/null
gg-generate -q --chat --template date.jinja --load s -n 4 -s 1 -p b >second
tail -n 1 want | tr -d '\n' | cmp - second

echo "-- resumed"
for i in 1 2 3; do
    echo "{\"id\":$i,\"messages\":[{\"role\":\"user\",\"content\":\"$i\"}]}"
done >in
run() {
    gg-generate -q --jsonl --template date.jinja -n 4 -s 1 "$@" in
    echo "[$?]"
}
run --date 2024-02-29 -o want
cut -d , -f 2- want | grep -o '"[a-z_]*":[0-9]*' | grep date
head -n 1 want >out
run --resume out
cmp out want
head -n 2 want >out
SOURCE_DATE_EPOCH=1700000000 run --resume out
cmp out want
head -n 2 want >out
run --resume out --date 2024-02-29
cmp out want
head -n 2 want >out
run --resume out --date 2024-03-01
sed '2s/"template_date":[0-9]*/"template_date":1/' want >out
run --resume out
gg-generate -q --jsonl --template none.jinja -n 4 -s 1 in | grep -c date
# Nothing there has a place for it.
head -n 1 in | grep -o '[0-9]' >lines
plain() {
    gg-generate -q --lines --chat --template date.jinja -n 4 -s 1 "$@" lines
    echo "[$?]"
}
plain --resume text
plain --resume text --date 2024-02-29
SOURCE_DATE_EPOCH=1709164800 plain --resume text
plain >/dev/null
wc -l <text
