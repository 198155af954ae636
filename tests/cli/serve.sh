# gg-serve: a port in front of gg-generate, with the bytes of gg-generate
gg-serve --translate chat </dev/null 2>&1 | grep -q 'without Jansson' && exit 77
gg-serve -l /x/y -m "$GG_MODEL" 2>&1 | grep -q 'without libevent' && exit 77
for tool in curl jq pgrep; do
    command -v $tool >/dev/null || exit 77
done
ask() { # PATH [OPTION...]
    path=$1
    shift
    curl -s -m 60 --unix-socket "$PWD/socket" "http://localhost$path" "$@"
}
status() { # NAME PATH [OPTION...]
    printf '%s: ' "$1"
    shift
    ask "$@" -o body -w '%{http_code} '
    sed -n 's/.*"message":"\([^"]*\)".*/\1/p' body | head -n 1 | grep . || echo
}
start() { # OPTION...
    gg-serve -m "$GG_MODEL" -l "$PWD/socket" -l 127.0.0.1:0 "$@" \
        -- --template alpaca 2>log &
    server=$!
    for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        ask /health >/dev/null && return
        sleep 0.2
    done
    cat log
}
stop() { # SIGNAL
    kill "-$1" $server
    wait $server
    echo "$1: status $?, $(ls socket 2>/dev/null || echo no) socket"
}
once='"prompt":"Once upon a time","max_tokens":24'

echo '== answers'
start
ask /health
gg-generate -q -n 24 -s 7 -p 'Once upon a time' >want
ask /v1/completions -d "{$once,\"seed\":7}" >body
jq -j '.choices[].text' body >got
cmp want got && echo 'a completion has the bytes of gg-generate'
ask /v1/completions -d "{$once,\"seed\":7,\"stream\":true}" >events
sed -n 's/^data: {/{/p' events | jq -j '.choices[].text' >got
cmp want got && echo 'a stream, too'
tail -n 2 events | head -n 1
ask /v1/messages -d '{"max_tokens":8,"stream":true,"messages":[{"role":"user",
    "content":"hi"}]}' | grep ^event | uniq
ask /v1/messages/count_tokens -d '{"messages":[{"role":"user","content":"hi"}]}'
echo
ask /tokenize -d '{"content":"Once upon a time"}'
echo
ask /v1/models | sed 's/"created":[0-9]*/"created":0/'
echo
ask /models/gg-story | cut -c 1-16
echo
ask /props | sed 's/"gg [^"]*"/"gg"/'
echo
ask /slots | cut -c 1-46
ask /completion -d "{$once,\"seed\":7,\"n_probs\":1}" >body
jq -j .content body | cmp - want && echo "a completion of llama.cpp's, too"
jq -c '[.stop_type, .tokens_predicted, (.completion_probabilities | length)]' body
ask /completion -d "{$once,\"seed\":7,\"stream\":true}" | sed -n 's/^data: //p' |
    jq -j .content | cmp - want && echo 'its stream, too'
ask /apply-template -d '{"messages":[{"role":"user","content":"hi"}]}' | jq -c .
ask /chat/completions/input_tokens -d '{"messages":[{"role":"user","content":"hi"}]}'
ask /responses/input_tokens -d '{"input":"hi"}'
echo

echo '== eight at once, and one that goes away'
for i in 1 2 3 4 5 6 7 8; do
    gg-generate -q -n 24 -s $i -p "Story $i" >"want.$i"
    ask /v1/completions -d "{\"prompt\":\"Story $i\",\"max_tokens\":24,
        \"seed\":$i}" >"body.$i" &
    parts="$parts $!"
done
curl -s -m 0.3 --unix-socket socket http://localhost/v1/completions \
    -d '{"prompt":"x","max_tokens":400,"stream":true}' >/dev/null
wait $parts
for i in 1 2 3 4 5 6 7 8; do
    jq -j '.choices[].text' "body.$i" | cmp - "want.$i"
done

echo '== refused'
status 'no path' /v1/nothing
status 'another method' /v1/completions
status 'no JSON' /v1/completions -d '{'
status 'no context' /v1/completions -d "{\"prompt\":\"$(seq 2000 |
    tr '\n' ' ')\",\"max_tokens\":1}"
status 'a page' /v1/models -H 'Origin: http://evil.example'
status 'two lengths' /v1/completions -H 'Content-Length: 1' \
    -H 'Content-Length: 1' -d '{}'
