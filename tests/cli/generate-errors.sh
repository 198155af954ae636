# What goes wrong is said in one line, and is an exit status.
"$top_builddir/tests/make_model" llama-bf16 model.gguf || exit 99
run() {
    "$@"
    echo "status $?"
}
full() {
    "$@" >/dev/full
}
run gg-generate --nonsense
run gg-generate -n 0 -p a
run gg-generate -n many -p a
run gg-generate --temp -1 -p a
run gg-generate --top-p 1.1 -p a
run gg-generate -p a -f b/c
run gg-generate a b
run gg-generate -m nonesuch.gguf -p a
GG_MODEL=model.gguf
export GG_MODEL
run gg-generate -f nonesuch
run gg-generate </dev/null
run gg-generate -p ''
run gg-generate -c 2000 -t 0 -p a
run full gg-generate -p a -n 3
run gg-generate -p a -n 3 -o /nonexistent/out
run timeout 60 gg-generate -p a -c 100000 | head -c 10 | wc -c

# An interrupt: what was made is there, and the tool ends by the signal.
run timeout --preserve-status -s INT 1 gg-generate -p a -c 100000 >out
tail -n 1 out | grep -ao 'status .*'
test "$(wc -c <out)" -gt 20 || echo "too little was written"
run timeout --preserve-status -s TERM 1 gg-generate -p a -c 100000 -o file
ls file* 2>/dev/null

# A missing prompt or model ends the whole pipe, and soon.
cat >pipes <<'END'
set -o pipefail
status() {
    test $? -gt 0 && echo "it failed"
}
gg-tokenize -f nonesuch | gg-eval | gg-sample -n 5 | gg-tokenize -d
status
gg-tokenize -f nonesuch | gg-loop 'gg-eval | gg-sample -n 5' | gg-tokenize -d
status
echo a | gg-tokenize | gg-eval -m nonesuch | gg-sample -n 5 | gg-tokenize -d
status
echo a | gg-tokenize | gg-loop 'gg-eval -m nonesuch | gg-sample -n 5' |
    gg-tokenize -d
status
mkfifo loop
{ gg-tokenize -f nonesuch && cat; } <loop | gg-eval | gg-sample -n 5 |
    tee loop | gg-tokenize -d
status
{ echo a | gg-tokenize && cat; } <loop | gg-eval -m nonesuch | gg-sample -n 5 |
    tee loop | gg-tokenize -d
status
END
timeout 60 bash pipes 2>err
echo "all of them: $?"
test -s err || echo "nobody said why"
