# --draft with a drafter that reads the model's keys and values changes no byte;
# what is refused.
make=$top_builddir/tests/make_assistant
for k in model copy random clusters; do
    "$make" $k $k.gguf || exit 99
done
. "$top_srcdir/tests/cli/draft-same.sh"
for draft in copy.gguf random.gguf clusters.gguf; do
    for o in '' --greedy '--temp 2 --top-k 0' '--repeat-penalty 1.3'; do
        same model.gguf $draft -p "$text" -n 60 -s 1 --ignore-eog $o
    done
done
for type in f32 bf16 q8_0 q5_0 q4_0; do
    same model.gguf copy.gguf -p "$text" -n 60 -s 2 --greedy --cache-type $type
done
same model.gguf copy.gguf -p "$text" -n 60 -s 2 --cache-type q4_0 \
    --cache-rotation off
same model.gguf copy.gguf -p "$text" -s 3 -n 200 -c 60 --shift
same model.gguf copy.gguf -p "$text" -s 3 -n 60 -t 3 --batch-size 5
for draft in copy.gguf random.gguf; do
    same model.gguf $draft --lines --batch 3 -n 40 -s 5 -f lines
done

echo 'a state is the same file:'
same_state model.gguf copy.gguf

echo 'drafts of a copy are accepted:'
gg-generate -v -m model.gguf --greedy --draft copy.gguf -p "$text" -n 300 2>&1 \
    >/dev/null | awk '/draft:/ { print ($5 > 0) }'

echo 'what is refused:'
"$top_builddir/tests/make_model" llama-f32 llama.gguf || exit 99
gg-generate -m llama.gguf --draft copy.gguf -p a -n 3
gg-generate -m copy.gguf -p a -n 3
