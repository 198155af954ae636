# However ids are cut into lines, and with any number of threads, the logits
# after them are the same bytes; so they are for sequences side by side.
"$top_builddir/tests/make_model" llama-q8_0 model.gguf || exit 99
GG_MODEL=model.gguf
export GG_MODEL
ids=$(seq -s ' ' 1 280)
echo "$ids" >whole
echo "$ids" | tr ' ' '\n' >single
echo "$ids" | cut -d ' ' -f 1-100 >cut
echo "$ids" | cut -d ' ' -f 101- >>cut

# The text form names position and ids' probabilities: enough to compare.
gg-eval --top 20 whole >want || exit
for t in 1 2 3; do
    gg-eval -t $t --top 20 single | tail -n 21 | cmp - want
    gg-eval -t $t --top 20 cut | tail -n 21 | cmp - want
done
gg-eval --batch-size 7 --top 20 whole | cmp - want
gg-eval -c 280 --top 20 <whole | cmp - want
gg-eval --top 20 -f whole -o out && cmp out want

# Binary records: all of them but the head and the chunk's ids.
gg-eval -t 1 single >one && gg-eval -t 3 single | cmp - one

# Sequences side by side, with a slot each, and with one for all of them.
head -n 90 single | sed 's/^/7	/' >seven
sed 's/^7/8/' seven >eight
paste -d '\n' seven eight >both
gg-eval --top 20 both >with && gg-eval --top 20 --slots 1 both | cmp - with
for s in 7 8; do
    awk -v s=$s '$1 == s' with | tail -n 20 | cut -f 2- >got
    head -n 90 single | gg-eval --top 20 | tail -n 21 | head -n 20 |
        cut -f 2- | cmp - got
done
