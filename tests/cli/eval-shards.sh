# A model in shards gives the bytes that it gives whole, however it is opened.
"$top_builddir/tests/make_model" llama-q8_0 model.gguf || exit 99
mkdir parts
"$top_builddir/tests/split_model" model.gguf parts/model 3 || exit 99
first=parts/model-00001-of-00003.gguf
second=parts/model-00002-of-00003.gguf
printf 'abcd' | gg-tokenize -q -m model.gguf >ids
gg-eval -m model.gguf <ids >whole
for option in '' --no-mmap; do
    gg-eval $option -m $first <ids | cmp - whole
done
gg-eval --mlock -m $first <ids >got 2>err ||
    grep -q 'cannot be kept in memory' err && cp whole got
cmp got whole

# Where weights lie too odd to stay mapped, they are copied out of all files.
"$top_builddir/tests/split_model" model.gguf odd 3 8 || exit 99
gg-eval -m odd-00001-of-00003.gguf <ids | cmp - whole

# More files than tensors: some have none.
"$top_builddir/tests/split_model" model.gguf many 40 || exit 99
gg-eval -m many-00001-of-00040.gguf <ids | cmp - whole

# A later one is refused with the name of the first, in every tool.
gg-eval -m $second <ids
gg-tokenize -m $second <ids

# Without the others the first is enough for the vocabulary, not for logits.
rm parts/*-00003-*
printf 'abcd' | gg-tokenize -m $first | cmp - ids
gg-eval -m $first <ids

# Shards that are links into another folder, as download caches have them.
"$top_builddir/tests/split_model" model.gguf parts/model 3 || exit 99
mkdir links blobs
for i in 1 2 3; do
    mv parts/model-0000$i-of-00003.gguf blobs/$i
    ln -s ../blobs/$i links/name-0000$i-of-00003.gguf
done
gg-eval -m links/name-00001-of-00003.gguf <ids | cmp - whole

# One that is cut while it is in use: a message.
mkfifo in
gg-eval -m links/name-00001-of-00003.gguf <in >logits 2>err &
exec 3>in
echo 1 >&3
until test -s logits; do sleep 0.05; done # it is open
: >blobs/3
cat ids >&3
exec 3>&-
wait $! && echo 'logits of what is gone'
cat err
