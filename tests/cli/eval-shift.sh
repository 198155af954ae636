# --shift: a context that is full loses its older half, and goes on; the pipe
# and gg-generate do it alike.
prompt='Once upon a time there was a'
compare() { # CONTEXT N OPTION ...
    c=$1 n=$2
    shift 2
    gg-generate -q -p "$prompt" -c $c -n $n -s 5 --ignore-eog --shift "$@" >want
    printf %s "$prompt" | gg-tokenize -q | gg-loop "gg-eval -q -c $c --shift |
        gg-sample -n $n -s 5 --ignore-eog" | gg-tokenize -q -d | cmp - want
    test -s want || echo "nothing is generated"
}
if test -f "$GG_MODEL"; then
    compare 64 200
    compare 33 70

    # A leading BOS stays, which is id 1407 here.
    { echo 1407 $(seq -s ' ' 11 25); echo 40; } |
        gg-eval -q -c 16 --shift --top 5 | tail -n 6 | cut -f 3- >got
    { echo 1407 $(seq -s ' ' 19 25); echo 40; } | gg-eval -q --top 5 |
        tail -n 6 | cut -f 3- | cmp - got
fi
for kind in gpt2-f16 llama-q8_0; do
    "$top_builddir/tests/make_model" $kind model.gguf || exit 99
    GG_MODEL=model.gguf
    export GG_MODEL
    compare 64 200
    compare 64 200 -t 1
    compare 33 50
done

gg-generate -v -p "$prompt" -c 64 -n 200 -s 5 --ignore-eog --shift 2>&1 \
    >out | grep dropped | sort | uniq -c

# It is as if what is left were a new sequence, whose position goes on.
ids=$(seq -s ' ' 11 26)
{ echo $ids; echo 40; echo 41; } | gg-eval -c 16 --shift --top 5 -v 2>err |
    cut -f 2- >got
grep -c '8 ids dropped' err
{ seq -s ' ' 19 26; echo 40; echo 41; } | gg-eval --top 5 | cut -f 3- |
    tail -n 12 >want
tail -n 12 got | cut -f 2- | cmp - want
awk 'NF && $1 != last { print last = $1 }' got

# Side by side, line by line, or with a place for one only: the same.
awk 'BEGIN { for (i = 0; i < 60; i++) for (s = 1; s < 4; s++)
    print s "\t" (i * s) % 200 + 1 (i % 7 ? "" : " 3 4 5") }' >three
gg-eval -c 32 --shift --batch 1 three >want
gg-eval -c 32 --shift three | cmp - want
gg-eval -c 32 --shift --slots 1 three | cmp - want

# More at once than the whole context stays an error; without --shift, so does
# a context that is full.
{ seq -s ' ' 1 17; seq -s ' ' 1 16; echo 1; } | gg-eval -c 16 --shift --top 1 |
    cut -f 2
{ seq -s ' ' 1 16; echo 1; } | gg-eval -c 16 --top 1 | cut -f 2
gg-generate -p "$prompt" -c 4 -n 100 --shift
echo "status $?"
