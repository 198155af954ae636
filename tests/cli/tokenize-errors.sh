# What goes wrong is said in a line, and shows in the status.
t() {
    "$@" >out 2>err
    status=$?
    sed "s|$GG_MODEL|MODEL|; s|of the [0-9]* tokens|of the N tokens|" err
    echo "$status"
}
t gg-tokenize --no-bos </dev/null
t gg-tokenize nothing
t gg-tokenize .
t gg-tokenize -m nowhere/model.gguf </dev/null
echo text >a
t gg-tokenize -m ./a </dev/null
t gg-tokenize --frobnicate
t gg-tokenize one two
t gg-tokenize -d --bos
t gg-tokenize -d --max-held none
ids() { printf '%b' "$*" >ids; t gg-tokenize -d --no-bos ids; }
ids '99999999\n'
ids '0\n1 2147483648\n'
ids '0\n1 99999999999999999999999\n'
ids '-1\n'
ids '1.5\n'
ids '0\r\n'
ids 'Welcome to this machine\n'
ids '\0377\0376\0000GG\n'
ids '0\n1\t0\n'
# A failed record does not keep the others from being done.
ids '1\t!context is full\n2\t\n1\t\n3\t99999999\n3\t\n'
cat out
ids '!no such thing\n'
# Outputs that cannot be written.
gg-tokenize a >/dev/full
echo $?
gg-tokenize a | gg-tokenize -d >/dev/full
echo $?
gg-tokenize -o nowhere/ids a
echo $?
# What fails leaves no file, and an old one as it was.
echo old >kept
gg-tokenize -o kept --no-bos /dev/null 2>/dev/null
gg-tokenize -o new --no-bos /dev/null 2>/dev/null
cat kept
ls
