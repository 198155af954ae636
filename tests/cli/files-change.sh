# Files that are changed in place by several commands at once: each change is
# made as if it were alone, or refused.
make_model llama-f32 model.gguf || exit 99
gg-inspect --hash --tensors model.gguf >hash
value() { gg-inspect -k "$1" model.gguf 2>/dev/null; }

# Each tries until it is done. 7 takes the place of a number, keys that are new
# need a new file.
echo 'keys:'
gg-convert --set general.version=0 model.gguf
for k in 1 2 3 4 5 6 7; do
    (
        key=new.key$k
        test $k = 7 && key=general.version
        n=0
        until gg-convert -q --set $key=$k model.gguf 2>said; do
            n=$((n + 1))
            test $n -lt 10000 || exit 1
        done
    ) &
done
wait
for k in 1 2 3 4 5 6; do value new.key$k; done
value general.version
gg-inspect --hash --tensors model.gguf | cmp - hash

# Once each: who ended with 0 has changed it, who did not has not.
echo 'once:'
for round in 1 2 3 4 5; do
    for k in 1 2 3 4 5 6; do
        (
            gg-convert -q --set round$round.key$k=$k model.gguf 2>err$k
            echo $? >status$k
        ) &
    done
    wait
    for k in 1 2 3 4 5 6; do
        case $(cat status$k)-$(value round$round.key$k)-$(cat err$k) in
            0-$k-) ;;
            1--*'another process uses this file') ;;
            *) echo "$k: status $(cat status$k)" && cat err$k ;;
        esac
    done
done
gg-inspect --hash --tensors model.gguf | cmp - hash

echo 'whole files:'
for round in 1 2 3 4 5; do
    cp model.gguf m.gguf
    (gg-quantize -q --in-place m.gguf m.gguf Q8_0 2>/dev/null; echo $? >status1) &
    (gg-convert -q --set new.key=1 m.gguf 2>/dev/null; echo $? >status2) &
    (gg-convert -q --set other.key=1 m.gguf m.gguf 2>/dev/null
        echo $? >status3) &
    wait
    test "$(cat status1)" = 1 || gg-inspect --tensors m.gguf | grep -q q8_0 ||
        echo 'not quantised'
    test "$(cat status2)" = 1 || gg-inspect -k new.key m.gguf >/dev/null
    test "$(cat status3)" = 1 || gg-inspect -k other.key m.gguf >/dev/null
    gg-inspect --check -o /dev/null m.gguf || echo 'damaged'
done
ls m.gguf.* 2>/dev/null

# One that is held open by a run that lasts.
echo 'a state:'
mkfifo in
export GG_MODEL=model.gguf
echo 1 2 3 | gg-eval --save state >/dev/null && cp state another
gg-eval --top 1 --state state <in >top &
exec 3>in
echo 4 5 >&3
until test -s top; do kill -0 $! || exit 1; sleep 0.05; done
echo 9 | gg-eval --state state --top 1; echo "status $?"
echo 9 | gg-eval --load state --top 1; echo "status $?"
gg-convert --set a=1 state; echo "status $?"
gg-convert state state; echo "status $?"
mv another state && cp state copy
exec 3>&-
wait $!; echo "status $?"
cmp state copy && ls state*
