# gg-train: whatever ends it, its checkpoint goes on to the same bytes.
"$top_builddir/tests/make_model" llama-f32 m.gguf || exit 99
GG_MODEL=m.gguf
export GG_MODEL
awk 'BEGIN { for (s = 1; s < 9; s++) { printf "%d\t", s
    for (i = 0; i < 50; i++) printf "%s%d", i ? " " : "", (i * 31 + s * 7) % 300
    print "" } }' >ids
train() {
    exec gg-train -q --all -c 64 -b 2 --epochs 10 --warm-up 3 --decay 0.1 "$@" ids
}
(train -o whole.gguf --log whole)

echo 'in two parts'
(train --schedule constant --steps 40 -o forty.gguf --log forty)
(train --schedule constant --steps 17 --checkpoint c -o part.gguf --log parts)
(train --schedule constant --steps 40 --checkpoint c -o parts.gguf --log parts)
cmp forty.gguf parts.gguf && cmp forty parts && echo 'the same bytes'
cmp -s forty.gguf part.gguf && echo 'and not one more step'
(train --schedule constant --steps 40 --checkpoint c -o done.gguf)
cmp forty.gguf done.gguf && echo 'the same bytes'

echo 'killed again and again'
rm -f c
n=0
while ! test -f killed.gguf; do
    n=$((n + 1))
    train --checkpoint c --save-every 3 -o killed.gguf &
    pid=$!
    test $n -gt 20 || { sleep 0.$((n % 7 + 1)) && kill -9 $pid; } 2>/dev/null
    wait $pid 2>/dev/null
done 2>/dev/null
cmp whole.gguf killed.gguf && echo 'the same bytes'
rm -f c c.* killed.gguf.*

echo 'ended by a signal'
train --schedule constant --steps 100000 --checkpoint c --save-every 1000000 \
    --log log -o term.gguf &
pid=$!
while test "$(cat log 2>/dev/null | wc -l)" -lt 5; do sleep 0.05; done
kill $pid
wait $pid 2>/dev/null
echo $?
n=$(wc -l <log)
test "$(gg-inspect -k gg.train.step c)" = "$n" || echo 'another step'
(train --schedule constant --steps $((n + 3)) --checkpoint c --log log -o term.gguf)
(train --schedule constant --steps $((n + 3)) --log want -o want.gguf)
cmp want.gguf term.gguf && cmp log want && echo 'the same bytes'
rm log want want.gguf

echo 'no room'
cp c old
(trap '' XFSZ && ulimit -f 100 && train --checkpoint c --steps 300 -o full.gguf 2>/dev/null)
echo $?
cmp c old
ls
