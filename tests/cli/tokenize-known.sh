# Ids that are known: those of GPT-2 and LLaMA.
test -n "$GG_TEST_VOCAB" || {
    echo "GG_TEST_VOCAB names no folder of vocabularies" >&2
    exit 77
}
GG_MODEL=$GG_TEST_VOCAB/gpt-2.gguf
llama=$GG_TEST_VOCAB/llama-spm.gguf
echo 'Hello world' | gg-tokenize
echo 'Hello world' | gg-tokenize --bos
printf '<|endoftext|>' | gg-tokenize
printf '<|endoftext|>' | gg-tokenize --special parse
echo 15496 995 198 | gg-tokenize -d
echo 15496 50256 995 | gg-tokenize -d --special parse
echo
echo 'Hello world' | gg-tokenize -m "$llama"
echo 'Hello world' | gg-tokenize -m "$llama" --no-bos
gg-tokenize -m "$llama" --bos </dev/null
echo 1 15043 3186 | gg-tokenize -m "$llama" -d
echo
echo 15043 3186 | gg-tokenize -m "$llama" -d
echo
echo 15043 3186 | gg-tokenize -m "$llama" -d --no-bos
echo
# A name without a slash is looked for.
unset GG_MODEL
cd /
echo 'Hello world' | GG_MODEL_PATH=$GG_TEST_VOCAB gg-tokenize -m gpt-2.gguf
