# Whatever a server does, gg-fetch brings the whole file or none, and says why.
. "$top_srcdir/tests/cli/fetch-serve.sh"
head -c 100000 "$GG_MODEL" >hub/m.gguf
sum=$(sha256sum <hub/m.gguf | cut -d' ' -f1)
try() { # NAME OPTION...
    name=$1
    shift
    say timeout 60 gg-fetch --dir to "$@" "hf:gg/$name"
    ls to 2>/dev/null | plain
    rm -rf to
}
for name in round nowhere scheme cut cut-anew stuck half busy away gated longer \
    shorter silent quits endless shifted; do
    offer $name m.gguf
done

echo == connections that break
: >hub/log
try cut
try cut-anew -v
cut -d' ' -f2,3 hub/log | grep resolve | plain
echo == again in another run
say gg-fetch --dir to --retries 0 hf:gg/half
say ls to
: >hub/log
say gg-fetch --dir to hf:gg/half
say ls to
cmp to/m.gguf hub/m.gguf
cut -d' ' -f3 hub/log
rm -rf to
echo == a part of another file is not continued
mkdir -p to
echo GGUFnonsense >"to/m.gguf.$(printf %.16s "$sum").part"
say gg-fetch --dir to hf:gg/plain-is-not-offered
try half
echo == without any progress
try stuck --retries 1 -v
try busy -v
try away
echo == redirects
try round
try nowhere
try scheme
echo == lengths
try longer
try shorter
try silent
try quits
try endless
try shifted
say gg-fetch --dir to "http://127.0.0.1:$other/gg/silent/m.gguf"
say gg-fetch --dir to "http://127.0.0.1:$other/gg/endless/m.gguf"
say ls to
echo == hashes
answer plain "$(file m.gguf 100000 "$(printf '%064d' 5)")"
try plain
answer plain "$(file m.gguf 99999 "$sum")"
try plain
answer plain '{"rfilename": "m.gguf", "size": 100000}'
try plain
say gg-fetch --dir to --sha256 "$(printf '%064d' 5)" \
    "http://127.0.0.1:$other/gg/plain/m.gguf"
say gg-fetch --sha256 5 "http://127.0.0.1:$other/gg/plain/m.gguf"
echo == no model
printf '<!DOCTYPE html><title>Sign in</title>' >hub/page.gguf
offer plain page.gguf
try plain
printf GGUF >hub/page.gguf
offer plain page.gguf
try plain
offer plain m.gguf
try plain:Q4_0
answer plain ''
try plain
answer plain "$(file a-1.gguf 5 "$sum"), $(file a-2.gguf 5 "$sum")"
try plain
answer plain "$(file a-00001-of-00002.gguf 5 "$sum")"
try plain
try gated
echo == names
for path in ../m.gguf a/../../m.gguf /m.gguf a//m.gguf 'a\u001b[31m.gguf' .. \
    'a\\m.gguf' 'a\u202efugg.m' 'a\u2066.gguf' 'a\u2028.gguf' 'a\u061c.gguf' \
    'a\u0085.gguf'; do
    answer plain "$(file "$path" 100000 "$sum")"
    try plain
done
say gg-fetch --dir to "http://127.0.0.1:$other/gg/plain/%2e%2e"
say gg-fetch --dir to "http://127.0.0.1:$other/gg/plain/..%2fm.gguf"
for source in hf:gg hf:gg/ hf:gg/a/b hf:../x hf:gg/x@.. hf:gg/x:../y file:///etc/passwd \
    ftp://x/y m.gguf; do
    say gg-fetch --dir to "$source"
done
echo == what is there
offer plain m.gguf
mkdir -p to
echo other >to/m.gguf
say gg-fetch --dir to hf:gg/plain
cat to/m.gguf
rm to/m.gguf
ln -s elsewhere to/m.gguf
say gg-fetch --dir to hf:gg/plain
say gg-fetch -o to/m.gguf hf:gg/plain
readlink to/m.gguf
rm -rf to
echo == the API
printf '{"siblings": ' >hub/plain.json
try plain
echo '{"siblings": 5}' >hub/plain.json
try plain
try nothing
try flood
try heads
try trickle --timeout 2
try trickle --timeout 0
HF_TOKEN='a
b' try plain
HF_ENDPOINT=gopher://x try plain
echo == nobody answers
kill $server
wait $server 2>/dev/null
try plain
say gg-fetch --list "http://127.0.0.1:$other/m.gguf"
trap - EXIT
