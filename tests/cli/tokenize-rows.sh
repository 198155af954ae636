# Token streams with rows of images or sounds: -d makes nothing of them, and
# what takes no rows refuses the line that names their media.
"$top_builddir/tests/make_model" llama-f32 model.gguf || exit 99
GG_MODEL=model.gguf
export GG_MODEL
hash=$(printf '%064d' 0)
printf 'one two' | gg-tokenize -q --no-bos >ids
{ echo "#rows $hash"; echo "$(cat ids) 300 301 302 $(cat ids)"; } >rows
gg-tokenize -d rows
echo
sed 1d rows | gg-tokenize -d >/dev/null || echo "status $?"
sed 's/#rows 0/#rows x/' rows | gg-tokenize -d || echo "status $?"
for options in '' --score --perplexity '--imatrix importance.gguf'; do
    # shellcheck disable=SC2086
    gg-eval -q $options rows >/dev/null || echo "status $?"
done
gg-train -q -o trained.gguf rows || echo "status $?"
test ! -e importance.gguf && test ! -e trained.gguf || echo 'a file is there'
