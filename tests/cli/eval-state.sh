# A state: what comes of lines does not depend on how many runs they came in.
"$top_builddir/tests/make_model" llama-f32 model.gguf || exit 99
"$top_builddir/tests/make_model" llama-f16 other.gguf || exit 99
GG_MODEL=model.gguf
export GG_MODEL
seq 1 40 >ids

echo 'one sequence:'
tail -n +13 ids | gg-eval --top 1 -t 1 --load none; echo "status $?"
gg-eval ids --top 2 --save whole >want
head -n 12 ids | gg-eval --top 2 -t 1 --state s >got
tail -n +13 ids | head -n 1 | gg-eval --top 2 -t 2 -c 90 --state s >>got
tail -n +14 ids | gg-eval --top 2 --load s --save t >>got
cmp got want && cmp t whole
echo 41 | gg-eval --load t -c 40 --top 1; echo "status $?"
echo 41 | gg-eval --load t -c 40 --top 1 --shift | cut -f 2

echo 'many, more than there are slots, and not all remembered:'
{
    for i in 1 2 3 4 5 1 2 6; do echo "$i	$i 20 21 22 23 24 25 26 27 28"; done
    printf '2\t\n7\t!lost\n5\t30 31 32\n1\t9\n3\t9\n'
} >lines
opts='--top 1 --slots 3 --remember 250'
gg-eval $opts lines 2>/dev/null >want
for n in 3 7 10; do
    head -n $n lines | gg-eval $opts --save s 2>/dev/null >got
    tail -n +$((n + 1)) lines | gg-eval $opts --state s 2>/dev/null >>got
    cmp got want && rm s
done

echo 'not for everybody:'
echo 1 2 3 | gg-eval --save s -o x
refused() { gg-eval --top 1 --load s "$@" lines; echo "status $?"; }
refused -m other.gguf
refused --cache-type f32
refused --rope-factor 2
refused
head -c 900 s >cut
echo 4 | gg-eval --top 1 --load cut; echo "status $?"
order=big
test "$(printf '\001\000' | od -An -tu2 | tr -d ' ')" = 1 || order=little
gg-convert --byte-order $order s turned
echo 4 | gg-eval --top 1 --load turned; echo "status $?"
rm turned
echo 4 | gg-eval --top 1 --load model.gguf; echo "status $?"
echo 4 | gg-eval --top 1 --load . ; echo "status $?"
gg-eval --perplexity --load s ids; echo "status $?"
refused --state t

echo 'a run that fails:'
gg-eval --state new </dev/null; echo "status $?"
test -e new && echo it left something
: >new # an empty file is no state yet
chmod 640 new && ln -s new link
echo 1 2 3 | gg-eval --top 1 --state link | wc -l
stat -c '%a %F' new && test -L link && cmp new s

echo 'in use, and told to end:'
mkfifo in
for signal in INT TERM; do
    rm -f top
    # A shell lets its background commands ignore INT.
    default_signals gg-eval --top 1 --state s <in >top &
    exec 3>in
    echo 4 5 >&3
    until test -s top; do kill -0 $! || exit 1; sleep 0.05; done
    echo 9 | gg-eval --top 1 --load s; echo "status $?"
    kill -$signal $!
    { wait $!; } 2>/dev/null
    echo "status $?"
    exec 3>&-
done
echo 6 | gg-eval --load s --top 1 >got
printf '1 2 3\n4 5\n4 5\n6\n' | gg-eval --top 1 | tail -n 2 | cmp - got
gg-eval --top 1 --state s <in >top &
exec 3>in
echo 6 >&3
until test "$(wc -l <top)" = 2; do kill -0 $! || exit 1; sleep 0.05; done
kill -KILL $!
{ wait $!; } 2>/dev/null
exec 3>&-
echo 6 | gg-eval --load s --top 1 | cmp - got
ls

echo 'looked at:'
gg-inspect t | head -n 4
gg-inspect --json t | jq -c '.summary | [.state, .state_of, .sequences, .ids]'
