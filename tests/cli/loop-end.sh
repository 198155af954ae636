# Every way in which a loop ends: none of them hangs, none is silent.
limit() { timeout 60 "$@"; }
loop() { limit gg-loop "$@"; echo "status $?"; }

# Says so where the command's shell outlives the loop: by long, for a machine
# that is busy ends nothing at once.
gone() {
    for _ in $(seq 100); do
        kill -0 "$(cat shell)" 2>/dev/null || return 0
        sleep 0.1
    done
    echo still there
}

loop 'fake_eval | gg-sample' </dev/null 2>err # a missing prompt
cat err >&2
echo | loop 'fake_eval | gg-sample'           # an empty prompt
loop cat </dev/null                           # a command that does not mind
echo 1 | loop './no-such-eval 2>err | gg-sample'
echo 1 | loop 'exit 7'
echo 1 | loop 'kill -9 $$'
echo 1 2 | loop 'fake_eval -c 3 | gg-sample --seed 5' # the context is full
printf '1\t1\n2\t1 2 3\n3\t!bad record\n' |
    loop 'fake_eval -c 2 | gg-sample --seed 5'

# Nobody reads what comes out: the loop, which by itself would go on, ends as
# any filter does, and what is in it, too.
{
    echo 1 2 | FAKE_EVAL_EOG=none limit gg-loop \
        'echo $$ >shell; fake_eval -d 1 | gg-sample'
    echo $? >st
} | sed 2q >two
wc -l two
cat st
gone

# A sampler that ends early by itself, with nothing to tell us so.
echo 1 2 | loop 'sed -un "s/\$/ 0/p;2q"'

# A signal goes to all of the command, and then ends the loop.
rm shell
mkfifo silence
gg-loop 'echo $$ >new; mv new shell; fake_eval | gg-sample' <silence &
exec 3>silence
until test -s shell; do sleep 0.1; done
kill -TERM $!
{ wait $!; } 2>/dev/null
echo "status $?"
exec 3>&-
gone

gg-loop
echo "status $?"
gg-loop cat cat
echo "status $?"
gg-loop --batch 0 cat
echo "status $?"
echo 1 | limit gg-loop 'fake_eval | gg-sample -n 1' >/dev/full
echo "status $?"
