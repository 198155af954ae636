# Files of older formats are shown, run, and become GGUF, with the same logits.
t="$top_builddir/tests"
same() {
    gg-inspect --tensors "$1" >shown && gg-inspect "$1" | grep '^format'
    gg-inspect --json "$1" | grep '"format"'
    gg-convert "$1" new.gguf || echo "not converted"
    gg-inspect new.gguf | grep '^format'
    gg-inspect --tensors new.gguf | awk '{ print $1, $2 }' >got
    awk '{ print $1, $2 }' shown | cmp - got
    for m in "$1" new.gguf; do
        printf '1 5 9 200\n' | gg-eval -m "$m" --top 9 | cut -f 2-5 >logits.$m
    done
    cmp "logits.$1" logits.new.gguf
    printf '1 5 9 200\n' | gg-eval -m model.gguf --top 9 | cut -f 2-5 |
        cmp - "logits.$1"
}

"$t/make_model" gpt2-q4_0 model.gguf && "$t/make_old" ggml-0 model.gguf old
same old
gg-tokenize -m model.gguf <"$top_srcdir/README.md" >want
gg-tokenize -m old <"$top_srcdir/README.md" | cmp - want
gg-tokenize -m new.gguf <"$top_srcdir/README.md" | cmp - want
gg-generate -m old -p 'Once' -n 20 --seed 3 >a
gg-generate -m new.gguf -p 'Once' -n 20 --seed 3 | cmp - a

# The norms of such files have 1e-6.
"$t/make_model" llama-q8_0 model.gguf &&
    gg-convert --set llama.attention.layer_norm_rms_epsilon=1e-6 model.gguf ||
    exit 99
"$t/make_old" ggjt-1 model.gguf old && same old
"$t/make_old" ggjt-3 model.gguf old && same old
"$t/make_model" llama-f32 model.gguf && "$t/make_old" llama2c-0 model.gguf old
same old
rm tokenizer.bin
gg-inspect old; echo $?

# What is refused, and where.
head -c 3000 model.gguf >cut && gg-convert cut out; echo $?
"$t/make_old" ggmf model.gguf old && head -c 5000 old >cut
for tool in 'gg-inspect' 'gg-eval -m' 'gg-tokenize -m' 'gg-generate -p x -m'; do
    $tool cut </dev/null; echo $?
done
gg-convert cut out; echo $?
printf 'tjgg\5\0\0\0' >odd && gg-convert odd out; echo $?
printf 'PK\3\4....' >odd && gg-convert odd out; echo $?
printf 'nothing known' >odd && gg-convert odd out; echo $?
gg-convert model.gguf none/out; echo $?
gg-convert old /dev/full; echo $?
ls
