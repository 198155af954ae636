# What becomes of an old file: links, failures, owners; and of a state whose
# output got no name.
make_model llama-q4_0 model.gguf || exit 99
export GG_MODEL=model.gguf
printf '1 2 3\n' >ids && gg-eval -o stream ids
seq 10 >long

echo 'links to nothing, and in circles:'
ln -s nothing dangling && ln -s b a && ln -s a b
for link in dangling a; do
    for command in 'gg-sample -o % stream' 'gg-eval -o % ids' \
        'gg-eval --save % -o /dev/null ids' 'gg-eval --state % -o /dev/null ids' \
        'gg-generate -p a -o %' 'gg-generate -p a --save %' \
        'gg-generate --lines --resume % ids' 'gg-tokenize -o % ids' \
        'gg-eval --imatrix % long' 'gg-eval --graph % ids' \
        'gg-logits -o % stream' 'gg-inspect -o % model.gguf' \
        'gg-convert model.gguf %' 'gg-quantize -q model.gguf % Q8_0' \
        'gg-convert --set a=1 %'; do
        eval "$(echo "$command" | sed "s/%/$link/")" >/dev/null 2>err
        test $? = 1 && test -L $link && ! test -e nothing ||
            echo "$command: status $?"
        cat err
    done | sort | uniq -c | sed 's/^ *//'
done

# Status 1: the old file. 3: the new one, with what failed in its place.
echo 'records that fail:'
kept() {
    echo old >out
    "$@" 2>/dev/null
    case $?-$(head -c 3 out) in
        1-old | 3-[!o]* | 3-) ;;
        *) echo "$*: status $?" && head -c 3 out ;;
    esac
    ls out.* 2>/dev/null
}
seq 40 | tr '\n' ' ' >many && echo >>many
kept gg-eval -c 8 -o out many
sed 's/^/1	/' many >numbered && printf '2\t1 2\n' >>numbered
kept gg-eval -c 8 -o out numbered
kept gg-eval --top 1 -c 8 -o out numbered
gg-eval -c 8 -o failed numbered 2>/dev/null
gg-eval -c 8 -o - numbered >failed 2>/dev/null
kept gg-sample -o out failed
kept gg-logits --to text -o out failed
printf '1\t99999999\n2\t5\n' >wrong
kept gg-tokenize -d --lines -o out wrong
printf 'a\n%s\n' "$(seq 100 | tr '\n' ' ')" >lines
kept gg-generate --lines -c 16 -n 2 -o out lines
printf '{"prompt":"a"}\nbad\n' >json
kept gg-generate --jsonl -n 2 -o out json
head -c 300 stream >cut
kept gg-sample -o out cut

echo 'a state and its output:'
mkfifo in
echo 1 2 3 | gg-eval --save state -o /dev/null
start() {
    cp state s && echo old >out
    gg-eval --top 1 --state s -o out <in &
    exec 3>in
    echo 4 5 >&3
    until ls out.* >/dev/null 2>&1; do kill -0 $! || exit 1; sleep 0.05; done
}
end() {
    exec 3>&-
    { wait $!; } 2>/dev/null
    echo "status $?: $(ls -d out* s s.* 2>/dev/null | tr '\n' ' ')"
}
start
rm out && mkdir out # no file gets this name
end
cmp s state
rmdir out
start
kill -TERM $!
end
cmp s state && cat out
start
end
cmp -s s state || head -c 3 out; echo

# Only the superuser gives files away.
echo 'owners:'
own() { # FILE COMMAND...
    file=$1
    shift
    chmod 640 "$file" && chown 12:34 "$file" 2>/dev/null
    before=$(ls -ln "$file" | cut -d ' ' -f 1,3,4)
    "$@" >/dev/null || echo "$*: failed"
    after=$(ls -ln "$file" | cut -d ' ' -f 1,3,4)
    test "$before" = "$after" || echo "$*: $after instead of $before"
}
echo >out
own out gg-sample -o out stream
own s gg-eval --state s ids
own s gg-generate -p a -n 1 --save s
own model.gguf gg-convert --set general.name=another model.gguf
own model.gguf gg-convert model.gguf model.gguf
own model.gguf gg-quantize -q --in-place model.gguf model.gguf Q8_0
