# The longest token at each place. The ids are those that gpt_tokenize() of
# ggml's examples/common.cpp made with the vocabulary of this file.
make_model gpt2-f32 model.gguf && make_old ggml model.gguf old
text="it's ab  bgcl 12'345 we'll <|control|>, é—\n\n x\t\ty''s  "
printf "$text" | gg-tokenize -m old --tokenizer greedy
printf "$text" | gg-tokenize -m model.gguf --tokenizer greedy --special parse
printf "$text" | gg-tokenize -m model.gguf --tokenizer greedy --lines
printf "$text" | gg-tokenize -m old --tokenizer exact --count
printf "abgc" | gg-tokenize -m old --tokenizer greedy --offsets

# A text of any length, with any number of threads.
for i in 1 2 3 4 5 6 7 8; do cat "$top_srcdir"/lib/vocab/*.c; done >text
gg-tokenize -m old --tokenizer greedy --special parse <text >want
gg-tokenize -m old --tokenizer greedy --special parse -t 3 text | cmp - want
gg-tokenize -m old --special parse -d <want | cmp - text

# z has no token any more.
LC_ALL=C sed 's/\x01\x00\x00\x00z/\x01\x00\x00\x00y/' old >less
printf 'pizza z' | gg-tokenize -m less --tokenizer greedy; echo $?
printf 'pizza\nz\na' | gg-tokenize -m less --tokenizer greedy --lines; echo $?

gg-tokenize -m old --tokenizer greedy --chat </dev/null; echo $?
gg-tokenize -m old --tokenizer odd </dev/null; echo $?
