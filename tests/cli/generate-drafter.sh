# --draft with a file of a drafter that reads the model's inside changes no
# byte; what is said, and what is refused.
make=$top_builddir/tests/make_model
drafter=$top_builddir/tests/make_drafter
"$make" llama-f32 model.gguf && "$make" qwen35trunk-f32 hybrid.gguf || exit 99
for kind in borrows own few recurrent sure block; do
    "$drafter" $kind $kind.gguf || exit 99
done
. "$top_srcdir/tests/cli/draft-same.sh"
for o in '' --greedy '--temp 2 --top-k 0' '--repeat-penalty 1.3 --ignore-eog'; do
    same model.gguf own.gguf -p "$text" -n 60 -s 1 $o
    same model.gguf few.gguf -p "$text" -n 60 -s 1 $o
    same model.gguf block.gguf -p "$text" -n 60 -s 1 $o
    same hybrid.gguf block.gguf -p "$text" -n 60 -s 1 $o
    same hybrid.gguf recurrent.gguf -p "$text" -n 60 -s 1 $o
done
same hybrid.gguf sure.gguf -p "$text" -s 3 -n 60
same model.gguf borrows.gguf -p "$text" -s 3 -n 200 -c 60 --shift
same model.gguf few.gguf -p "$text" -s 3 -n 60 -t 3 --batch-size 5
same model.gguf block.gguf -p "$text" -s 3 -n 200 -c 60 --shift
same model.gguf block.gguf --lines --batch 3 -n 20 -s 5 -f lines
same model.gguf own.gguf --lines --batch 3 -n 20 -s 5 -f lines

echo 'a state has no hidden vectors, and its bytes are the same:'
same_state model.gguf few.gguf

echo 'what is said:'
gg-generate -v -m model.gguf --greedy --draft few.gguf -p "$text" -n 50 2>&1 \
    >/dev/null | awk '/eagle3/ { print $2, $3, $4 } /draft:/ { print ($2 > 0) }'
gg-inspect few.gguf | grep ^family

echo 'what is refused:'
gg-generate -m few.gguf -p a -n 3
gg-generate -m hybrid.gguf --draft few.gguf --draft mtp -p a -n 3
gg-generate -m model.gguf --draft recurrent.gguf -p a -n 3
