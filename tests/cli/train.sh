# gg-train: ids in, a model of lower perplexity out; logs, held-out losses.
"$top_builddir/tests/make_model" llama-f32 m.gguf || exit 99
GG_MODEL=m.gguf
export GG_MODEL
for i in 1 2 3 4 5 6; do
    printf '%d\t' $i
    echo "$i" | awk '{ for (i = 0; i < 30; i++) printf "%s%d", i ? " " : "", (i * 37 + $1 * 11) % 300 }
        END { print "" }'
done >ids
train() { # what goes to every run
    gg-train -q --all -c 64 -b 2 -l 1e-3 --epochs 20 "$@"
}

echo 'what it takes'
gg-train --dry-run --all -c 64 -b 2 --epochs 20 ids | sort
gg-train --dry-run --all -c 64 -b 2 --memory-limit 100 ids
gg-train --dry-run --all -c 64 -b 2 --memory-limit 1800000 ids |
    awk '$1 == "windows" { print ($2 > 1) } $1 == "activations" { print ($2 <= 1800000) }'

echo 'losses'
train -o a.gguf --log log --held-out ids --evaluate-every 20 ids
jq -r 'keys | join(" ")' log | sort | uniq -c | sed 's/^ *//'
jq -e 'select(.step == 1) | .loss > 5' log
jq -e 'select(.step == 60 and .loss) | .loss < 1' log
jq -e 'select(.step == 60 and .held_out_loss) | .held_out_loss < 1' log
gg-inspect --check a.gguf

echo 'the same bytes'
train -o b.gguf -t 3 <ids && cmp a.gguf b.gguf
train -o - -f ids | cmp - a.gguf
train -o c.gguf --memory-limit 1800000 ids && cmp a.gguf c.gguf
train -o d.gguf --seed 2 ids
cmp -s a.gguf d.gguf || echo 'another seed, another model'

echo 'lines on standard error'
gg-train --all -c 64 -b 2 --steps 4 --log-every 2 --held-out ids -o e.gguf ids 2>&1 |
    sed 's/[0-9.e+-]* ids.s$/N ids\/s/; s/loss [0-9.]*/loss N/; s/norm [0-9.]*/norm N/'
gg-train --epochs 2 -b 4 -c 256 -o e.gguf ids 2>&1 | sed 1q
gg-train --epochs 2 -b 1 -c 32 -o e.gguf ids 2>&1 | sed 1q

echo 'drawn anew'
gg-train -q --all --init -c 64 -b 2 --steps 1 -l 1e-9 -o i.gguf ids
gg-train -q --all --init -c 64 -b 2 --steps 1 -l 1e-9 -o j.gguf ids
cmp i.gguf j.gguf
gg-inspect --tensor blk.0.attn_q.weight i.gguf | awk '/^(mean|deviation|std)/'
gg-inspect --tensor blk.0.attn_norm.weight i.gguf | awk '$1 == "mean"'
gg-train -q --all --optimizer muon -c 64 -b 2 --epochs 20 -l 1e-3 --log muon -o k.gguf ids
tail -n 1 muon | jq '.loss < 2'
