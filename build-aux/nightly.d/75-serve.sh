#!/bin/sh
# 75-serve.sh BUILD: gg-serve under load: 32 clients get the bytes of gg-generate
# while others go away, nobody gets what is another's, connections and processes
# that die leave nothing behind
set -eu
. "$(dirname "$0")/serve.inc"
work=$(mktemp -d)
server= chats=
trap 'kill $server $chats 2>/dev/null || :; rm -rf "$work"' EXIT
cd "$work"
bad=0
complain() {
    echo "$*"
    bad=1
}

printf 'ann\tkey-of-ann-0\nbob\tkey-of-bob-0\n' >keys
chmod 600 keys
gg-serve -q -m "$GG_MODEL" --batch 8 -l "$work/socket" --key-file keys 2>log &
server=$!
ask() { # KEY BODY [OPTION...]
    key=$1 body=$2
    shift 2
    curl -s -m 600 --unix-socket socket -H "Authorization: Bearer $key" \
        -d "$body" "$@" http://localhost/v1/completions
}
until curl -s --unix-socket socket http://localhost/health >/dev/null; do
    sleep 0.1
done

echo '32 clients, four rounds, and clients that go away'
body() { # N ROUND STREAM
    printf '{"prompt":"Marker %d of round %d. Once upon a time","max_tokens":40,
        "seed":%d,"temperature":0.9,"stream":%s}' "$1" "$2" "$1" "$3"
}
for round in 1 2 3 4; do
    clients=
    for n in $(seq 32); do
        case $((n % 2)) in 0) key=key-of-ann-0 ;; *) key=key-of-bob-0 ;; esac
        ask $key "$(body $n $round false)" >got.$n &
        clients="$clients $!"
        test $((n % 4)) != 0 ||
            ask $key "$(body $n 9 true)" -N --max-time 0.$((n % 7 + 1)) \
                >/dev/null || :
    done
    wait $clients || :
    for n in $(seq 32); do
        gg-generate -q -s $n --temp 0.9 -n 40 \
            -p "Marker $n of round $round. Once upon a time" >want.$n
        jq -j '.choices[0].text' got.$n | cmp -s - want.$n ||
            complain "round $round, client $n: other bytes"
    done
done

echo 'a prompt of another key is evaluated anew'
long=$(seq 90 | tr '\n' ' ')
for who in ann ann bob; do
    ask key-of-$who-0 "{\"prompt\":\"$long\",\"max_tokens\":1}" |
        jq -r '.usage.prompt_tokens_details.cached_tokens' >>cached
done
sed -n '1p;3p' cached | grep -qv '^0$' && complain "cached: $(tr '\n' ' ' <cached)"
test "$(sed -n 2p cached)" -gt 0 || complain 'the same key had nothing'

echo 'a second turn evaluates what is new, though others came in between'
gg-serve -q -m "$GG_MODEL" -l "$work/chats" -c 6000 --batch 2 \
    -- --slots 5 --template alpaca 2>log.chats &
chats=$!
until curl -s --unix-socket chats http://localhost/health >/dev/null; do
    sleep 0.1
done
begin() { # NAME SENTENCES
    awk -v w="$1" -v n="$2" 'BEGIN { for (; n; n--) printf "%s %d. ", w, n }' |
        jq -Rc '[{role: "user", content: .}]' >$1.messages
}
turn() { # NAME
    jq -c '{messages: ., max_tokens: 8, seed: 1}' $1.messages |
        curl -s -m 900 --unix-socket chats -d @- \
            http://localhost/v1/chat/completions >$1.answer
    jq -c --slurpfile a $1.answer '. + [$a[0].choices[0].message,
        {role: "user", content: "And then?"}]' $1.messages >$1.next
    mv $1.next $1.messages
}
cached() { # NAME MOST: 95 of 100 ids are cached, and all but MOST
    jq -e --argjson most "$2" '.usage | .prompt_tokens as $n |
        .prompt_tokens_details.cached_tokens |
        . >= 0.95 * $n and . >= $n - $most' $1.answer >/dev/null ||
        complain "$1: $(jq -c .usage $1.answer)"
}
begin long 500
turn long && turn long && cached long 64
for agent in one two three; do
    begin $agent 200
done
for round in 1 2; do
    agents=
    for agent in one two three; do
        turn $agent &
        agents="$agents $!"
    done
    wait $agents
done
for agent in one two three; do
    cached $agent 64
done
turn long && cached long 64
kill $chats
wait $chats || complain "status $?"
chats=

echo 'processes die'
for round in 1 2 3 4 5; do
    ask key-of-ann-0 "$(body 1 1 true)" -N >stream &
    client=$!
    sleep 0.0$round
    pkill -KILL -P $server -x gg-generate || :
    wait $client || :
    grep -q '"error"\|DONE' stream || complain 'a cut that looks whole'
    ask key-of-ann-0 "$(body 1 1 false)" | jq -j '.choices[0].text' >again
    gg-generate -q -s 1 --temp 0.9 -n 40 -p 'Marker 1 of round 1. Once upon a time' |
        cmp - again || complain 'after a death: other bytes'
done

echo 'nothing grows'
count() {
    pid=$(pgrep -P $server -x gg-serve)
    ls /proc/"$pid"/fd | wc -l
}
before=$(count)
for n in $(seq 300); do
    ask key-of-ann-0 '{"prompt":"a","max_tokens":1}' >/dev/null
done
test "$(count)" -le $((before + 2)) || complain "descriptors: $before, $(count)"

kill $server
wait $server || complain "status $?"
server= chats=
exit $bad
