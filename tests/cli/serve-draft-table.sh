# gg-serve with --draft-table: what an engine writes at its end, the next one
# knows
gg-serve -l /x/y -m "$GG_MODEL" 2>&1 | grep -q 'without libevent' && exit 77
for tool in curl jq; do
    command -v $tool >/dev/null || exit 77
done
gg-generate -q --greedy -n 30 -p 'Once upon a time' >want
serve() { # SIGNAL: accepted ids of drafts for one request
    gg-serve -m "$GG_MODEL" -l "$PWD/socket" -- --draft-table table -v 2>log &
    server=$!
    for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        curl -s -m 9 --unix-socket socket http://localhost/health >health &&
            break
        sleep 0.2
    done
    curl -s -m 60 --unix-socket socket http://localhost/v1/completions \
        -d '{"prompt":"Once upon a time","max_tokens":30,"temperature":0}' >body
    jq -j '.choices[].text' body >got
    cmp got want >&2
    kill "-$1" $server
    wait $server || echo "status $?"
    sed -n 's/.*draft:.*drafted, \([0-9]*\) accepted.*/\1/p' log
}
first=$(serve TERM)
test -s table || cat log
second=$(serve INT)
test "$second" -gt "$first" || echo "accepted: $first, then $second"
ls
