# fetch-serve.sh - a hub of models for tests of gg-fetch: read by them with `.`
#
# Serves the folder `hub`; $hub and $other are its ports. offer NAME FILE...
# makes a repository gg/NAME of files that lie there, with their hashes.
gg-fetch --where x 2>&1 | grep -q 'not where' || exit 1
GG_MODEL_PATH= XDG_DATA_HOME= gg-fetch http://127.0.0.1:1/a.gguf 2>&1 |
    grep 'built without' >&2 && exit 77
unset HF_TOKEN HF_HUB_CACHE HF_HOME XDG_CACHE_HOME OLLAMA_MODELS GG_MODEL_PATH
unset http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY
export HOME=$PWD/home XDG_DATA_HOME=$PWD/data
mkdir -p home hub
hub_server hub >ports &
server=$!
trap 'kill $server' EXIT
trap 'exit 1' HUP INT TERM
for i in 1 2 3 4 5 6 7 8 9 10; do
    test -s ports && break
    sleep 0.1
done
read -r hub other <ports
export HF_ENDPOINT=http://127.0.0.1:$hub

size() { wc -c <"$1" | tr -d ' '; }
# file PATH SIZE SHA256: a file of the list that the API gives.
file() {
    printf '{"rfilename": "%s", "size": %s, "lfs": {"sha256": "%s"}}' "$@"
}
# A commit of 40 digits, so that files are requested by it.
commit=0123456789abcdef0123456789abcdef01234567
answer() { # NAME, a list of files
    printf '{"sha": "%s", "siblings": [%s]}' $commit "$2" >"hub/$1.json"
}
offer() {
    name=$1 list=
    shift
    for f; do
        sum=$(sha256sum <"hub/${f##*/}" | cut -d' ' -f1)
        list=$list${list:+, }$(file "$f" "$(size "hub/${f##*/}")" "$sum")
    done
    answer "$name" "$list"
}
# Without what differs from run to run.
plain() {
    sed "s/127.0.0.1:[0-9]*/HUB/g; s|$PWD|HERE|g; s/$commit/COMMIT/g
        s/[0-9a-f]\{64\}/SHA256/g; s/\.[0-9a-f]\{16\}\.part/.HASH.part/g"
}
say() { "$@" 2>&1 | plain; }
