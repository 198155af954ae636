# --diff: keys, tensors, and how far values are apart, against a plain
# computation in double precision.
make_model llama-f32 a.gguf || exit 99
gg-quantize -q a.gguf b.gguf F16 && gg-quantize a.gguf q.gguf Q4_0 >nmse || exit 99
gg-inspect --diff a.gguf b.gguf >table; echo $?
gg-inspect --diff -t 1 a.gguf b.gguf | cmp - table
head -n 2 table

values() { # FILE TENSOR
    gg-inspect --json --tensors "$1" | jq -r --arg name "$2" \
        '.data_offset as $o | .tensors[] | select(.name == $name) |
        [.type, .offset + $o, .bytes] | @tsv' | {
        read -r type at n
        case $type in f32) w=4 ;; *) w=2 ;; esac
        od -An -v -w$w -t u$w -j "$at" -N "$n" "$1" | awk -v w=$w '
            BEGIN { m = w == 4 ? 2^23 : 2^10; half = w == 4 ? 2^31 : 2^15
                bias = w == 4 ? 127 : 15 }
            { s = $1 >= half ? -1 : 1; u = $1 % half
              e = int(u / m); u %= m
              printf "%.17g\n", e ? s * (1 + u / m) * 2^(e - bias) \
                  : s * u / m * 2^(1 - bias) }'
    }
}
for t in token_embd.weight blk.1.ffn_down.weight; do
    values a.gguf $t >x
    values b.gguf $t >y
    paste x y | awk -v t=$t '
        { d = $2 - $1; n++; dd += d * d; xx += $1 * $1; yy += $2 * $2
          xy += $1 * $2; d = d < 0 ? -d : d; most = d > most ? d : most }
        END { printf "%s %.17g %.17g %.17g %.17g\n", t, most, sqrt(dd / n),
            dd / xx, xy / sqrt(xx) / sqrt(yy) }'
done >want
awk 'NR == FNR { for (i = 2; i <= 5; i++) w[$1, i] = $i; seen[$1]; next }
    $3 in seen { for (i = 2; i <= 5; i++) { r = $(i + 6) / w[$3, i] - 1
        n++ # nine digits are written
        if (r > 6e-9 || r < -6e-9) print $3, i, $(i + 6), w[$3, i] } }
    END { print n, "figures" }' want table
# What gg-quantize says of its errors, three digits after the point.
gg-inspect --diff a.gguf q.gguf | awk -F '\t' '
    NR == FNR { if ($3 == "q4_0") e[$1] = $5; next }
    $3 in e { n++; if (sprintf("%.3e", $8) != e[$3]) print $3, $8, e[$3] }
    END { print n, length(e) }' nmse -

echo 'what is the same'
gg-inspect --diff a.gguf a.gguf; echo $?
gg-convert --split 100000 a.gguf part
gg-inspect --diff --tensors a.gguf part-00001-*; echo $?
gg-inspect --diff a.gguf part-00001-*; echo $?
gg-inspect --diff --json a.gguf a.gguf; echo $?

echo 'what is not'
cp a.gguf c.gguf
gg-convert --set a.b=u32:1 --set a.s='x y' c.gguf
LC_ALL=C sed 's/<|control|>/<|CONTROL|>/' c.gguf >d.gguf
gg-convert --unset a.b --set a.b=i32:1 --unset a.s \
    --set "a.c=$(printf '\033[2J')" d.gguf
gg-inspect --diff c.gguf d.gguf; echo $?
gg-inspect --diff -q c.gguf d.gguf; echo $?
gg-inspect --diff --tensors c.gguf d.gguf; echo $?
gg-inspect --diff --metadata --json c.gguf d.gguf |
    jq -c '.differences[] | [.change, .name, .from, .to, .rms]'
poke() { # FILE TENSOR BYTES
    at=$(gg-inspect --tensor "$2" "$1" | awk '$1 == "offset" { print $2 }')
    printf "$3" | dd of="$1" bs=1 seek="$at" conv=notrunc 2>/dev/null
}
poke c.gguf output_norm.weight '\0\0\300\177'
poke d.gguf output_norm.weight '\0\0\300\177'
gg-inspect --diff --tensors c.gguf d.gguf; echo $?
poke d.gguf output_norm.weight '\0\0\200\177'
poke d.gguf blk.0.attn_norm.weight '\0\0\0\0'
gg-inspect --diff --tensors c.gguf d.gguf | cut -f 1-6; echo $?
gg-inspect --diff --tensor 'blk.*' c.gguf d.gguf | cut -f 1-5; echo $?
make_model gpt2-f32 g.gguf
gg-inspect --diff --tensor '*embd.weight' a.gguf g.gguf; echo $?
gg-inspect --diff --tensor 'blk.0.attn_q*.*' g.gguf a.gguf; echo $?
gg-inspect --diff --metadata a.gguf g.gguf | grep 'tokens\|scores'

echo 'errors'
gg-inspect --diff a.gguf none.gguf; echo $?
gg-inspect --diff a.gguf; echo $?
gg-inspect --diff a.gguf b.gguf c.gguf; echo $?
gg-inspect --diff -m a.gguf b.gguf >/dev/null; echo $?
gg-inspect --diff -m a.gguf b.gguf c.gguf; echo $?
gg-inspect --diff - a.gguf <a.gguf; echo $?
head -c 9000 a.gguf >cut.gguf
gg-inspect --diff a.gguf cut.gguf >/dev/null; echo $?
gg-inspect --diff a.gguf b.gguf >/dev/full; echo $?
