# Nothing but named files is read and written, by whoever takes a tool over; and
# what the sandbox has to do with is left as it was.
make_model llama-f32 m.gguf || exit 99
gg-inspect -v m.gguf 2>&1 >/dev/null | grep 'no sandbox' >&2 && exit 77
GG_MODEL=$PWD/m.gguf
export GG_MODEL

echo 'a tool that was taken over:'
cat >t.c <<'C'
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
static void try(const char *path, int flags)
{
    if (open(path, flags, 0600) >= 0)
        printf("%s\n", path);
}
int gg_model_open(void)
{
    try(".ssh/id_rsa", O_RDONLY);
    try(".bashrc", O_WRONLY | O_APPEND);
    try("notes", O_RDONLY);
    try("new", O_WRONLY | O_CREAT);
    try(getenv("OUT"), O_WRONLY);
    fflush(stdout);
    exit(0);
}
C
mkdir home home/.ssh && cp m.gguf home
(cd home && echo key >.ssh/id_rsa && echo rc >.bashrc && echo note >notes)
if ${CC:-cc} -shared -fPIC -w -o t.so t.c 2>/dev/null &&
    ! strings -n 8 "$top_builddir"/bin/gg-eval/gg-eval 2>/dev/null |
        grep -q __asan_init; then
    cd home
    for a in '-o out' '--state st' '--resume res --lines'; do
        OUT=${a#* } && OUT=${OUT%% *} && export OUT
        LD_PRELOAD=../t.so gg-generate -m m.gguf -p a -n 1 $a </dev/null
    done
    ls
    cd ..
else # a runtime of sanitizers wants to be first, which the preloaded one is
    printf '%s\n' m.gguf notes res
fi

echo 'shards in different folders:'
gg-convert -q --split 100000 m.gguf p.gguf
mkdir links
for f in p-*.gguf; do
    mkdir "disk-$f" && mv "$f" "disk-$f/x" && ln -s "../disk-$f/x" "links/$f"
done
m=$(echo links/p-00001-*)
gg-generate -q -m "$m" -p a -n 1 -s 1 -o /dev/null
gg-eval -q -m "$m" --top 1 -o /dev/null <<I
3
I
gg-inspect --check "$m" >/dev/null
gg-convert -q "$m" whole.gguf && gg-tokenize -q -m "$m" m.gguf >/dev/null
cmp whole.gguf m.gguf

echo 'descriptors:'
gg-generate -q -p a -n 4 -s 1 -o want
run() { gg-generate -q -p a -n 4 -s 1 "$@"; }
run -o /dev/stdout >a && cmp a want
run -o /dev/fd/3 3>b && cmp b want
run -o /proc/self/fd/3 3>b && cmp b want
run -o /dev/stderr 2>c && cmp c want
{ echo first && run -o /dev/stdout && echo last; } >d
{ echo first && cat want && echo last; } | cmp - d
run -o /dev/fd/3 3>&1 >/dev/null | cmp - want
mkfifo pipe
cat pipe >e &
run -o pipe && wait && cmp e want
run -o /dev/null
gg-convert -q m.gguf /dev/stdout >f && cmp f m.gguf

echo 'names:'
mkdir sub && ln -s sub/real link && echo old >sub/real
run -o link && test -L link && cmp sub/real want
(cd sub && run -o ../up && cmp ../up ../want)
(cd sub && run -o ./real && cmp real ../want)
mkdir blind && chmod 300 blind && run -o blind/x && chmod 700 blind
cmp blind/x want

echo 'a full disk:'
{
    for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
        echo "$i aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
    done
} >lines
(trap '' XFSZ && ulimit -f 1 &&
    gg-generate -q --lines -n 99 -s 1 --resume res lines; echo $?) 2>&1
(trap '' XFSZ && ulimit -f 1 &&
    echo 1 2 3 | gg-eval -q --top 1 --state st 2>&1 >/dev/null)
ls st* 2>/dev/null

echo 'a refusal says by whom:'
echo secret >.rc
echo '{"name":"settings"}' >settings
echo '["a"]' >list
: >empty
printf '%s\n' a '/save settings' '/save list' '/save empty' '/save talk' '/save talk' |
    gg-generate -q -m "$top_srcdir/demo/gg-story.gguf" -i --commands \
        --template tulu -n 1 2>&1 | grep save
cat settings list
head -n 1 empty talk
printf '%s\n' '/file .rc' '/save .new' |
    gg-generate -q -m "$top_srcdir/demo/gg-story.gguf" -i --commands \
        --template tulu -n 1 2>&1 | grep sandbox
if test "$(id -u)" != 0; then
    mkdir shut && chmod 500 shut
    gg-generate -q -p a -n 1 -o shut/x 2>&1 | grep sandbox
fi

echo 'kill -9:'
mkfifo slow
gg-tokenize -o killed slow &
exec 9>slow
n=0
until ls killed.?????? >/dev/null 2>&1 || test $n = 200; do
    sleep 0.05 && n=$((n + 1))
done
ls killed.* | wc -l
kill -9 $!
wait 2>/dev/null
until ! ls killed.?????? >/dev/null 2>&1 || test $n = 400; do
    sleep 0.05 && n=$((n + 1))
done
ls killed* 2>/dev/null
exec 9>&-

echo '-v in all tools:'
for t in convert eval fetch generate inspect logits loop quantize sample \
    tokenize train; do
    gg-$t --help | grep -q -e --verbose || echo "gg-$t: none"
done
