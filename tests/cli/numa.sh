# --numa: the bytes of a run without it, on machines that hwloc is told of, and
# on this one.
"$top_builddir/tests/make_model" llama-q8_0 model.gguf || exit 99
GG_MODEL=$PWD/model.gguf
export GG_MODEL
gg-generate --numa isolate -p a -n 1 2>&1 | grep 'without hwloc' >&2 && exit 77

echo "-- the same bytes"
seq 5 | sed 's/$/ a b/' >lines
gg-generate --lines -s 1 -n 9 lines >want
gg-tokenize lines >ids
gg-eval ids >logits
same() { # OPTION...
    gg-generate --lines -s 1 -n 9 "$@" lines | cmp - want
    gg-eval "$@" ids | cmp - logits
}
for how in off distribute isolate; do
    same --numa $how
    for t in 1 2 5; do
        HWLOC_SYNTHETIC='pack:2 [numa] core:2 pu:1' same --numa $how -t $t
    done
    HWLOC_SYNTHETIC='pack:2 numa:2 core:1 pu:2' same --numa $how --no-mmap
    # Where it may really bind: what this machine lacks is passed over.
    HWLOC_SYNTHETIC='numa:3 core:1 pu:1' HWLOC_THISSYSTEM=1 same --numa $how -t 3
done

echo "-- what is chosen"
chosen() {
    HWLOC_SYNTHETIC=$1 gg-generate -v --numa $2 -p a -n 1 -s 1 2>&1 >/dev/null |
        grep NUMA
}
chosen 'pack:2 [numa] core:3 pu:2' distribute
chosen 'pack:2 [numa] core:3 pu:2' isolate | wc -l
chosen 'numa:1 core:1 pu:1' distribute
chosen 'pack:2 [numa] [numa] core:2 pu:1' distribute
chosen 'pack:2 [numa] core:3 pu:2' off

echo "-- what is refused"
gg-generate --numa mirror -p a
gg-tokenize --numa distribute lines
