# Weights of F16 in products of BF16: the same text from a pipe and in one
# process, for any number of threads, in prompts cut anyhow; and by default, or
# where there are no such products, exact ones.
"$top_builddir/tests/make_model" llama-f16 model.gguf || exit 99
text() {
    gg-generate -m model.gguf -p abcdefgh -n 60 -s 3 "$@" | cksum
}
for t in 1 2 3; do
    text --precision bf16 -t $t --batch-size $((t * t))
done | uniq | wc -l | tr -d ' '
text --precision bf16 >want
printf abcdefgh | gg-tokenize -m model.gguf >prompt
gg-loop 'gg-eval -m model.gguf --precision bf16 | gg-sample -n 60 -s 3' \
    <prompt | gg-tokenize -m model.gguf -d | cksum | cmp - want
text >exact
text --precision exact | cmp - exact
GG_CPU_ISA=c text >exact
GG_CPU_ISA=c text --precision bf16 | cmp - exact
echo "status $?"
