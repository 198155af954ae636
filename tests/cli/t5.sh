# An encoder before a decoder: the same bytes from the pipe, in one process, in
# batches, from states, with drafts; how the ids are parted; what is refused.
"$top_builddir/tests/make_case" "$top_srcdir/tests/fixtures/families/t5.case" \
    scratch folder || exit 99
"$top_builddir/tests/make_model" llama-f32 draft.gguf || exit 99
gg-convert -q --set t5.decoder_start_token_id=3 folder model.gguf
GG_MODEL=model.gguf
export GG_MODEL

# The text ends with EOS and the decoder's first id.
printf 'the cat sat' >text
gg-tokenize text >ids
sed 's/.* \([0-9]* [0-9]*\)$/\1/' ids

set -- --seed 3 --ignore-eog -n 24
gg-generate -f text "$@" >want
gg-tokenize text | gg-loop "gg-eval | gg-sample $*" | gg-tokenize -d | cmp - want
gg-generate -f text "$@" -t 3 --batch-size 5 | cmp - want
gg-generate -f text "$@" --draft prompt | cmp - want
gg-generate -f text "$@" --draft draft.gguf | cmp - want

# Records, together and alone.
printf '{"prompt":"%s","seed":3,"n":12}\n' 'the cat sat' 'a' 'the cat sat' \
    'on the mat' >jobs
gg-generate --jsonl --ignore-eog jobs >together
gg-generate --jsonl --ignore-eog --batch 1 jobs | cmp - together

# In pieces, from a state.
{ cat ids; printf '%s\n' 5 6 7 8; } >lines
gg-eval --top 1 lines | awk 'NF { $1 = $2 = ""; print }' >want
tail -n 1 want >last
tr '\n' ' ' <lines | gg-eval --top 1 | awk 'NF { $1 = $2 = ""; print }' |
    cmp - last
head -n 3 lines | gg-eval --top 1 --state s >got
tail -n +4 lines | gg-eval --top 1 --state s >>got
awk 'NF { $1 = $2 = ""; print }' got | cmp - want

# The encoder's ids by their number.
n=$(awk '{ print NF - 1 }' ids)
gg-eval --top 1 --encoder-ids "$n" lines | awk 'NF { $1 = $2 = ""; print }' |
    cmp - want
gg-eval --score ids # all of which are given

# The decoder's oldest ids go, not the encoder's.
gg-generate -f text "$@" -n 40 -c 24 --shift >/dev/null && echo shifted

echo '5 6 7' | gg-eval --top 1
echo '3 5' | gg-eval --top 1
gg-eval --embed mean ids >/dev/null
gg-eval -m draft.gguf --encoder-ids 4 --top 1 ids
gg-inspect --memory | grep -c cache
