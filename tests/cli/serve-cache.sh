# gg-serve with a prefix cache: what one server computed another one reads, two
# use one folder at once, and one that is killed leaves nothing incomplete
gg-serve --translate chat </dev/null 2>&1 | grep -q 'without Jansson' && exit 77
gg-serve -l /x/y -m "$GG_MODEL" 2>&1 | grep -q 'without libevent' && exit 77
for tool in curl jq pgrep; do
    command -v $tool >/dev/null || exit 77
done
yes 'a red ball and a girl' | head -n 40 | tr '\n' ' ' >text
ask() { # SOCKET PROMPT-ENDS-WITH: the answer's text, and cached ids to `cached`
    jq -nc --rawfile t text --arg q "$2" \
        '{prompt: ($t + $q), seed: 7, max_tokens: 8}' >"ask.$1"
    curl -s -m 60 --unix-socket "$PWD/$1" http://localhost/v1/completions \
        -d "@ask.$1" >"body.$1"
    jq -j '.choices[].text' "body.$1"
    jq '.usage.prompt_tokens_details.cached_tokens' "body.$1" >"cached.$1"
}
start() { # SOCKET OPTION...
    socket=$1
    shift
    gg-serve -q -m "$GG_MODEL" -l "$PWD/$socket" -- -t 1 "$@" 2>"log.$socket" &
    server=$!
    for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        curl -s -m 9 --unix-socket "$PWD/$socket" http://localhost/health \
            >/dev/null && return
        sleep 0.2
    done
    cat "log.$socket"
}
stop() { # PROCESS...
    kill "$@"
    wait "$@"
}
for q in a b c d; do
    { cat text && printf %s $q; } >prompt
    gg-generate -q -t 1 -n 8 -s 7 -f prompt >"want.$q"
done

echo 'a server, and the next'
start s --cache "$PWD/c"
ask s a | cmp - want.a
cat cached.s
stop $server
start s --cache "$PWD/c"
ask s a | cmp - want.a
awk '{ print ($1 > 150) }' cached.s
stop $server
echo '$GG_CACHE'
GG_CACHE=$PWD/c
export GG_CACHE
start s
unset GG_CACHE
ask s b | cmp - want.b
awk '{ print ($1 > 150) }' cached.s
stop $server

echo 'two at once'
rm -r c
start s --cache "$PWD/c"
one=$server
start z --cache "$PWD/c"
for q in a b c d; do
    ask s $q >got.s &
    client=$!
    ask z $q | cmp - want.$q
    wait $client
    cmp got.s want.$q
done
stop $one $server
find c -name 'new*'

echo 'killed'
n=0
for t in 02 05 08 12 20; do
    rm -rf c
    start s --cache "$PWD/c"
    { sleep "0.$t" && kill -KILL $(pgrep -P $server -x gg-generate); } &
    killer=$!
    ask s a >/dev/null 2>&1
    wait $killer
    stop $server
    start s --cache "$PWD/c"
    ask s a | cmp - want.a || n=$((n + 1))
    stop $server
    find c -name 'new*'
done
echo $n wrong
