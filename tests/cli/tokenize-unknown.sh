# Bytes that a vocabulary of bytes has no token for are left out and counted,
# or an error; they never become a control token, though the file names one as
# what is unknown.
make_model gpt2-f32 model.gguf || exit 99
# ~ has no token any more.
LC_ALL=C sed 's/\x01\x00\x00\x00\x00\x00\x00\x00~/\x01\x00\x00\x00\x00\x00\x00\x00}/' \
    model.gguf >hole.gguf
id=$(printf '<|control|>' | gg-tokenize -m hole.gguf --special parse)
for key in unknown bos eos; do
    gg-convert -q --set tokenizer.ggml.${key}_token_id=u32:$id hole.gguf
done
GG_MODEL=hole.gguf
export GG_MODEL
try() {
    echo "$*"
    "$@"
    echo "status $?"
}
printf 'a~b' >text
printf 'a~\n~~\nab\n' >lines
printf '{"role":"user","content":"a~"}' >chat
try gg-tokenize text
try gg-tokenize --strict text
try gg-tokenize --special error text
try gg-tokenize --special parse text
for form in --count --pieces --offsets '--budget 1' '--binary u32'; do
    try gg-tokenize $form text | od -An -c
    gg-tokenize $form --strict text && echo "$form: --strict"
done
gg-tokenize text 2>/dev/null | gg-tokenize -d; echo
try gg-tokenize --lines lines
try gg-tokenize --lines --strict lines
printf 'a~b\0~\0' | try gg-tokenize -0
printf 'a~b\tb\n' | try gg-tokenize --lines --fields
printf '~~' | try gg-tokenize
printf '~~' | try gg-tokenize --bos
try gg-tokenize --chat --template zephyr chat
try gg-tokenize --chat --template zephyr --strict chat
try gg-tokenize -d --strict
# With threads, and where words are known from before.
i=0
while [ $i -lt 2000 ]; do echo "a~b a ~"; i=$((i + 1)); done >many
gg-tokenize many 2>one >want; cat one
gg-tokenize -t 3 many 2>three | cmp - want && cmp one three

# gg-generate: the same ids, said once.
gg="gg-generate -n 3 -s 1 --device cpu"
$gg -p 'a~' >got; $gg -p a | cmp - got
$gg --strict text; echo "status $?"
$gg --special error -p 'a~'; echo "status $?"
$gg -p '~'; echo "status $?"
$gg --chat --template zephyr -p 'a~' >got
$gg --chat --template zephyr -p a | cmp - got
printf 'a~\na~\n' | $gg -i --template zephyr >got
printf 'a\na\n' | $gg -i --template zephyr | cmp - got
$gg --messages --template zephyr --strict chat; echo "status $?"
$gg --lines lines >got; printf 'a\n\nab\n' | $gg --lines | cmp - got
$gg --lines --strict lines | wc -l | tr -d ' '
$gg --choice a,b -p 'x a~' >got; echo "status $?"
$gg --choice a,~ text; echo "status $?"
