# Processes that use one prefix cache are killed at any moment, and others go on:
# the same bytes as without, and nothing incomplete is left.
make_model gemma3-f32 m.gguf
seq 3 302 | awk '{ printf "%d ", 3 + $1 * 11 % 250 }' >begin
for i in 1 2 3; do
    { cat begin && seq $((i * 5)) $((i * 5 + 90)) | tr '\n' ' ' && echo; } >"p$i"
done
run() { gg-eval -q --device cpu -t 1 -c 500 -m m.gguf "$@"; }
for i in 1 2 3; do run "p$i" >"want$i"; done
n=0
for t in 01 02 03 04 05 06 08 10 12 15 20 30; do
    for i in 1 2 3; do
        timeout -s KILL "0.$t" gg-eval -q --device cpu -t 1 -c 500 -m m.gguf \
            --cache c "p$i" >"got$i" 2>/dev/null &
    done
    wait
    i=$((n % 3 + 1))
    run --cache c "p$i" | cmp - "want$i"
    n=$((n + 1))
    test $((n % 4)) = 0 && rm -rf c
done
for round in 1 2 3; do # at once
    for i in 1 2 3; do run --cache c "p$i" >"got$i" & done
    wait
    for i in 1 2 3; do cmp "got$i" "want$i"; done
    rm -rf c
done
run --cache c p1 | cmp - want1
find c -name 'new*'
