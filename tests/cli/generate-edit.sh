# Lines that are edited on a terminal, with a history.
script -qec true /dev/null >/dev/null 2>&1 </dev/null || {
    echo "script(1) gives no terminal" >&2
    exit 77
}
test -f "$GG_MODEL" || { echo "no demo model" >&2 && exit 77; }
echo '{"role":"user","content":""}' | gg-tokenize -q --chat --template alpaca \
    2>&1 | grep 'without Jansson' >&2 && exit 77
ignored=$(sh -c 'kill -INT $$; echo yes')
test "$ignored" && { echo "interrupts are ignored here" >&2 && exit 77; }
echo /help | gg-generate -q -i --commands --template alpaca 2>&1 |
    grep 'was built without' >&2 && exit 77

# Waits until the command succeeds.
await() {
    for _ in $(seq 2000); do
        "$@" && return
        sleep 0.05
    done
    echo "waited for $*"
}
mkfifo keys
: >answers
printf 'of another day\n' >history
TERM=xterm GG_HISTORY=history timeout 250 script -qefc 'trap : INT
    gg-generate -q -i --template alpaca --ignore-eog -n 4 -s 1 \
    >answers 2>/dev/tty; echo "status $?" >status' transcript <keys >/dev/null &
exec 3>keys
key() {
    printf '%b' "$1" >&3
}
# Backspace, the begin and the end of the line, UTF-8, the line before, and a
# line of the history's file.
key 'hallx\0177o\001O\005!\n'
key 'gr\0303\0274\0303\0237en\0177\0177\n'
key '\033[A\033[A\n'
key '\033[A\033[A\033[A\033[A?\n'
key '/save 1.json\n'
await test -s 1.json
jq -c '.[] | select(.role == "user").content' 1.json
# An interrupt starts the line anew, also in the middle of rows.
prompted() { # after so many bytes
    tail -c "+$1" transcript | grep -q '> '
}
interrupt() { # after that is there
    await grep -q "$1" transcript
    size=$(wc -c <transcript)
    key '\003'
    await prompted $((size + 1))
}
key 'never'
interrupt never
key 'sent \\\nnor this'
interrupt 'nor this'
key 'rows \\\n\\\nof three\n"""\n/two\n"""\n/save 2.json\n'
await test -s 2.json
jq -c '.[8:][] | select(.role == "user").content' 2.json
# Going back.
key '/undo\n/undo\n/save 3.json\n'
await test -s 3.json
jq length 3.json
key '\004'
exec 3>&-
wait
cat status
# What was typed is in the history's file, which others cannot read.
grep -v never history
echo /quit | TERM=xterm GG_HISTORY=new script -qec \
    'gg-generate -q -i --template alpaca' /dev/null >/dev/null
ls -l new | cut -c 1-10
