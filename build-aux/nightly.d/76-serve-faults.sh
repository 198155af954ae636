#!/bin/sh
# 76-serve-faults.sh BUILD: gg-serve where clients, processes, memory, descriptors
# and the log fail: no answer that was cut looks whole, nothing is left behind,
# and the next request is answered
set -eu
. "$(dirname "$0")/serve.inc"
command -v prlimit >/dev/null || exit 77
test -x "$build/tests/raw_client" ||
    make -s -C "$build/tests" check TESTS= >/dev/null
PATH=$build/tests:$PATH
work=$(mktemp -d)
server=
trap 'test -z "$server" || kill $server; rm -rf "$work"' EXIT
cd "$work"
bad=0
complain() {
    echo "$*"
    bad=1
}
ask() { # PATH [OPTION...]
    path=$1
    shift
    curl -s -m 100 --unix-socket socket "http://localhost$path" "$@"
}
runs() { # PID; one that nobody has waited for does not
    case $(ps -o stat= -p "$1") in '' | Z*) return 1 ;; esac
}
find_parts() {
    until ask /health >/dev/null; do
        sleep 0.1
    done
    front=$(pgrep -P $server -x gg-serve)
    answers
    engine=$(pgrep -P $server -x gg-generate)
}
start() { # OPTION...
    gg-serve -m "$GG_MODEL" -l "$work/socket" --batch 2 "$@" 2>log &
    server=$!
    find_parts
}
stop() { # ends in order, and leaves no process
    kill $server
    wait $server || complain "status $?"
    runs $front && complain 'the front is left'
    runs $engine && complain 'an engine is left'
    server=
    ! grep 'signal \(4\|6\|7\|8\|11\)$\|signal \(4\|6\|7\|8\|11\),' log ||
        complain 'a crash'
}
answers() {
    ask /v1/completions -d '{"prompt":"a","max_tokens":1}' |
        jq -e '.choices[0].finish_reason' >/dev/null ||
        complain 'the next request has no answer'
}
value() { # NAME
    ask /metrics | sed -n "s/^gg_serve_$1 //p"
}
descriptors() {
    for pid in $server $front $engine; do
        ls "/proc/$pid/fd" | wc -l
    done | tr '\n' ' '
}
resident() { # KiB of the front
    sed -n 's/^VmRSS:[[:space:]]*\([0-9]*\).*/\1/p' "/proc/$front/status"
}
settles() { # WHAT: all is as `before` says
    for i in $(seq 100); do
        test "$(descriptors) $(value waiting) $(value running)" != \
            "$before 0 0" || return 0
        sleep 0.1
    done
    complain "$1: $before became $(descriptors), $(value waiting) wait," \
        "$(value running) run"
}
request() { # BODY
    printf 'POST /v1/completions HTTP/1.1\\r\\nHost: localhost\\r\\n'
    printf 'Content-Length: %d\\r\\n\\r\\n%s' ${#1} "$1"
}
long='{"prompt":"Once upon a time","max_tokens":400,"n":8,"stream":true}'
whole='{"prompt":"Once upon a time","max_tokens":400,"n":8}'
prompt=$(seq 80 | tr '\n' ' ')
prefill='{"prompt":"'$prompt'","max_tokens":1}'
fat='{"prompt":["a","b"],"max_tokens":400,"n":8,"stream":true,"logprobs":20}'

echo 'clients that go, in each state'
start
before=$(descriptors)
for round in 1 2 3 4 5; do
    for body in "$long" "$whole" "$prefill" "$fat"; do
        text=$(request "$body")
        half=$(printf '%s' "$text" | cut -c1-$((${#text} / round)))
        raw_client socket send "$half" reset || :
        raw_client socket send "$text" reset &
        raw_client socket send "$text" sleep "$((round * 20))" reset &
        raw_client socket send "$text" some reset &
        raw_client socket send "$text" some half &
        raw_client socket send "$text" drip 3 300 reset &
        wait $!
    done
done
raw_client socket slow 50 'GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n' heads |
    grep -q '200 OK' || complain 'a slow writer'
settles 'clients that go'
answers

echo 'a client that does not read'
raw_client socket send "$(request "$fat")" sleep 20000 &
reader=$!
for i in $(seq 200); do
    test "$(value running)" != 0 || test $i -lt 5 || break
    sleep 0.1
done
test "$(value slow_total)" -gt 0 || complain 'it was not cancelled'
kill $reader 2>/dev/null || :
settles 'a client that does not read'
answers

echo 'three requests in one connection'
url=http://localhost/health
test "$(curl -s -m 100 --unix-socket socket -w '%{num_connects} ' -o /dev/null \
    $url -o /dev/null $url -o /dev/null $url)" = '1 0 0 ' || complain 'keep-alive'
stop

echo 'ten thousand connections'
if test "$(ulimit -H -n)" = unlimited || test "$(ulimit -H -n)" -gt 10200; then
    start -q --connections 10100
    before=$(descriptors)
    first=$(resident)
    (ulimit -S -n 10200 && exec raw_client socket many 10000 sleep 8000) >many &
    holder=$!
    until test -s many; do
        sleep 0.1
    done
    test "$(value connections)" -gt 10000 || complain "$(value connections)"
    grown=$(($(resident) - first))
    echo "$grown KiB for 10,000 connections; the front had $first"
    test $grown -lt 320000 || complain 'more than 32 KiB a connection'
    answers
    wait $holder
    settles '10,000 connections'
    answers
    stop
fi

echo 'processes that are killed, in each state'
# The status of a stream, or a whole answer, that was cut: an error event, no
# [DONE] and no last chunk; or no answer at all.
is_told() { # WHAT STATUS
    if grep -q 'DONE' part; then
        complain "$1: a cut that looks whole"
    elif test $2 = 0; then
        grep -q '"error"' part || complain "$1: a whole answer without an error"
    fi
}
for who in front engine first; do
    for body in "$long" "$whole" "$prefill"; do
        for after in 0 0.03 0.3; do
            start -q
            case $who in
            front) pid=$front ;;
            engine) pid=$engine ;;
            first) pid=$server ;;
            esac
            for i in 1 2 3 4; do # two of them wait
                ask /v1/completions -N -d "$body" >part.$i &
                eval client$i=$!
            done
            sleep $after
            kill -KILL $pid
            killed=$(date +%s)
            for i in 1 2 3 4; do
                status=0
                eval wait "\$client$i" || status=$?
                mv part.$i part
                # the next engine may have answered what was waiting
                test $status = 0 && grep -q '"length"\|"stop"\|"usage"' part ||
                    is_told "$who" $status
            done
            if test $who = first; then
                wait $server || :
                for i in $(seq 50); do
                    runs $front || runs $engine ||
                        break
                    sleep 0.1
                done
                ! runs $front || complain 'the front is left'
                ! runs $engine || complain 'an engine is left'
                server=
            else
                find_parts
                stop
            fi
        done
    done
done

echo 'an engine that hangs'
start --silent 5
before=$(descriptors)
ask /v1/completions -N -d "$long" >part &
client=$!
until test -s part; do
    sleep 0.1
done
kill -STOP $engine
status=0
wait $client || status=$?
is_told 'an engine that hangs' $status
grep -q 'is silent, and is killed' log || complain 'no word of it'
find_parts
stop

echo 'few descriptors'
(
    ulimit -n 80
    exec gg-serve -q -m "$GG_MODEL" -l "$work/socket" --idle-time 5 2>log
) &
server=$!
find_parts
before=$(descriptors)
raw_client socket many 60 sleep 2000 >/dev/null &
wait $!
settles 'few descriptors'
answers
kill -KILL $engine
answers
find_parts
test "$(wc -l <log)" -lt 5 || complain 'the log is flooded'
stop

echo 'a log that nobody reads'
mkfifo pipe
exec 9<>pipe
gg-serve -m "$GG_MODEL" -l "$work/socket" 2>pipe &
server=$!
find_parts
name=$(printf '%900s' | tr ' ' a)
for i in $(seq 120); do
    ask "/$name" -o /dev/null
done
answers
lost=$(value log_lines_lost_total)
test "$lost" -gt 0 || complain 'no line was lost'
timeout 2 cat <&9 >log || :
answers
timeout 1 cat <&9 >>log || :
grep -q "gg-serve: $lost lines of the log were lost" log || complain 'no word'
stop
exec 9>&-
for where in /dev/full /dev/null; do
    gg-serve -m "$GG_MODEL" -l "$work/socket" 2>$where &
    server=$!
    find_parts
    stop
done

echo 'a front without memory'
start
head -c 7000000 /dev/zero | tr '\0' a | sed 's/^/{"prompt":"/; s/$/"}/' >big
for more in 0 100 1000 4000 10000 20000; do
    bytes=$(sed -n 's/^VmSize:[[:space:]]*\([0-9]*\).*/\1/p' "/proc/$front/status")
    prlimit --pid $front --as=$(((bytes + more) * 1024)):
    ask /v1/completions -d @big >/dev/null || :
    ask /v1/completions -d "$whole" >/dev/null || :
    prlimit --pid $front --as=4294967296: 2>/dev/null || :
    find_parts
done
stop

echo 'allocations that fail'
library=$build/tests/.libs/failing_alloc.so
for n in $(test -f $library && seq 20 97 2000); do
    (
        GG_FAIL_ALLOC="gg-serve $n" LD_PRELOAD=$library
        export GG_FAIL_ALLOC LD_PRELOAD
        exec gg-serve -q -m "$GG_MODEL" -l "$work/socket" 2>log
    ) &
    server=$!
    for i in 1 2 3; do
        ask /v1/completions -d '{"prompt":"a","max_tokens":1}' -m 5 \
            -o /dev/null || sleep 0.2
    done
    kill $server 2>/dev/null || :
    status=0
    wait $server || status=$?
    test $status -lt 128 || complain "allocation $n: status $status"
    ! grep 'signal' log || complain "allocation $n: a crash"
done
server=
exit $bad
