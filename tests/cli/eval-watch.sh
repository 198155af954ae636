# --watch and --graph: names, figures, values; against a plain computation.
make_model llama-f32 model.gguf || exit 99
GG_MODEL=model.gguf
export GG_MODEL
echo 1 5 9 200 33 >ids

gg-eval --watch '*' --watch-dir saved ids >table
head -n 1 table
cut -f 1,2,3,4,5 table | sed -n '2,9p;$p'
cut -f 2 table | sort | uniq -d
tail -n +2 table | cut -f 2 | sed 's/.*/1-&.npy/' | sort >want
ls saved | sort | diff - want
gg-eval --watch '*' -t 1 ids | cmp - table

floats() { # FILE
    n=$(od -An -t u2 -j 8 -N 2 "$1")
    tail -c +$((n + 11)) "$1" | od -An -v -w4 -t u4 | awk '
        { s = $1 >= 2^31 ? -1 : 1; u = $1 % 2^31; e = int(u / 2^23); u %= 2^23
          printf "%.17g\n", e ? s * (1 + u / 2^23) * 2^(e - 127) : s * u / 2^149 }'
}
for name in token_embd blk.1.ffn_down blk.0.rope#2 logits; do
    floats "saved/1-$name.npy" | awk -v name="$name" '
        { n++; q += $1 * $1
          if (n == 1 || $1 < a) a = $1
          if (n == 1 || $1 > b) b = $1 }
        END { printf "%s\t%.9g\t%.9g\t%.9g\n", name, a, b, sqrt(q / n) }'
done >want
awk -F '\t' 'NR == FNR { w[$1] = $2 FS $3 FS $4; next }
    $2 in w { n++; if (w[$2] != $6 FS $7 FS $8) print $2, w[$2], "not", $6, $7, $8 }
    END { print n }' want table

# The norm of its input, row by row of 64; epsilon is the model's.
eps=$(gg-inspect -k llama.attention.layer_norm_rms_epsilon model.gguf)
floats saved/1-token_embd.npy >x
floats saved/1-blk.0.rms_norm.npy >y
paste x y | awk -v eps="$eps" '
    BEGIN { n = 0 }
    { x[n] = $1; y[n++] = $2; q += $1 * $1 }
    n == 64 { for (i = 0; i < n; i++) { d = x[i] / sqrt(q / n + eps) - y[i]
        if (d > 1e-5 || d < -1e-5) bad++ }
        rows++; n = q = 0 }
    END { print rows, bad + 0 }'
# The logits are those that the stream has.
floats saved/1-logits.npy | awk '{ x[n++] = $1; s += exp($1) }
    END { for (i = 0; i < n; i++) printf "%d %.6f\n", i, x[i] - log(s) }' >want
gg-eval --top 300 ids | awk 'NF { print $4, $5 }' | sort -n >got
paste -d ' ' want got | awk '$1 != $3 || $2 - $4 > 2e-6 || $4 - $2 > 2e-6'

echo 'runs, families'
{ echo 1 2 3; echo 4; } | gg-eval --watch 'blk.1.add' | cut -f 1,2,5
gg-eval --watch blk.0.attn_q --batch-size 2 ids | cut -f 1,5
for family in gpt2 mixtral gemma3 phi2; do
    make_model $family-f32 f.gguf
    gg-eval -m f.gguf --watch '*' ids | cut -f 2 | sort >names
    uniq -d names
    grep -c '^blk.1' names
done

echo 'graph'
gg-eval --graph g.dot ids
gg-eval --graph - -t 1 ids | cmp - g.dot
sed -n '1p;$p' g.dot
awk '/label=/ { known[$1]; n++; next }
    / -> / { sub(/;/, "", $3); e++; if (!($1 in known && $3 in known)) print; next }
    !/^digraph {$|^}$/
    END { print (n > 50), (e > 50) }' g.dot
grep -c 'shape=box' g.dot
gg-inspect --tensors model.gguf | wc -l
if command -v dot >/dev/null; then dot -Tsvg g.dot >/dev/null; fi

echo 'errors'
gg-eval --watch 'x*' ids; echo $?
gg-eval --watch 'x*' --top 3 ids; echo $?
gg-eval --watch 'x*' --graph g ids; echo $?
gg-eval --watch 'x*' --perplexity ids; echo $?
gg-eval --watch-dir saved ids; echo $?
gg-eval --watch logits --watch-dir none/saved ids; echo $?
gg-eval --watch logits --watch-dir ids ids >out; echo $?
gg-eval --watch logits ids >/dev/full; echo $?
gg-eval --graph g -o h ids; echo $?
echo 1 2 9999 | gg-eval --watch logits; echo $?
