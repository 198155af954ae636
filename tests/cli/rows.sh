# Rows of images and sounds stand among ids: where they are copies of tokens'
# embeddings, all tools give what the tokens give, in batches, chunks, shards
# and states, and what does not fit is refused.
make=$top_builddir/tests
"$make/make_model" llama-f32 model.gguf || exit 99
GG_MODEL=model.gguf
export GG_MODEL
printf 'one, two @ three, four' >text
words='97 32 98 32 99 32 100' # a b c d
rows() { "$make/make_rows" "$@" || echo "make_rows: $?"; }
# shellcheck disable=SC2086
rows $GG_MODEL $words , 98 98 >two && rows $GG_MODEL $words >one && rows -b $GG_MODEL $words >block &&
    rows -s $GG_MODEL $words >sound
as_text() { sed 's/ @ / a b c d /' "${1-text}"; }
top() { gg-eval -q --top 4 "$@" || echo "gg-eval: $?"; }
same() { # NAME
    cmp want got && echo "$1"
}

echo "-- ids"
gg-tokenize -q --rows one --marker @ text
gg-tokenize -q --rows one text
gg-tokenize -q --rows one --marker @ text | gg-tokenize -d && echo
gg-tokenize -q --rows one --marker @ text | gg-tokenize -d --rows one --special parse && echo
gg-tokenize -q --rows two --marker @ text >none || echo "status $?"
rows -n $GG_MODEL 97 , 98 , 99 >numbered
printf '@ @ @' | gg-tokenize -q --rows numbered --marker @ | gg-tokenize -d --special parse && echo
printf 'no place' | gg-tokenize -q --rows one --marker @ >none || echo "status $?"
printf 'x@y@z@' | gg-tokenize -q --rows two --marker @ >none || echo "status $?"

echo "-- logits"
as_text | gg-tokenize -q >ids
top ids >want
for rows in one sound block; do
    test $rows != block ||
        gg-tokenize -q --rows block --marker @ text | top --rows block >want
    for options in '-t 1' '-t 3' '--batch-size 8'; do
        # shellcheck disable=SC2086
        gg-tokenize -q --rows $rows --marker @ text | top --rows $rows $options >got
        same "$rows $options"
    done
done
echo "-- records, chunks, shards"
{ cat text; echo; echo 'nothing'; echo 'again @'; } >lines
sed 2q lines >first
gg-tokenize -q --lines --rows two --marker @ lines >ids.lines
top --rows two ids.lines | grep -c .
sed 's/@/a b c d/' first | gg-tokenize -q --lines | top >want
{ sed 1q ids.lines; sed -n 2,3p ids.lines; } | top --rows two >got
same lines
gg-tokenize -q --lines --rows one first | top --rows one >want
for i in 1 2; do
    gg-tokenize -q --lines --rows one --shard $i/2 first | top --rows one
done | sort -k1,1n -k3,3n | grep . >got
sort -k1,1n -k3,3n want | grep . >sorted && mv sorted want
same shards
gg-tokenize -q --rows one --marker @ text >ids.one
top ids >want
{ sed 1q ids.one; sed 1d ids.one | cut -d ' ' -f 1-12; sed 1d ids.one | cut -d ' ' -f 13-; } >ids.two
top --rows one ids.two | sed -n '6,$p' >got
same "a chunk that ends amid rows"
gg-tokenize -q --rows block --marker @ text >ids.block
{ sed 1q ids.block; sed 1d ids.block | cut -d ' ' -f 1-12; } | top --rows block

echo "-- scores"
gg-eval -q --score --rows one ids.one | cut -f 1-3
gg-eval -q --score --greedy --rows one ids.one | cut -f 1-3
gg-eval -q --perplexity -c 8 --rows one ids.one | cut -f 1,2

echo "-- states"
head -c 6 text >more
gg-eval -q --save s.gguf --rows one ids.one >none
top --rows one --load s.gguf ids >got
gg-eval -q --save t.gguf ids >none
top --load t.gguf ids >want
same "goes on with the rows"
gg-eval -q --load s.gguf --rows two ids >none 2>&1 && echo "with more media, too"
top --load s.gguf ids | cmp - got && echo "without them"

echo "-- the pipe, and one process"
loop() {
    gg-loop "gg-eval -q --rows $1 | gg-sample -q -n 12 --repeat-penalty 1.5 --seed 3" | gg-tokenize -q -d
}
for rows in one block sound; do
    gg-tokenize -q --rows $rows --marker @ text | loop $rows >want
    gg-generate -q --rows $rows --marker @ -f text -n 12 --repeat-penalty 1.5 --seed 3 >got
    same "$rows"
done
gg-tokenize -q --lines --rows one first | loop one >want
gg-generate -q --lines --rows one -f first -n 12 --repeat-penalty 1.5 --seed 3 >got
tr -d '\n' <want >want.text; tr -d '\n' <got >got.text
test -s want.text && wc -l <got
gg-generate -q --rows one -f text -n 12 --draft prompt --seed 3 >got
gg-generate -q --rows one -f text -n 12 --seed 3 >want
same drafts
gg-generate -q --lines --rows one --seed 3 -n 4 -o out -f first && cp out want
sed 1q out >got && gg-generate -q --lines --rows one --seed 3 -n 4 --resume got -f first
same resumed

echo "-- refused"
gg-eval -q ids.one || echo "status $?"
gg-eval -q --rows two ids.one || echo "status $?"
sed 's/#rows 0101/#rows 0102/' ids.one | gg-eval -q --rows one || echo "status $?"
sed 1d ids.one | gg-eval -q --rows one || echo "status $?"
# shellcheck disable=SC2086
rows -f 299 $GG_MODEL $words >wrong
gg-eval -q --rows wrong ids.one || echo "status $?"
gg-tokenize -q --rows wrong text || echo "status $?"
# shellcheck disable=SC2086
rows -w $GG_MODEL $words 97 >wrong
gg-eval -q --rows wrong ids.one || echo "status $?"
head -c 200 one >wrong
gg-eval -q --rows wrong ids.one || echo "status $?"
gg-eval -q --rows text ids.one || echo "status $?"
gg-eval -q --rows one --batch-size 4 ids.one >none && echo "rows in small batches"
gg-eval -q --rows block --batch-size 4 ids.block || echo "status $?"
gg-eval -v --rows one ids.one 2>&1 >none | grep -c 'projector abcd0'
gg-sample -q <one || echo "status $?"
