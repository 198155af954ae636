# gg-fetch brings models of a hub to where -m finds them, verified.
. "$top_srcdir/tests/cli/fetch-serve.sh"
head -c 100000 "$GG_MODEL" >hub/tiny-Q8_0.gguf
cp "$GG_MODEL" hub/tiny-Q4_K_M.gguf
for i in 1 2 3; do
    { printf GGUF && head -c 50000 "$GG_MODEL" | tail -c "3${i}000"; } \
        >hub/big-F16-0000$i-of-00003.gguf
done
cp "$GG_MODEL" hub/mmproj-tiny.gguf
echo picture >hub/picture.png
offer plain tiny-Q8_0.gguf picture.png tiny-Q4_K_M.gguf mmproj-tiny.gguf \
    F16/big-F16-00001-of-00003.gguf F16/big-F16-00002-of-00003.gguf \
    F16/big-F16-00003-of-00003.gguf

echo list:
gg-fetch --list hf:gg/plain
echo plan:
gg-fetch --dry-run hf:gg/plain:Q8_0 | plain
gg-fetch --dry-run hf:gg/plain:f16 | plain
test ! -e data || echo something was made

echo the usual one:
gg-fetch hf:gg/plain | plain
cmp hub/tiny-Q4_K_M.gguf data/gg/tiny-Q4_K_M.gguf
gg-tokenize -m tiny-Q4_K_M <hub/plain.json >/dev/null || echo -m does not find it
: >hub/log
gg-fetch hf:gg/plain:tiny-Q4_K_M.gguf | plain # is there
grep -c resolve hub/log

echo shards, another folder:
gg-fetch --dir "$PWD/a/b" "$HF_ENDPOINT/gg/plain/tree/main" 2>&1 >/dev/null | plain
gg-fetch --dir "$PWD/a/b" hf:gg/plain:F16 | plain
for i in 1 2 3; do
    cmp hub/big-F16-0000$i-of-00003.gguf a/b/big-F16-0000$i-of-00003.gguf
done
ls a/b

echo a revision, a name of its own, the place of -m:
GG_MODEL_PATH=:$PWD/mine:/nowhere gg-fetch hf:gg/plain@v1/x:Q8_0 | plain
tail -n 3 hub/log | cut -d' ' -f2 | plain
gg-fetch -q -o other.gguf "$HF_ENDPOINT/gg/plain/blob/main/tiny-Q8_0.gguf"
cmp other.gguf mine/tiny-Q8_0.gguf
gg-fetch -q -o other.gguf hf:gg/plain && cmp other.gguf hub/tiny-Q4_K_M.gguf

echo URLs:
url=http://127.0.0.1:$other/gg/plain/some
gg-fetch --dir urls "$url/tiny-Q8_0.gguf?download=true" 2>&1
gg-fetch --dir urls -q "$url/big-F16-00001-of-00003.gguf" && ls urls
cp hub/tiny-Q8_0.gguf hub/tiny%2DQ8_0.gguf
gg-fetch --dir urls2 --sha256 "$(sha256sum <hub/tiny-Q8_0.gguf | cut -d' ' -f1)" \
    "$url/tiny%2DQ8_0.gguf"

echo the token is the hub\'s alone:
offer redirect tiny-Q8_0.gguf
: >hub/log
HF_TOKEN=secret gg-fetch --dir token hf:gg/redirect
plain <hub/log
HF_TOKEN=secret gg-fetch -q --dir token2 "$url/tiny-Q8_0.gguf"
tail -n 1 hub/log

echo a folder:
printf '{"architectures": ["LlamaForCausalLM"]}' >hub/config.json
{ printf '\002\0\0\0\0\0\0\0{}' && head -c 70000 "$GG_MODEL"; } >hub/model.safetensors
git_hash() { { printf 'blob %s\0' "$(size "$1")" && cat "$1"; } | sha1sum | cut -d' ' -f1; }
answer folder "$(file model.safetensors "$(size hub/model.safetensors)" \
    "$(sha256sum <hub/model.safetensors | cut -d' ' -f1)"), $(
    printf '{"rfilename": "config.json", "size": %s, "blobId": "%s"}' \
        "$(size hub/config.json)" "$(git_hash hub/config.json)")"
gg-fetch --list hf:gg/folder
gg-fetch hf:gg/folder | plain
gg-fetch hf:gg/folder | plain
ls data/gg/folder data/gg
echo >>data/gg/folder/config.json
gg-fetch hf:gg/folder 2>&1 | plain

