# Models of ollama's registry; what was fetched is found without a server.
. "$top_srcdir/tests/cli/fetch-serve.sh"
export OLLAMA_REGISTRY=$HF_ENDPOINT/
cp "$GG_MODEL" hub/m.gguf
sum=$(sha256sum <hub/m.gguf | cut -d' ' -f1)
mv hub/m.gguf "hub/sha256:$sum"
manifest() { # TAG SHA256 SIZE
    printf '{"layers": [{"mediaType": "application/vnd.ollama.image.license",
        "digest": "sha256:%064d", "size": 4},
        {"mediaType": "application/vnd.ollama.image.model",
        "digest": "sha256:%s", "size": %s}]}' 7 "$2" "$3" >"hub/$1"
}
manifest 1b "$sum" "$(size "hub/sha256:$sum")"
manifest latest "$sum" "$(size "hub/sha256:$sum")"
manifest long "$sum" 5
manifest other "$(printf '%064d' 5)" 9
echo '{"layers": []}' >hub/empty
echo == a name, and again without a server
: >hub/log
say gg-fetch tiny:1b
cut -d' ' -f2 hub/log | plain
: >hub/log
say gg-fetch tiny:1b
say gg-fetch --where tiny:1b
cat hub/log
cmp "data/gg/tiny:1b.gguf" "hub/sha256:$sum"
gg-tokenize -m tiny:1b <hub/1b >/dev/null || echo -m does not find it
echo == other forms
say gg-fetch --dry-run ollama:tiny
say gg-fetch --dry-run ollama:me/tiny:1b
say gg-fetch ollama:me/tiny:1b
say gg-fetch -o mine.gguf tiny:1b
cmp mine.gguf "hub/sha256:$sum"
echo == what is wrong
for name in tiny:none tiny:empty tiny:long tiny:other ollama:../x \
    'ollama:a:b:c' ollama:; do
    say timeout 20 gg-fetch --retries 0 "$name"
done
say gg-fetch --list tiny:1b
say gg-fetch --sha256 "$sum" tiny:1b
echo == what ollama has is copied
mkdir -p home/.ollama/models/blobs
cp "hub/sha256:$sum" "home/.ollama/models/blobs/sha256-$sum"
: >hub/log
say gg-fetch --dir copied tiny:1b
grep -c blobs hub/log
cmp "copied/tiny:1b.gguf" "hub/sha256:$sum"
echo == hubs
cp "hub/sha256:$sum" hub/tiny-Q8_0.gguf
offer plain tiny-Q8_0.gguf
say gg-fetch hf.co/gg/plain:Q8_0
say gg-fetch "$HF_ENDPOINT/gg/plain"
echo == what is installed
say gg-fetch --installed
kill $server
wait $server 2>/dev/null
trap - EXIT
say gg-fetch hf:gg/plain:Q8_0
say gg-fetch hf.co/gg/plain:Q8_0
say gg-fetch tiny:1b
HF_ENDPOINT=http://127.0.0.1:9 say gg-fetch --retries 0 hf:gg/plain:Q8_0
echo == a file that is cut is fetched again
truncate -s 9 data/gg/tiny-Q8_0.gguf
say gg-fetch --retries 0 hf:gg/plain:Q8_0
echo == removal
say gg-fetch --remove tiny:1b
say gg-fetch --remove tiny:1b
say gg-fetch --remove me-tiny:1b
say gg-fetch --remove ../../ports
say gg-fetch --remove .gg-fetch
say gg-fetch --remove hf:gg/plain:Q8_0
say gg-fetch --installed
say gg-fetch --installed x
say gg-fetch --remove
plain <data/gg/.gg-fetch
printf '%s\n' 'a	b	../../ports	5' nonsense 'a	b	c' 'a	b	c	x' >data/gg/.gg-fetch
say gg-fetch --remove a
say gg-fetch --installed
