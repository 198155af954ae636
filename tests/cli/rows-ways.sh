# A prompt with rows that are copies of tokens' embeddings is answered as the
# tokens are, whatever way it is computed: a draft, types of the cache, batches,
# threads, a context that is full, a control vector, a state, choices. A block of rows
# gives the same bytes in each of them.
make=$top_builddir/tests
"$make/make_model" llama-f32:7 model.gguf && "$make/make_model" llama-f32 draft.gguf || exit 99
GG_MODEL=model.gguf
export GG_MODEL
"$make/make_adapter" --control model.gguf 6 control.gguf || exit 99
printf 'one, two @ three, four and one, two ' >text
sed 's/ @ / a b c d /' text >plain
words='97 32 98 32 99 32 100' # a b c d
# shellcheck disable=SC2086
"$make/make_rows" model.gguf $words >rows && "$make/make_rows" -b model.gguf $words >block ||
    exit 99
answer() { gg-generate -q -n 12 --seed 3 "$@" || echo "gg-generate: $?"; }
block() { answer --rows block --marker @ -f text "$@"; }
way() {
    answer -f plain "$@" >want
    answer --rows rows --marker @ -f text "$@" >got
    cmp want got && test -s got && echo "$*"
}
echo "-- as the tokens"
way --draft prompt
way --draft draft.gguf
way --cache-type f32
way --cache-type bf16 --draft prompt
way -t 3 --batch-size 5
way -n 40 -c 50 --shift
way -n 40 -c 50 --shift --draft draft.gguf
way --control-vector control.gguf=2
way --choice a,b,cd --scores
way --choice a,b,cd
way --grammar 'root ::= [a-z ]+'
way --ban e --ban a
echo "-- a block"
block >want
for way in '--draft prompt' '--draft draft.gguf' '-t 1' '-t 3' '--batch-size 7' '--save s.gguf'; do
    # shellcheck disable=SC2086
    block $way >got
    cmp want got && echo "$way"
done
echo "-- sequences side by side"
numbered() { awk '/^#/ { print; next } { for (i = 1; i < 5; i++) print i "\t" $0 }'; }
gg-tokenize -q plain | numbered >ids
gg-tokenize -q --rows rows --marker @ text | numbered >row.ids
for way in '' '--slots 1 --batch 1' '--batch 3 --batch-size 7' '--slots 2 --remember 0' '--cache-type f32 --every'; do
    # shellcheck disable=SC2086
    gg-eval -q --top 20 $way ids >want && gg-eval -q --top 20 $way --rows rows row.ids >got
    cmp want got && test -s got && echo "gg-eval $way"
done
echo "-- refused"
block --batch-size 6
