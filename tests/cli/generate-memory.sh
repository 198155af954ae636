# Mapped, read or locked: the same bytes. What was read may change later.
"$top_builddir/tests/make_model" llama-q8_0 model.gguf || exit 99
GG_MODEL=model.gguf
export GG_MODEL
gg-generate -p ab -n 9 -s 5 >want
gg-generate -p ab -n 9 -s 5 --no-mmap | cmp - want
gg-generate -p ab -n 9 -s 5 --mlock >got 2>err ||
    grep -q 'model.gguf: cannot be kept in memory: .* (see ulimit -l)' err &&
    cp want got
cmp got want
gg-tokenize <<END >ids
ab
END
mkfifo in
gg-eval --no-mmap <in >logits &
exec 3>in
cat ids >&3
until test -s logits; do sleep 0.05; done # it is open
head -c 4096 /dev/zero >model.gguf
cat ids >&3
exec 3>&-
wait $! || echo "status $?"
gg-sample --greedy logits >/dev/null || echo "no logits"
