# The prefix cache of --cache: the same bytes with it, and what is found in it.
umask 022
ids() { # FROM N: numbers of tokens on a line
    seq "$1" $(($1 + $2 - 1)) | awk '{ printf "%d ", 3 + $1 * 7 % 250 }'
    echo
}
make_model llama-f32 m.gguf
ids 0 400 >a
{ tr '\n' ' ' <a && ids 900 60; } >b
# Ids that were read from files, and pieces that were written.
run() { # INPUT OPTION...
    input=$1
    shift
    gg-eval -v --device cpu -t 1 -c 600 -m m.gguf "$@" "$input" 2>log >out
    echo "status $?: $(sed -n 's/.*cache of prefixes: //p' log)"
}
gg-eval -q --device cpu -t 1 -m m.gguf -c 600 a >want-a
gg-eval -q --device cpu -t 1 -m m.gguf -c 600 b >want-b

echo a prompt, the same, and a longer one
run a --cache c
cmp out want-a
run a --cache c
cmp out want-a
run b --cache c
cmp out want-b
ls -ld c c/* | cut -c 1-10 | sort -u
ls -l c/*/0* | cut -c 1-10 | sort -u
GG_CACHE=c
export GG_CACHE
run b
cmp out want-b
run b --cache ''
run b --cache-size 0

echo another context, other threads
run b -c 1000 -t 2 --batch-size 50
cmp out want-b
echo other types, kernels, positions, precision
run b --cache-type bf16
GG_CPU_ISA=c run b
run b --rope-factor 2
run b --precision bf16
run b --no-mmap

echo one weight is changed, and nothing of what a fingerprint samples
sleep 2.1
run a
test "$(ls c/models | wc -l)" -gt 0 && echo the hash is remembered
cp m.gguf other.gguf
before=$(gg-inspect m.gguf | grep -i fingerprint)
size=$(wc -c <other.gguf)
byte=$(od -An -tu1 -j $((size - 1001)) -N 1 other.gguf)
printf "\\$(printf %o $((byte ^ 1)))" |
    dd of=other.gguf bs=1 seek=$((size - 1001)) conv=notrunc 2>/dev/null
test "$before" = "$(gg-inspect other.gguf | grep -i fingerprint)" &&
    echo the same fingerprint
run a -m other.gguf
run a -m other.gguf
touch -r other.gguf times
printf '\1' | dd of=other.gguf bs=1 seek=$((size - 2001)) conv=notrunc 2>/dev/null
touch -r times other.gguf
run a -m other.gguf

echo damaged, cut off, and foreign files
rm -r c
run a
for f in c/*/0*; do
    printf x | dd of="$f" bs=1 seek=3000 conv=notrunc 2>/dev/null
done
run a
gg-eval -q --device cpu -t 1 -m m.gguf -c 600 --cache '' a | cmp - out
for f in c/*/0*; do
    head -c 500 "$f" >cut
    cat cut >"$f"
done
run a
for f in c/*/0*; do
    echo no piece >"$f"
done
run a
run a

echo no room
rm -r c
(trap '' XFSZ && ulimit -f 64 && run a)
grep -c 'no cache of prefixes: File too large' log
cmp out want-a
find c -name '0*' -o -name 'new*'
run a

echo what others may write to, or cannot be made
chmod 777 c
run a
sed 's/.*gg-eval/gg-eval/' log
chmod 700 c
run a --cache no/folder
cat log
echo 1 >file
run a --cache file
cat log
run a --cache d --score
tail -n 2 log

echo a bound
run a --cache small --cache-size 150K
find small -name '0*' | wc -l | tr -d ' '
run b --cache small --cache-size 150K
find small -name '0*' -exec cat {} + | wc -c | awk '{ print ($1 <= 150 * 1024) }'

echo a temporary file that nobody writes
sub=$(ls -d c/????????????????????????????????)
echo >"$sub/new-abcdef"
echo >c/models/new-abcdef
exec 9>"$sub/new-locked"
flock -n 9
run a
find c -name 'new-*' | sed 's,.*/,,'
exec 9>&-
run a
find c -name 'new-*'

echo gg-generate, records
unset GG_CACHE
yes 'a red ball and a girl' | head -n 16 >text
one() { gg-generate -q --device cpu -t 1 -c 900 -s 1 -n 5 -m m.gguf "$@"; }
one -f text >want
one --cache g -f text | cmp - want
one -v --cache g -f text 2>log | cmp - want
sed -n 's/.*cache of prefixes: //p' log
for q in a b c; do
    jq -nc --rawfile t text --arg q $q '{prompt: ($t + $q), seed: 3, max_tokens: 4}'
done >records
one --jsonl records >want
one --jsonl --cache g records | cmp - want
one -v --jsonl --cache g records 2>log | cmp - want
sed -n 's/.*cache of prefixes: \([0-9]* ids\).*/\1/p' log |
    awk '{ print ($1 > 300) }'
