#!/bin/sh
# 77-serve-soak.sh BUILD: half an hour ($GG_SOAK_SECONDS) of all that gg-serve
# answers, with clients that go, from two keys: memory and descriptors of its
# processes stay as they are once it is warm
set -eu
. "$(dirname "$0")/serve.inc"
seconds=${GG_SOAK_SECONDS-1800}
work=$(mktemp -d)
server= clients=
trap 'kill $server $clients 2>/dev/null || :; rm -rf "$work"' EXIT
cd "$work"
bad=0
complain() {
    echo "$*"
    bad=1
}

printf 'ann\tkey-of-ann-0\nbob\tkey-of-bob-0\n' >keys
chmod 600 keys
gg-serve -q -m "$GG_MODEL" --batch 4 -l "$work/socket" --key-file keys \
    -- --pooling mean --template alpaca 2>log &
server=$!
ask() { # PATH [OPTION...]
    path=$1
    shift
    curl -s -m 300 --unix-socket socket "http://localhost$path" \
        -H "x-api-key: key-of-$who-0" "$@"
}
who=ann
until ask /health >/dev/null; do
    sleep 0.1
done

# Number N of a client's requests: every kind, in turn, with other words.
one_request() { # N
    say="\"Marker $1. Once upon a time there was number $(($1 * 7919 % 1000))\""
    chat="\"messages\":[{\"role\":\"user\",\"content\":$say}]"
    case $(($1 % 14)) in
    0) ask /v1/chat/completions -d "{$chat,\"max_tokens\":16}" ;;
    1) ask /v1/chat/completions -d "{$chat,\"max_tokens\":32,\"stream\":true}" ;;
    2) ask /v1/completions -d "{\"prompt\":$say,\"max_tokens\":24,\"n\":3}" ;;
    3) ask /v1/completions -N -m 0.$(($1 % 9 + 1)) \
        -d "{\"prompt\":$say,\"max_tokens\":300,\"stream\":true}" ;;
    4) ask /v1/messages -d "{$chat,\"max_tokens\":16,\"stream\":true}" ;;
    5) ask /v1/messages -d "{$chat,\"max_tokens\":16}" ;;
    6) ask /v1/responses -d "{\"input\":$say,\"max_output_tokens\":16}" ;;
    7) ask /v1/responses -d "{\"input\":$say,\"max_output_tokens\":16,
        \"stream\":true}" ;;
    8) ask /v1/embeddings -d "{\"input\":[$say,\"b\"]}" ;;
    9) ask /tokenize -d "{\"content\":$say}" ;;
    10) ask /v1/messages/count_tokens -d "{$chat}" ;;
    11) ask /v1/chat/completions -d "{$chat,\"max_tokens\":24,
        \"response_format\":{\"type\":\"json_object\"}}" ;;
    12) ask /v1/completions -d '{"prompt":' ;;
    13) ask /v1/chat/completions -m 0.$(($1 % 7 + 1)) \
        -d "{$chat,\"max_tokens\":200,\"n\":8}" ;;
    esac >/dev/null || : # those that go have a status
}
client() { # FIRST
    n=$1
    while test ! -e stop; do
        case $((n / 14 % 2)) in 0) who=ann ;; *) who=bob ;; esac
        one_request $n
        n=$((n + 5))
    done
}
for first in 1 2 3 4 5; do
    client $first &
    clients="$clients $!"
done

sample() { # seconds, and of each process KiB and descriptors
    printf '%d' $(($(date +%s) - begun))
    for pid in $server $front $engine; do
        printf ' %d %d' \
            "$(sed -n 's/^VmRSS:[[:space:]]*\([0-9]*\).*/\1/p' "/proc/$pid/status")" \
            "$(ls "/proc/$pid/fd" | wc -l)"
    done
    echo
}
front=$(pgrep -P $server -x gg-serve)
until engine=$(pgrep -P $server -x gg-generate); do
    sleep 0.1
done
begun=$(date +%s)
: >samples
while test $(($(date +%s) - begun)) -lt "$seconds"; do
    sample >>samples || complain 'a process has ended'
    test $bad = 0 || break
    sleep $((seconds / 180 + 1))
done
: >stop
wait $clients || :
clients=

# The line through the samples after the first third, and what it rises by in
# that time: KiB, and descriptors.
awk '
{ n++; for (i = 1; i <= 7; i++) v[n, i] = $i }
END {
    split("- monitor monitor front front engine engine", name)
    split("- KiB descriptors KiB descriptors KiB descriptors", unit)
    split("0 512 2 1024 8 8192 2", most)
    first = int(n / 3) + 1
    for (i = 2; i <= 7; i++) {
        k = sx = sy = sxx = sxy = 0
        for (j = first; j <= n; j++) {
            k++; sx += v[j, 1]; sy += v[j, i]
            sxx += v[j, 1] ^ 2; sxy += v[j, 1] * v[j, i]
        }
        d = k * sxx - sx * sx
        rise = d ? (k * sxy - sx * sy) / d * (v[n, 1] - v[first, 1]) : 0
        printf "%s: %d %s at the end, rise %.1f (at most %d)\n", name[i],
            v[n, i], unit[i], rise, most[i]
        bad += rise > most[i]
    }
    exit bad != 0
}' samples || complain 'it grows'
ask /metrics | grep '^gg_serve_\(requests_total\|cancelled_total\|engines_lost_total\|answer_tokens_total\|waiting\|running\) '
test "$(ask /metrics | sed -n 's/^gg_serve_engines_lost_total //p')" = 0 ||
    complain 'an engine was lost'
kill $server
wait $server || complain "status $?"
server=
exit $bad
