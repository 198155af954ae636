# --stats against a plain computation; whatever the threads.
make_model llama-f32 model.gguf && make_gguf nasty >nasty.gguf || exit 99
gg-inspect --stats model.gguf >table
gg-inspect --stats -t 1 model.gguf | cmp - table
head -n 1 table | tr '\t' ' '

# Every value of an F32 file, in double precision.
gg-inspect --json --tensors model.gguf | jq -r '.data_offset as $o |
    .tensors[] | [.name, .offset + $o, .bytes] | @tsv' |
    while read -r name at n; do
        od -An -v -w4 -t u4 -j "$at" -N "$n" model.gguf |
            awk -v name="$name" '
                function value(u,   s, e) {
                    s = u >= 2^31 ? -1 : 1
                    u %= 2^31
                    e = int(u / 2^23)
                    u %= 2^23
                    return e ? s * (1 + u / 2^23) * 2^(e - 127) \
                        : s * u / 2^149
                }
                { v = x[n++] = value($1); s += v; q += v * v; z += v == 0
                  if (n == 1 || v < a) a = v
                  if (n == 1 || v > b) b = v }
                END { m = s / n; d = q / n - m * m; far = 0
                    for (i in x) far += (x[i] - m) ^ 2 > 36 * d && d > 1e-12
                    printf "%s\t%.17g\t%.17g\t%.17g\t%.17g\t%d\t%d\n", name, a,
                        b, m, sqrt(q / n), z, far }'
    done >want
awk -F '\t' 'function off(a, b, by) { return a - b > by || b - a > by }
    NR == FNR { if (FNR > 1) row[$1] = $0; next }
    { split(row[$1], t); n++
      e = 1e-8 * ($5 > 1e-3 ? $5 : 1e-3) # nine digits are written
      if (off(t[5], $2, 1e-8 * ($2 < 0 ? -$2 : $2)) ||
          off(t[6], $3, 1e-8 * ($3 < 0 ? -$3 : $3)) || off(t[7], $4, e) ||
          off(t[8], $5, e) || t[9] != $6 || t[10] != $7 || t[11] || t[12])
          print "want", $0, "got", row[$1] }
    END { print n, length(row), "tensors" }' table want

echo 'what can be seen by hand'
gg-inspect --stats nasty.gguf; echo $?
# One value far from all others.
gg-inspect --tensor blk.0.ffn_up.weight model.gguf |
    awk '$1 == "offset" { print $2 }' >at
printf '\0\0\200\101' | # 16
    dd of=model.gguf bs=1 seek="$(cat at)" conv=notrunc 2>/dev/null
gg-inspect --stats --tensor '*.0.ffn_up.weight' model.gguf | cut -f 1,6,10
gg-inspect --stats --tensor '*.0.ffn_up.weight' --json model.gguf |
    jq -c '.tensors[0] | [.tensor, .max, .outliers, .nan]'
gg-inspect --stats --json nasty.gguf |
    jq -c '.tensors[] | [.type, .shape, .bits, .min, .nan, .inf]'
gg-inspect --stats --tensor 'x*' model.gguf; echo $?
gg-inspect --stats --metadata model.gguf; echo $?
gg-inspect --stats --hash model.gguf; echo $?
