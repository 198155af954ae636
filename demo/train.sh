#!/bin/sh
# train.sh SHAPE STORIES HELD-OUT OUT: trains a model of the shape and vocabulary
# of SHAPE from nothing, on stories parted by empty lines, to the Q8_0 file OUT.
# What it has done so far is in OUT.checkpoint: started again, it goes on.
#
#     python stories.py --seed 1 --count 30000 >stories
#     python stories.py --seed 3 --count 100 >held-out
#     sh train.sh gg-story.gguf stories held-out new.gguf
set -e
test $# = 4 || { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
shape=$1 out=$4

# A story a line, with its ends.
ids() {
    awk 'BEGIN { RS = ""; FS = "\n"; OFS = "\\n" } { $1 = $1; print }' "$1" |
        gg-tokenize -q -m "$shape" --lines --escapes --eos
}
ids "$2" >"$out.ids"
ids "$3" >"$out.held-out"

# Two stories fit into most rows; a step sees about 3900 ids.
gg-train -m "$shape" --all --init --seed 1 -c 576 --batch 7 \
    --optimizer muon --matrix-rate 0.02 --rate 3e-3 --beta2 0.98 --decay 0.05 \
    --schedule linear --warm-up 60 --fall 1240 \
    --held-out "$out.held-out" --evaluate-every 200 \
    --checkpoint "$out.checkpoint" --log "$out.log" -o "$out.f32" "$out.ids"
gg-quantize -q "$out.f32" "$out" Q8_0
rm "$out.f32" "$out.ids" "$out.held-out" "$out.checkpoint"
