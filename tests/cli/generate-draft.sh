# --draft changes no byte, whatever is guessed and whatever is drawn.
make=$top_builddir/tests/make_model
"$make" llama-f32 model.gguf && "$make" llama-q4_0 small.gguf || exit 99
story=$GG_MODEL
export GG_MODEL=model.gguf
same() { # OPTION... : the same with guesses as without
    gg-generate "$@" >want 2>want.err
    for draft in prompt small.gguf model.gguf; do
        gg-generate "$@" --draft $draft >got 2>got.err
        cmp got want && cmp got.err want.err || echo "with $draft: $*"
    done
}
text='a b a b a b c d a b a b'
for o in '' --greedy '--temp 2 --top-k 0' '--min-p 0.2 --ignore-eog'; do
    same -p "$text" -n 60 -s 1 $o
done
same -p "$text" -n 60 -s 3 --repeat-penalty 1.3 --logit-bias 70=2
same -p "$text" -n 60 -s 3 --mirostat 2
gg-generate -p "$text" -n 40 -s 3 --logprobs 3 3>want >text
gg-generate -p "$text" -n 40 -s 3 --logprobs 3 3>got --draft small.gguf |
    cmp - text
cmp got want
same -p "$text" -s 3 -c 60
same -p "$text" -s 3 -n 200 -c 60 --shift
same -p "$text" -s 3 -n 60 -t 3
same -p "$text" -s 4 -n 1
same -p "$text" -s 4 -n 2 --batch-size 3
stop=$(gg-generate -p "$text" -n 90 -s 1 | head -c 45 | tail -c 3)
same -p "$text" -n 90 -s 1 --stop "$stop"
printf 'a b a b\nb a b a\n\na\n' >lines
for draft in prompt "$story"; do
    for o in '' '-c 90 --shift'; do
        o="-m $story -i --template tulu -n 20 -s 5 $o"
        gg-generate $o <lines >want
        gg-generate $o --draft $draft <lines | cmp - want
    done
done
# Windows that move on, learned positions.
for kind in gemma2-f32 gpt2-f16; do
    "$make" $kind model.gguf && cp model.gguf small.gguf
    same -p "$text" -n 300 -c 400 -s 6
done

echo 'where a model repeats itself, most guesses are right:'
"$make" llama-f32 model.gguf || exit 99
gg-generate -v --greedy --draft model.gguf -p "$text" -n 300 2>&1 >/dev/null |
    awk '/draft:/ { print ($2 == $5 || $2 > 0 && $5 > 0.8 * $2) }'

echo 'what is refused:'
cp "$story" other.gguf
gg-generate --draft other.gguf -p a -n 3
gg-generate --draft nonesuch.gguf -p a -n 3
gg-generate --draft prompt --choice b -p a
