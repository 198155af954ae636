# --draft mtp, or a file of MTP layers, changes no byte; what is refused.
make=$top_builddir/tests/make_model
"$make" qwen35mtp-f32 model.gguf && "$make" qwen35trunk-f32 trunk.gguf &&
    "$make" qwen35head-f32 head.gguf || exit 99
. "$top_srcdir/tests/cli/draft-same.sh"
for o in '' --greedy '--temp 2 --top-k 0' '--repeat-penalty 1.3 --ignore-eog'; do
    same model.gguf mtp -p "$text" -n 60 -s 1 $o
    same trunk.gguf head.gguf -p "$text" -n 60 -s 1 $o
done
same model.gguf mtp -p "$text" -s 3 -n 200 -c 60 --shift
same model.gguf mtp -p "$text" -s 3 -n 60 -t 3 --batch-size 5
same model.gguf mtp --lines --batch 3 -n 20 -s 5 -f lines
"$make" mimo2mtp-f32 mimo2.gguf && "$make" qwen35sure-f32 sure.gguf || exit 99
same mimo2.gguf mtp -p "$text" -n 60 -s 1
same sure.gguf mtp -p "$text" -n 60 -s 1

echo 'by default layers that are known draft:'
"$make" llama-f32 llama.gguf
gg-convert -q --set llama.nextn_predict_layers=1 llama.gguf unknown.gguf
for model in model trunk mimo2 sure unknown; do
    for o in '' --greedy '-c 60 --shift' '--repeat-penalty 1.3 --ignore-eog'; do
        gg-generate -m $model.gguf -p "$text" -n 80 -s 1 $o --draft none >want
        gg-generate -m $model.gguf -p "$text" -n 80 -s 1 $o 2>&1 | cmp - want
    done
    gg-generate -v -m $model.gguf -p "$text" -n 9 --draft auto 2>&1 |
        awk -v m=$model '/ draft: / { n++ } END { print m, n + 0 }'
done
gg-generate -v -m sure.gguf -p "$text" -n 9 --draft none 2>&1 | grep -c draft:
gg-generate -m sure.gguf -p "$text" --choice a,b >/dev/null

echo 'a state has no hidden vectors, and its bytes are the same:'
same_state sure.gguf mtp

echo 'what is sure is accepted:'
gg-generate -v -m sure.gguf --greedy --draft mtp -p "$text" -n 300 2>&1 \
    >/dev/null | awk '/MTP layers:/ { print $2, $3, $4 }
                      /draft:/ { print ($2 > 0 && $5 > 0.8 * $2) }'
gg-inspect --memory -c 512 model.gguf | awk '/^mtp/ { print $1, $3 }'
gg-inspect --memory --json -c 512 trunk.gguf | grep mtp

echo 'what is refused:'
gg-generate -m trunk.gguf --draft mtp -p a -n 3
"$make" llama-f32 llama.gguf
gg-generate -m llama.gguf --draft mtp -p a -n 3
gg-generate -m llama.gguf --draft head.gguf -p a -n 3
gg-generate -m model.gguf --draft head.gguf -p a -n 3
for name in dflash; do
    gg-convert -q --set general.architecture=$name llama.gguf $name.gguf
    gg-generate -m llama.gguf --draft $name.gguf -p a -n 3
done
