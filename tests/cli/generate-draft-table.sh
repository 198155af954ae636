# --draft-table changes no byte, and what jobs wrote before is known to the next.
make=$top_builddir/tests/make_model
"$make" llama-f32 model.gguf || exit 99
story=$GG_MODEL
export GG_MODEL=model.gguf
for word in abc bcd cde def efg fgh; do
    echo "a b $word a b"
done >lines
drafted() { # OPTION... : how many ids of drafts were accepted
    gg-generate -v --greedy --lines -f lines -n 30 --draft prompt "$@" 2>&1 >got |
        sed -n 's/.*draft:.*drafted, \([0-9]*\) accepted.*/\1/p'
    cmp got want
}
gg-generate --greedy --lines -f lines -n 30 >want
without=$(drafted)
first=$(drafted --draft-table table)
test -s table || echo 'no table'
second=$(drafted --draft-table table)
test "$second" -gt "$without" && test "$second" -ge "$first" ||
    echo "accepted: $without without, $first, then $second"
for o in '--temp 2 --top-k 0' '--mirostat 2' '--repeat-penalty 1.3'; do
    gg-generate -p 'a b abc' -n 40 -s 3 $o >want
    gg-generate -p 'a b abc' -n 40 -s 3 $o --draft-table table | cmp - want
done
echo '{"prompt":"a b abc","n":20,"greedy":true}' >records
gg-generate --jsonl <records >want
gg-generate --jsonl --draft-table table <records | cmp - want
cp table before
gg-inspect table

echo 'what is refused:' >&2
gg-generate --draft-table table --choice a,b -p a
gg-generate --draft-table table --draft mtp -p a
gg-generate -m "$story" --draft-table table -p a
gg-generate --draft-table table -o table -p a
gg-generate --draft-table table -f table -n 3
head -c 99 before >table
gg-generate --draft-table table -p a
printf 'GGD' >table
gg-generate --draft-table table -p a
gg-generate --draft-table . -p a
gg-generate --draft-table nonesuch/table -p a -n 3 >/dev/null
ls
