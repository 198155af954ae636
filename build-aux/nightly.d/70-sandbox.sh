#!/bin/sh
# 70-sandbox.sh SOURCE: each parser of a build of its own tries to read and to
# write another file, to connect, to start a program, to type into a terminal, to
# change a mode, to send a signal, ...; all of it is refused
#
# With GG_PLANTED, a folder with such a build, that one is used.
set -eu
top=$(cd "$1" && pwd)
test -f "$top/configure" || (cd "$top" && ./autogen.sh)
dir=$(mktemp -d /tmp/gg-sandbox.XXXXXX)
trap 'rm -rf "$dir"' EXIT
build=${GG_PLANTED-$dir/build}
if test -z "${GG_PLANTED-}"; then
    # Kernels of instruction sets are left out: they parse nothing.
    mkdir "$build" && cd "$build"
    "$top/configure" -q --enable-plant --without-cuda CFLAGS=-O1 \
        gg_cv_isa_AVX2=no gg_cv_isa_AVXVNNI=no gg_cv_isa_AVX512=no \
        gg_cv_isa_AVX512VBMI=no gg_cv_isa_AVX512BF16=no gg_cv_isa_AMX=no
    make -s -C lib
    make -s -C bin
fi
for t in "$build"/bin/gg-*; do
    PATH=$t:$PATH
done
export PATH GG_CUDA_MODULE=none GG_MODEL="$top/demo/gg-story.gguf"

gg-inspect -v "$GG_MODEL" 2>&1 >/dev/null | grep 'no sandbox' && exit 77
rm -f /var/tmp/gg-planted
mkdir "$dir/work" && cd "$dir/work"
cp "$GG_MODEL" model.gguf
echo secret >private
printf 'Once upon a time' >text
cat >schema <<'S'
{"type": "boolean"}
S
echo 'root ::= " yes"' >grammar
echo '{"prompt": "a", "max_tokens": 1}' >records
echo '[{"role": "user", "content": "a"}]' >messages
echo '{{ messages[0].content }}' >template
mkdir folder
printf '\002\0\0\0\0\0\0\0{}' >folder/model.safetensors
echo '{"architectures": ["LlamaForCausalLM"]}' >folder/config.json

# What a tool says of what was planted; that it does not fail for it is no part.
try() {
    "$@" </dev/null 2>&1 >>out | sed -n "s/^planted in /$1: /p" >>planted ||
        true
}
try gg-inspect model.gguf
try gg-convert folder folder.gguf
try gg-inspect --stats -o stats model.gguf
try gg-bench -r 1 -p 4 -n 1 model.gguf
try gg-tokenize -o ids text
try gg-tokenize --chat --template template messages
try gg-eval -o logits ids
try gg-eval --score ids
try gg-logits -o logits2 logits
try gg-logits --to npz -o npz logits
try gg-sample -o sampled logits
try gg-generate -f text -n 1 --grammar grammar
try gg-generate -f text -n 1 --json-schema schema
try gg-generate --jsonl -n 1 records
try gg-convert model.gguf copy.gguf
try gg-convert --set a=1 model.gguf
try gg-quantize model.gguf small.gguf Q4_0
for n in 1 2; do
    try gg-train --rank 1 --epochs $n --checkpoint checkpoint -o lora.gguf ids
done
try gg-generate --lora lora.gguf -f text -n 1
try gg-convert --set tokenizer.ggml.model=rwkv model.gguf world.gguf
try gg-tokenize -m world.gguf text
sort -u planted

# Errno of each: EACCES, EPERM.
if grep -v 'read 13 write 13 connect 1 execute 1 type 1 chmod 1 kill 1 unshare 1 memfd 1$' planted; then
    exit 1
fi
test ! -e /var/tmp/gg-planted
test ! -e planted-too
for parser in GGUF vocabulary 'token stream' 'logit stream' grammar schema \
    template JSON 'JSON of a tool' safetensors adapter checkpoint \
    'World vocabulary'; do
    grep -q ": $parser: " planted || {
        echo "nothing was planted in: $parser"
        exit 1
    }
done
# Without the sandbox all of it is done, so that the test could fail.
gg-inspect --no-sandbox model.gguf 2>&1 >/dev/null </dev/null |
    grep -q 'GGUF: read 0 write 0 connect 0 execute 0 type 25 chmod 0 kill 0 unshare 0 memfd 0'
rm /var/tmp/gg-planted