echo a folder with an index, and weights that it does not name:
printf '{"weight_map": {"a": "model-00001-of-00002.safetensors", "b":
    "model-00002-of-00002.safetensors", "c": "model-00001-of-00002.safetensors"}}' \
    >hub/model.safetensors.index.json
list=
for f in config.json model.safetensors.index.json model.fp16.safetensors \
    model-00001-of-00002.safetensors model-00002-of-00002.safetensors \
    adapter_model.safetensors consolidated.safetensors onnx/model.safetensors \
    original/model.safetensors 2_Dense/model.safetensors 1_Pooling/config.json \
    additional_chat_templates/tool_use.jinja additional_chat_templates/a/b.jinja \
    additional_chat_templates/x.txt chat_template.json README.md; do
    list="$list${list:+, }$(file $f 9 "$(printf '%064d' 1)")"
done
answer index "$list"
gg-fetch --dry-run hf:gg/index | cut -f2 | sed 's|.*/resolve/[^/]*/||'
gg-fetch --list hf:gg/index
answer noindex "$(echo "$list" | sed 's/model.safetensors.index.json/model.safetensors/')"
gg-fetch --dry-run hf:gg/noindex | cut -f2 | sed 's|.*/resolve/[^/]*/||' |
    grep '\.safetensors'
answer lacks "$(echo "$list" | sed 's/model-00002/model-00003/')"
say gg-fetch --dry-run hf:gg/lacks
echo '{' >hub/model.safetensors.index.json
say gg-fetch --dry-run hf:gg/index

echo the cache of the hub:
cache=$PWD/home/.cache/huggingface/hub/models--gg--plain
mkdir -p "$cache/blobs" "$cache/snapshots/$commit" "$cache/refs"
sum=$(sha256sum <hub/tiny-Q8_0.gguf | cut -d' ' -f1)
cp hub/tiny-Q8_0.gguf "$cache/blobs/$sum"
ln -s "../../blobs/$sum" "$cache/snapshots/$commit/tiny-Q8_0.gguf"
printf $commit >"$cache/refs/main"
: >hub/log
gg-fetch hf:gg/plain:Q8_0 | plain
cut -d' ' -f2 hub/log
cmp data/gg/tiny-Q8_0.gguf hub/tiny-Q8_0.gguf

echo a projector beside it:
for i in F32 BF16 F16 Q8_0; do
    { head -c 3000 "$GG_MODEL" && echo "projector $i"; } >hub/mmproj-$i.gguf
done
cp hub/tiny-Q4_K_M.gguf hub/seer-Q4_K_M.gguf
offer plain mmproj-Q8_0.gguf mmproj-F32.gguf mmproj-BF16.gguf mmproj-F16.gguf \
    seer-Q4_K_M.gguf
gg-fetch --dry-run hf:gg/plain | cut -f 2- | sed 's|.*/||; s|\t.*/| |'
gg-fetch --dir "$PWD/see" hf:gg/plain | plain
ls see && tail -n 1 see/mmproj-seer-Q4_K_M.gguf | tail -c 14
gg-fetch --dir "$PWD/see" --installed | cut -f 1,3
gg-fetch --dir "$PWD/see" --remove seer-Q4_K_M && ls see
gg-fetch --dir "$PWD/blind" --no-mmproj hf:gg/plain | plain && ls blind
gg-fetch --dir "$PWD/alone" hf:gg/plain:mmproj-BF16.gguf | plain && ls alone
cp hub/mmproj-BF16.gguf hub/big-mmproj-BF16.gguf
offer plain x/big-mmproj-BF16.gguf mmproj-F32.gguf x/mmproj-F32.gguf \
    x/seer-Q4_K_M.gguf y/mmproj-F16.gguf
gg-fetch --dry-run hf:gg/plain | cut -f 2 | sed 's|.*/resolve/[^/]*/||'

echo where:
gg-fetch --where tiny-Q4_K_M | plain
gg-fetch --where gg/plain | plain
gg-fetch --where hf:gg/plain:q8_0 | plain
blob=$(printf '%064d' 7)
mkdir -p home/.ollama/models/manifests/registry.ollama.ai/library/tale \
    home/.ollama/models/blobs
printf '{"layers": [{"mediaType": "x", "digest": "sha256:%s"}, {"mediaType":
    "application/vnd.ollama.image.model", "digest": "sha256:%s"}]}' \
    "$(printf '%064d' 6)" "$blob" \
    >home/.ollama/models/manifests/registry.ollama.ai/library/tale/1b
echo >"home/.ollama/models/blobs/sha256-$blob"
gg-fetch --where tale:1b | plain
say gg-fetch --where tale
say gg-fetch --where gg/nothing
find . -name '*.part'
