# Killed half-way, or without room: no half file, nothing left behind but by a
# KILL, and what was there before stays.
test -f "$GG_MODEL" || { echo "no demo model" >&2 && exit 77; }
cp "$GG_MODEL" in.gguf
n=$(wc -c <in.gguf)
echo old >old
# A signal that comes after the last name was given finds all files whole.
left() {
    new=0
    for f in out*; do
        if cmp -s "$f" "whole/$f"; then
            new=$((new + 1))
        elif test "$f" != out || ! cmp out old; then
            echo "$f is there"
        fi
    done
    test $new = 0 || test $new = "$(ls whole | wc -l)" || echo "$new files"
}
try() { # a command
    rm -rf out* whole && mkdir whole && "$@" >/dev/null 2>&1 && mv out* whole
    for sig in 15 2 1 9; do
        for part in 0 3 8; do
            cut_short $sig $((n * part / 10 - (part == 0))) "$@"
            test $sig = 9 && rm -f out?*
            left
        done
    done | uniq -c | sed 's/^ *//'
}
echo 'to one file' && try gg-convert in.gguf out
echo 'to several' && try gg-convert --split 1M in.gguf out
echo 'to tensors' && try gg-convert --to safetensors in.gguf out
echo 'to numbers' && try gg-quantize -q --pure in.gguf out F32
rm -f out*

# No room: a signal, or a word where that is ignored.
room() {
    cp old out
    sh -c "ulimit -f $((n / 2048)); $*; exit \$?" 2>/dev/null
    echo $?
    (trap '' XFSZ && ulimit -f $((n / 2048)) && "$@")
    echo $?
    left
}
room gg-convert in.gguf out
room gg-convert --split 1M in.gguf out
room gg-convert --split 5M in.gguf out
room gg-convert --to safetensors in.gguf out
room gg-quantize -q --pure in.gguf out F32
cp in.gguf same.gguf
(trap '' XFSZ && ulimit -f $((n / 2048)) &&
    gg-convert --set general.name='a name that takes far more room' in.gguf)
echo $?
cmp in.gguf same.gguf && rm -r same.gguf whole && ls