status 'nine MiB' /v1/completions -H 'Content-Length: 9437184' -d '{}'
port=$(sed -n 's/.*listening at 127.0.0.1:\([0-9]*\)$/\1/p' log)
curl -s -m 9 -H 'Host: evil.example' -o body -w 'another Host: %{http_code}\n' \
    "http://127.0.0.1:$port/v1/models"
curl -s -m 9 -o body -w 'localhost: %{http_code}\n' \
    "http://localhost:$port/v1/models" --resolve "localhost:$port:127.0.0.1"
echo '== a page'
stop TERM
start -q --origin http://page.example
page='Origin: http://page.example'
ask /v1/models -X OPTIONS -H "$page" -H 'Access-Control-Request-Method: POST' \
    -H 'Access-Control-Request-Headers: authorization' -D - |
    tr -d '\r' | grep -i '^HTTP\|^Access\|^Vary'
ask /v1/models -H "$page" -o body -D - | tr -d '\r' | grep -i '^HTTP\|^Access'
ask /v1/models -X OPTIONS -H 'Origin: http://evil.example' -o body -D - |
    tr -d '\r' | grep -i '^HTTP\|^Access'
ask /metrics | grep -c '^gg_serve'
stop TERM

echo '== keys'
printf 'ann\tsecret-of-ann\nbob\tsecret-of-bob\n' >keys
start --key-file keys
cat log
chmod 600 keys
start --key-file keys
status 'no key' /v1/models
status 'another key' /v1/models -H 'Authorization: Bearer secret'
status 'a key' /v1/models -H 'Authorization: Bearer secret-of-ann'
status 'health' /health
long="Once upon a time there was a small dog who lived in a house with a red door"
for who in ann ann bob; do
    ask /v1/completions -H "x-api-key: secret-of-$who" -d "{\"prompt\":\"$long\",
        \"max_tokens\":2,\"stream\":true,\"stream_options\":
        {\"include_usage\":true}}" |
        sed -n "s/.*cached_tokens\":\([0-9]*\).*/$who: \1 cached/p"
done
stop INT

echo '== a process that dies'
start -q
: >events
ask /v1/completions -N -d '{"prompt":"x","max_tokens":400,"n":8,
    "stream":true}' >events &
client=$!
until test -s events; do sleep 0.05; done
kill -KILL $(pgrep -P $server -x gg-generate)
wait $client
echo "curl: status $?"
ask /v1/completions -d "{$once,\"seed\":7}" |
    jq -j '.choices[].text' | cmp - want
stop TERM

echo '== several models'
printf 'one\t-m %s --template alpaca\ntwo\t-m "%s" -c 64\nbad\t-m none\n' \
    "$GG_MODEL" "$GG_MODEL" >models
gg-serve --models models -l "$PWD/socket" -q 2>log &
server=$!
sleep 0.5
ask /v1/models | tr ',' '\n' | sed -n 's/.*"id":"\(.*\)"/\1/p'
for name in two bad three; do
    status $name /v1/completions -d "{\"model\":\"$name\",$once}"
done
stop TERM

echo '== models that are fetched, and that have no room'
mkdir fake
printf '#!/bin/sh\ncase $* in *none) exit 1 ;; esac\necho "$GG_MODEL"\n' >fake/gg-fetch
chmod +x fake/gg-fetch
printf 'one\t-c 64 -m hf:a/b -t 1\ntwo\t--model=hf:a/b -c 64\nnone\t-m hf:a/none\n' \
    >models
PATH=$PWD/fake:$PATH gg-serve --fetch --models models -l "$PWD/socket" -q 2>log &
server=$!
sleep 0.5
for name in one two none; do
    status $name /v1/completions -d "{\"model\":\"$name\",$once}"
done
stop TERM
printf 'one\t-m %s -c 64 --batch 1\ntwo\t-m %s -c 128 --batch 1\nbig\t-m %s\n' \
    "$GG_MODEL" "$GG_MODEL" "$GG_MODEL" >models
gg-serve --models models --memory-max 6 -l "$PWD/socket" -q 2>log &
server=$!
sleep 0.5
for name in one two big; do
    status $name /v1/completions -d "{\"model\":\"$name\",$once}"
    echo "$(pgrep -P $server -x gg-generate | wc -l) engine"
done
stop TERM
for line in 'x' 'a\t-m "x' ; do
    printf "$line\n" >models
    gg-serve --models models -l "$PWD/socket"
done
gg-serve -m "$GG_MODEL" -l 0.0.0.0:0
gg-serve -m "$GG_MODEL" -l nowhere || echo "status $?"
gg-serve -m none.gguf -l "$PWD/socket" || echo "status $?"
