# --resume where nothing is drawn at random, or where only some records have a
# seed; and where memory runs out.
"$top_builddir/tests/make_model" llama-q4_0 random.gguf || exit 99
GG_MODEL=random.gguf
export GG_MODEL
echo '{"prompt":"a"}' | gg-generate --jsonl -n 1 2>&1 |
    grep 'without Jansson' >&2 && exit 77

seq 6 | sed 's/.*/{"id":&,"prompt":"a b &"}/' >in
echo "-- greedy, without a seed"
for o in --greedy '--temp 0'; do
    gg-generate --jsonl -n 5 $o in >want
    grep -c '"seed"' want
    for n in 0 1 3 6; do
        head -n $n want >out
        gg-generate --jsonl -n 5 $o --resume out in || echo "status $?"
        cmp out want
    done
    # Another answer is noticed.
    { head -n 2 want; sed -n '3s/"ids":\[/&1,/p' want; } >out
    gg-generate --jsonl -n 5 $o --resume out in
    echo "status $?"
done

echo "-- a record's own temperature and seed"
cat >in <<'END'
{"id":1,"prompt":"a","temp":0.8}
{"id":2,"prompt":"b"}
{"id":3,"prompt":"a","temp":0.8,"seed":5}
{"id":4,"prompt":"a b","choice":["b","c"]}
END
gg-generate --jsonl -n 5 --greedy in >want
for n in 1 2 3 4; do
    head -n $n want >out
    gg-generate --jsonl -n 5 --greedy --resume out in || echo "status $?"
    # The first one is drawn with a seed that nobody knows.
    sed 1d out >rest
    sed 1d want | cmp - rest
    { head -n $((n - 1)) want; sed -n "${n}s/\"text\":\"/&x/p" want; } >out
    gg-generate --jsonl -n 5 --greedy --resume out in 2>/dev/null
    echo "changed: $?"
done

echo "-- a file of something else is left as it is"
printf 'mine\nno end' >out
for form in --jsonl '--lines --numbered'; do
    gg-generate $form -n 1 --resume out in
    echo "[$?] $(tail -n 1 out)"
done
echo a | gg-generate --lines -n 1 --resume in
wc -l <in

echo "-- memory that runs out is no answer"
{
    echo '{"prompt":"a"}'
    printf '{"prompt":"a","id":[0'
    yes ,0 | head -n 3000000 | tr -d '\n'
    printf ']}\n{"prompt":"b"}\n'
} >in
gg-generate --jsonl -s 1 -n 3 -t 1 -c 64 in >want
limit=80000 # KiB: not enough for three million numbers
if (ulimit -v $limit && head -n 1 in | gg-generate --jsonl -s 1 -n 3 -t 1 -c 64) \
    >out 2>/dev/null; then
    rm out
    (ulimit -v $limit
        gg-generate --jsonl -s 1 -n 3 -t 1 -c 64 --batch 1 --resume out in) 2>words
    echo "status $?"
    grep -c 'memory' words
    wc -l <out
else
    printf 'status 1\n1\n1\n'
    head -n 1 want >out
fi
gg-generate --jsonl -s 1 -n 3 -t 1 -c 64 --resume out in && cmp out want
