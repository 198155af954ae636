# gg-serve: bytes that are no request, clients that go, processes that are killed
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
start() { # OPTION...
    gg-serve -q -m "$GG_MODEL" -l "$PWD/socket" "$@" 2>log &
    server=$!
    for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        ask /health >/dev/null && break
        sleep 0.2
    done
    front=$(pgrep -P $server -x gg-serve)
}
engine() {
    pgrep -P $server -x gg-generate
}
post='POST /v1/completions HTTP/1.1\r\nHost: localhost\r\n'
long='{"prompt":"Once upon a time","max_tokens":400,"n":8,"stream":true}'
raw() { # NAME STEP...
    printf '%s: ' "$1"
    shift
    raw_client "$PWD/socket" "$@" | tr '\n' ' '
    echo
}
request() { # BODY
    printf '%sContent-Length: %d\\r\\n\\r\\n%s' "$post" ${#1} "$1"
}
descriptors() {
    for pid in $server $front $(engine); do
        ls "/proc/$pid/fd" | wc -l
    done | tr '\n' ' '
}
settled() { # what was there before, once all is over
    for i in 1 2 3 4 5 6 7 8 9 10; do
        test "$(descriptors)" = "$before" && break
        sleep 0.2
    done
    test "$(descriptors)" = "$before" || echo "$before became $(descriptors)"
    ask /metrics | grep '^gg_serve_\(connections\|waiting\|running\) ' |
        tr '\n' ' '
    ask /v1/completions -d '{"prompt":"a","max_tokens":1}' |
        jq -r .choices[0].finish_reason
}

echo '== no request'
start --head-time 1 --body-time 1 --batch 2
ask /v1/completions -d '{"prompt":"a","max_tokens":1}' >/dev/null
before=$(descriptors)
get='GET /health HTTP/1.1\r\nHost: localhost\r\n'
raw 'silent' heads
raw 'half a head' send 'GET /hea' heads
raw 'half a body' send "${post}Content-Length: 9\r\n\r\n{" heads
raw 'slow' slow 300 'GET / HTTP' heads
raw 'two lengths' send "${post}Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}" \
    heads
raw 'two in one' send "${post}Content-Length: 2, 2\r\n\r\n{}" heads
raw 'a sign' send "${post}Content-Length: +2\r\n\r\n{}" heads
raw 'chunks' send "${post}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" heads
raw 'bare LF' send 'GET /health HTTP/1.1\nHost: localhost\n\n' heads
raw 'bare CR' send "${get}X: a\rb\r\n\r\n" heads
raw 'NUL' send "${get}X: a\x00b\r\n\r\n" heads
raw 'folded' send "${get}X: a\r\n b\r\n\r\n" heads
raw 'a blank before the colon' send "${get}X : a\r\n\r\n" heads
raw 'two Hosts' send "${get}Host: localhost\r\n\r\n" heads
raw '63 more fields' send "$get" lines 62 send 'Connection: close\r\n\r\n' heads
raw '64 more' send "$get" lines 63 send 'Connection: close\r\n\r\n' heads
raw 'a long line' send "${get}X: " fill 70000 heads
raw 'a long body' send "${post}Content-Length: 9999999999\r\n\r\n{}" heads
raw 'no number' send "${post}Content-Length: 99999999999999999999\r\n\r\n" heads
raw 'another method' send 'BREW / HTTP/1.1\r\nHost: localhost\r\n\r\n' heads
raw 'TLS' send '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03' heads
raw 'two at once' send "$get\r\n$get\r\n" heads
raw 'one after the other' send "$get\r\n" some \
    send "${get}Connection: close\r\n\r\n" heads
settled

echo '== clients that go'
raw_client "$PWD/socket" send "$(request "$long")" reset
raw_client "$PWD/socket" send "$(request "$long")" some reset
raw_client "$PWD/socket" send "$(request "$long")" some half
raw_client "$PWD/socket" send "$get\r\n" some
raw_client "$PWD/socket" many 50
for i in 1 2 3; do # the last one waits
    raw_client "$PWD/socket" send "$(request "$long")" sleep 300 reset &
done
wait $!
settled

echo '== processes that are killed'
stream() {
    : >events
    ask /v1/completions -N -d "$long" >events &
    client=$!
    until test -s events; do sleep 0.05; done
}
ended() { # NAME
    wait $client
    echo "$1: curl $?, $(grep -c '"error"' events) error, $(grep -c DONE events) end"
}
stream
kill -KILL $front
ended 'the front'
sleep 1.2
front=$(pgrep -P $server -x gg-serve)
ask /v1/completions -d '{"prompt":"a","max_tokens":1}' | jq -r .object
stream
left=$(engine)
kill -KILL $server
ended 'the first process'
wait $server
runs() { # PID; one that nobody has waited for does not
    case $(ps -o stat= -p "$1") in '' | Z*) return 1 ;; esac
}
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
    runs $front || runs $left || break
    sleep 0.2
done
runs $front && echo 'the front is left'
runs $left && echo 'an engine is left'
test -S socket && echo 'its socket is taken over'
start --grace 0
stream
kill -TERM $server
ended 'the grace is over'
wait $server

echo '== the first request'
seq -f 'key-of-%g' 1000 >keys
chmod 600 keys
gg-serve -q -m "$GG_MODEL" -l "$PWD/socket" --key-file keys 2>log &
server=$!
until ask /v1/models -o body -w '%{http_code}\n' >code; do
    :
done
cat code
kill $server
wait $server

echo '== an engine that talks nonsense'
mkdir fake
cat >fake/gg-generate <<'EOF'
#!/bin/sh
read -r stats
echo '{"stats":{"batch":2}}'
while read -r line; do
    id=$(expr "$line" : '.*"id":"\(r[0-9]*\)"')
    sed "s/ID/$id/g" "$FAKE_RECORDS"
    read -r another || exit 0
    exit 3
done
EOF
chmod +x fake/gg-generate
nonsense() { # NAME RECORDS [SECONDS]
    printf "$2" >records
    printf '%s: ' "$1"
    FAKE_RECORDS=$PWD/records PATH=$PWD/fake:$PATH gg-serve -q -m "$GG_MODEL" \
        -l "$PWD/socket" --answer-time ${3-60} 2>log &
    server=$!
    until ask /health >/dev/null; do sleep 0.1; done
    ask /v1/completions -d '{"prompt":"a","stream":true}' -o events \
        -w '%{http_code} '
    echo "$(grep -o '"message":"[^"]*"' events) $(grep -c DONE events) end"
    kill $server
    wait $server || echo "status $?"
}
start='{"id":"ID","start":{"prompt_tokens":1}}\n'
nonsense 'no JSON' "$start{\"id\":\"ID\",\n"
nonsense 'another id' '{"id":"r999","index":0,"delta":{"content":"x"}}\n' 1
nonsense 'odd types' "$start"'{"id":"ID","index":"a","delta":7}\n{"id":"ID","end":{}}\n'
nonsense 'NUL' "$start"'{"id":"ID","index":0,"delta":{"content":"\0"}}\n'
nonsense 'a cut' "$start"'{"id":"ID","index":0,"delta":{"content":"x"' 1
