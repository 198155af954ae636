# --draft with a drafter that reads the model's keys and values changes no byte;
# what is refused.
make=$top_builddir/tests/make_assistant
for k in model copy random clusters; do
    "$make" $k $k.gguf || exit 99
done
text='a b a b a b c d a b a b'
same() { # DRAFT OPTION...
    draft=$1
    shift
    gg-generate -m model.gguf "$@" >want 2>want.err
    gg-generate -m model.gguf "$@" --draft $draft.gguf >got 2>got.err
    cmp got want && cmp got.err want.err || echo "$draft: $*"
}
for draft in copy random clusters; do
    for o in '' --greedy '--temp 2 --top-k 0' '--repeat-penalty 1.3'; do
        same $draft -p "$text" -n 60 -s 1 --ignore-eog $o
    done
done
for type in f32 bf16 q8_0 q5_0 q4_0; do
    same copy -p "$text" -n 60 -s 2 --greedy --cache-type $type
done
same copy -p "$text" -n 60 -s 2 --cache-type q4_0 --cache-rotation off
same copy -p "$text" -s 3 -n 200 -c 60 --shift
same copy -p "$text" -s 3 -n 60 -t 3 --batch-size 5
printf 'a b\nc d e\nb\na a a a\n' >lines
for draft in copy random; do
    same $draft --lines --batch 3 -n 40 -s 5 -f lines
done

echo 'a state is the same file:'
for draft in '' '--draft copy.gguf'; do
    rm -f state
    for part in "$text" ' and' ' so'; do
        gg-generate -m model.gguf --state state -p "$part" -n 30 -s 2 $draft
    done >made"$draft"
done
cmp made 'made--draft copy.gguf' && echo same

echo 'drafts of a copy are accepted:'
gg-generate -v -m model.gguf --greedy --draft copy.gguf -p "$text" -n 300 2>&1 \
    >/dev/null | awk '/draft:/ { print ($5 > 0) }'

echo 'what is refused:'
"$top_builddir/tests/make_model" llama-f32 llama.gguf || exit 99
gg-generate -m llama.gguf --draft copy.gguf -p a -n 3
gg-generate -m copy.gguf -p a -n 3
