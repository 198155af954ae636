# On a terminal: a prompt, an interrupt that ends an answer only, the end.
script -qec true /dev/null >/dev/null 2>&1 </dev/null || {
    echo "script(1) gives no terminal" >&2
    exit 77
}
test -f "$GG_MODEL" || { echo "no demo model" >&2 && exit 77; }
ignored=$(sh -c 'kill -INT $$; echo yes')
test "$ignored" && { echo "interrupts are ignored here" >&2 && exit 77; }

# Waits until the transcript has $1 prompts, beside its first line, which has
# the command, and more than $2 bytes.
await() {
    for _ in $(seq 400); do
        test "$(tail -n +2 prompts | tr -cd '>' | wc -c)" -ge "$1" &&
            test "$(wc -c <answers)" -gt "$2" && return
        sleep 0.1
    done
    echo "waited for $1 prompts and $2 bytes"
}
mkfifo keys
: >answers
: >prompts
# What is typed is not echoed into what is compared; the shell outlives an
# interrupt, which is for gg-generate.
TERM=dumb timeout 250 script -qefc 'trap : INT; stty -echo; gg-generate -i --template alpaca \
    --ignore-eog -c 100000 -s 1 >answers 2>/dev/tty; echo "status $?" >status' \
    prompts <keys >/dev/null &
exec 3>keys
await 1 -1
printf 'hello\n' >&3
await 1 20 # an answer without end
printf '\003' >&3
await 2 20
size=$(wc -c <answers)
printf '\n \nagain\n' >&3
await 4 $((size + 20))
printf '\003' >&3
await 5 0
printf 'never sent' >&3
printf '\003' >&3
await 6 0
printf '\004' >&3
exec 3>&-
wait
cat status
