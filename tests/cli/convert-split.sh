# A model in several files, and in one again; all or none of them.
make_model qwen2moe-f16 model.gguf || exit 99
gg-convert --split 60000 model.gguf part.gguf && ls
gg-inspect part-00002-of-00006.gguf | grep 'split\.'
gg-convert part-00001-of-00006.gguf whole.gguf && cmp whole.gguf model.gguf
printf '1 5 9 200\n' | gg-eval -m model.gguf --top 9 >want
printf '1 5 9 200\n' | gg-eval -m part-00001-of-00006.gguf --top 9 | cmp - want
for f in part-*; do test "$(wc -c <$f)" -lt 80000 || echo "$f is too large"; done
rm part-*

# One tensor a file; one file; with a type.
gg-convert --split 1 model.gguf part; ls | grep -c '^part-000.*-of-00037.gguf$'
gg-convert part-00001-of-00037.gguf whole.gguf && cmp whole.gguf model.gguf
rm part-*
gg-convert --split 1G --type Q8_0 model.gguf part && ls part-*
gg-convert part-00001-of-00001.gguf whole.gguf
gg-convert --type Q8_0 model.gguf want && cmp want whole.gguf
rm part-* want whole.gguf

# What fails half-way leaves nothing.
mkdir part-00003-of-00006.gguf
gg-convert --split 60000 model.gguf part; echo $?; ls
rmdir part-*
sh -c 'ulimit -f 100; gg-convert --split 60000 model.gguf part; exit $?' \
    2>/dev/null
test $? -gt 1 && ls
gg-convert --split 1000 model.gguf none/part; echo $?
gg-convert --split 1X model.gguf part; echo $?
gg-convert --split 0 model.gguf part; echo $?
gg-convert --split 1M model.gguf -; echo $?
