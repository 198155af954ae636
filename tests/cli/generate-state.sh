# A state: texts and conversations pick up where they stopped.
"$top_builddir/tests/make_model" gemma3-f32 model.gguf || exit 99
# Templates want an EOS.
gg-convert --set tokenizer.ggml.eos_token_id=1 model.gguf chat.gguf
GG_MODEL=model.gguf
export GG_MODEL

echo 'in parts:'
parts() { # options
    gg-generate -p 'a b c' -n 60 -s 5 "$@" >want
    rm -f s
    {
        gg-generate --state s -p 'a b c' -n 1 -s 5 "$@"
        gg-generate --state s -p '' -n 20 -s 5 -t 1 "$@"
        gg-generate --state s -n 39 -s 5 -t 2 "$@" </dev/null
    } | cmp - want
}
parts
parts --shift -c 24
gg-generate -p 'a b c' --save s -n 1 -s 5 >first
gg-generate --load s -p ' and' -n 9 -s 5 --echo >rest
cat rest | head -c 4; echo

echo 'as one of a pipe:'
echo 'a b c' | gg-tokenize | gg-eval --save s >/dev/null
gg-generate --load s -p '' -n 9 -s 5 >got
echo 'a b c' | gg-generate -n 9 -s 5 | cmp - got
gg-generate --state s -p '' -n 9 -s 5 | cmp - got
echo 7 | gg-eval --load s --top 1 | cut -f 2

echo 'conversations:'
GG_MODEL=chat.gguf
chat='--template alpaca --system hush -n 12 -s 3'
printf 'a\nb b\nc\n' | gg-generate -i $chat --save all >want
for m in a 'b b' c; do
    gg-generate --chat $chat --state talk -p "$m" && echo
done | cmp - want
cmp talk all
printf 'a\nb b\n' | gg-generate -i $chat --save two >got
echo c | gg-generate -i $chat --state two >>got
cmp got want
cmp two all

echo 'refused:'
refused() { gg-generate --load "$@" -p x; echo "status $?"; }
refused talk
refused s -m model.gguf --chat --template alpaca
refused s
refused talk --chat --template zephyr
refused none
refused two --save three -c 30 --chat
refused two --save three --shift -c 9 --chat
printf '1\t5\n' | gg-eval --save n >/dev/null
refused n
gg-generate --state new -p ''; echo "status $?"
ls

echo 'told to end:'
mkfifo in
: >got # what is there from before is no answer; the shell below may be late
gg-generate -i $chat --state stopped <in >got &
exec 3>in
echo a >&3
until test "$(tail -c 1 got | od -An -c | tr -d ' ')" = '\n'; do
    kill -0 $! || exit 1; sleep 0.05
done
kill -TERM $!
{ wait $!; } 2>/dev/null
echo "status $?"
exec 3>&-
printf 'b b\nc\n' | gg-generate -i $chat --state stopped >>got
cmp got want
cmp stopped all

echo "-- a conversation by a template in Jinja"
printf '%s' '{% for m in messages %}{{ "Q: " + m.content + "\n" if m.role == "user" else "A: " + m.content + "\n" }}{% endfor %}{% if add_generation_prompt %}A:{% endif %}' >turns.jinja
turn() {
    gg-generate -q --chat --template "$1" --state jinja.gguf -n 8 -s 1 -p "$2"
}
{ turn turns.jinja 'Hello' && echo && turn turns.jinja 'And then?' && echo; } >turns
printf 'Hello\nAnd then?\n' | gg-generate -q -i --template turns.jinja -n 8 -s 1 | cmp - turns
turn alpaca 'And then?'
echo "[$?]"
