# Names of options that people type are taken as they are.
test -f "$GG_MODEL" || { echo "no demo model" >&2 && exit 77; }
set -- -s 1 -p 'Once there was a'
gg-generate "$@" -n 7 --temp 0.5 --gpu-layers 0 >want
gg-generate "$@" --n-predict 7 --temperature 0.5 -ngl 0 | cmp - want
gg-generate "$@" --max-tokens=7 --temperature=0.5 --n-gpu-layers=0 | cmp - want
gg-generate "$@" --max-t 7 --temp 0.5 --ngl 0 | cmp - want
gg-tokenize <want | gg-eval --n-gpu-layers 0 >logits
gg-sample --temperature 0.5 -s 2 logits >id
gg-sample --temp 0.5 -s 2 logits | cmp - id
gg-generate --n-predict -1
gg-generate --temperature x -p a
