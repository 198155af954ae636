#!/bin/sh
# mpi.sh - what a network costs a pipeline of two ranks: in namespaces of their
# own, whose packets a relay carries late (relay.c)
#
#   bench/mpi.sh [-m MODEL] [-n TOKENS] [-t THREADS] [-b RECORDS] [DELAY[:BANDWIDTH]...]
#
# DELAY: milliseconds one way; BANDWIDTH: MB/s each way. As root, with Open MPI.
# Rows of tab-separated fields: delay, bandwidth, tokens, seconds, tokens/s,
# bytes a token from rank 0 to the other, and back, with the headers of TCP.
set -eu
build=${GG_BUILD-$(pwd)}
model=shape tokens=32 threads=1 records=1
while getopts m:n:t:b: o; do
    case $o in
    m) model=$OPTARG ;;
    n) tokens=$OPTARG ;;
    t) threads=$OPTARG ;;
    b) records=$OPTARG ;;
    *) sed -n '5p' "$0" >&2 && exit 2 ;;
    esac
done
shift $((OPTIND - 1))
test $# -gt 0 || set -- 0 1 10
generate=$build/bin/gg-generate/gg-generate
a=gg-a-$$ b=gg-b-$$ d=$(mktemp -d) relay=
stop() {
    test -z "$relay" || kill "$relay" 2>/dev/null || true
    ip netns del $a 2>/dev/null || true
    ip netns del $b 2>/dev/null || true
    rm -rf "$d"
}
trap stop EXIT

# Where mpirun would call ssh HOST COMMAND...: the other namespace, as another
# host, or it would use shared memory.
cat >"$d/agent" <<END
#!/bin/sh
shift
exec ip netns exec $b unshare -u sh -c "hostname gg-b && \$*"
END
chmod +x "$d/agent"
seq "$records" | sed 's/.*/the ship & sails/' >"$d/records"

run() { # COMMAND...: writes seconds
    start=$(date +%s.%N)
    "$@" --lines --batch "$records" -n "$tokens" --ignore-eog -s 1 -q -t "$threads" \
        -m "$model" "$d/records" >"$d/out" 2>"$d/err" || { cat "$d/err" && exit 1; }
    echo "$start $(date +%s.%N)" | awk '{ print $2 - $1 }'
}
ranks() { # COMMAND...
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
        ip netns exec $a mpirun.openmpi -n 2 --host 10.77.0.1,10.77.0.2 \
        --mca plm_rsh_agent "$d/agent" --mca btl self,tcp --mca oob_tcp_if_include gg0 \
        --mca btl_tcp_if_include gg0 "$@"
}

up() { # MILLISECONDS MEGABYTES: two namespaces, and the network between them
    ip netns add $a && ip netns add $b
    "$build/bench/relay" $a $b "$(echo "$1" | awk '{ print $1 * 1000 }')" \
        "$(echo "$2" | awk '{ print $1 * 1e6 }')" >"$d/relayed" &
    relay=$!
    until ip -n $b link show gg0 >/dev/null 2>&1; do sleep 0.1; done
    for i in 1 2; do
        test $i = 1 && ns=$a || ns=$b
        ip -n "$ns" link set lo up
        ip -n "$ns" addr add 10.77.0.$i/24 dev gg0
        ip -n "$ns" link set gg0 up
    done
}
down() {
    kill "$relay" && wait "$relay" || true
    relay=
    ip netns del $a && ip netns del $b
}

printf 'delay\tbandwidth\ttokens\tseconds\ttokens/s\tout\tback\n'
all=$((tokens * records))
one=$((all - records))
few() { # COMMAND...: what is beside the tokens, a job with one of each record
    tokens=1
    run "$@"
}
for net; do
    ms=${net%%:*} mb=0
    case $net in *:*) mb=${net#*:} ;; esac
    up "$ms" "$mb"
    before=$(few ranks "$generate" --mpi layers)
    down
    mv "$d/relayed" "$d/before"
    up "$ms" "$mb"
    seconds=$(run ranks "$generate" --mpi layers)
    down
    paste "$d/before" "$d/relayed" | awk -v n="$one" -v s="$seconds" \
        -v before="$before" -v ms="$ms" -v mb="$mb" '
        { more[NR] = ($13 - $6) / n }
        END { printf "%s\t%s\t%d\t%.2f\t%.2f\t%.0f\t%.0f\n", ms, mb ? mb : "-", n,
              s - before, n / (s - before), more[1], more[2] }'
done
before=$(few "$generate")
run "$generate" | awk -v n="$one" -v before="$before" '
    { printf "one process\t-\t%d\t%.2f\t%.2f\t-\t-\n", n, $1 - before,
      n / ($1 - before) }'
