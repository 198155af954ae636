# Models in fewer bits: the table, the file, and what it answers.
tab=$(printf '\t')
"$top_builddir/tests/make_model" llama-f32 m.gguf || exit 99
gg-quantize m.gguf q8.gguf Q8_0 >table
head -n 1 table
awk -F '\t' 'NR > 1 && $1 != "all" { print $2, $3 }' table | sort | uniq -c |
    sed 's/^ *//'
gg-inspect --json q8.gguf | jq -r '.metadata."general.file_type"'
awk -F '\t' '$1 == "all" { print ($5 > 1e-6 && $5 < 1e-4) }' table

# The bytes are those of any number of threads, and of a pipe.
gg-quantize -q -t 1 m.gguf a.gguf Q8_0 && cmp a.gguf q8.gguf
gg-quantize -t 5 m.gguf b.gguf Q8_0 | cmp - table
cmp b.gguf q8.gguf
gg-quantize -q m.gguf - Q8_0 | cmp - q8.gguf
gg-quantize m.gguf - Q8_0 2>&1 >c.gguf | cmp - table
cmp c.gguf q8.gguf

# Better types lose less; F32 loses nothing; logits are near.
for t in F32 BF16 F16 Q8_0 Q6_K Q5_K_M Q5_1 Q5_0 Q4_K_M Q4_1 Q4_0 Q3_K_M Q2_K; do
    gg-quantize --pure m.gguf t.gguf $t | awk -F '\t' -v t=$t \
        '$1 == "all" { printf "%s %.0e\n", t, $5 }'
    gg-inspect t.gguf >inspected || echo "$t: cannot be read"
    printf '1 5 9\n' | gg-eval -m t.gguf --top 1 >top || echo "$t does not run"
done

# Plans.
gg-quantize --dry-run m.gguf none.gguf Q4_0 | head -n 4
gg-quantize --dry-run --tensor 'blk.0.*=f16' --tensor '*.attn_q.*=q5_1' \
    m.gguf none.gguf q4_0 | cut -f 1,3 | sed -n '3,9p'
gg-quantize --list | tr '\n' ' '

# Heads of each layer are a list, which has no alignment in a file.
"$top_builddir/tests/make_gguf" mixture >mixture.gguf
gg-quantize -q --dry-run mixture.gguf none.gguf Q8_0 || echo "status $?"

# What is quantised already is told, but not where it only gets more bits.
for t in Q4_0 F16; do
    gg-quantize --dry-run q8.gguf none.gguf $t >again
done
gg-convert --type Q4_0 q8.gguf again.gguf >table

# Few bits need an importance matrix; with one, fewer bits lose more. One layer
# of each type tells.
gg-quantize -q "$top_srcdir/demo/gg-story.gguf" f32.gguf F32
printf '%s ' $(seq 300 811) | gg-eval -q -m f32.gguf --imatrix im.gguf >/dev/null
for t in Q4_K IQ3_S IQ3_XXS IQ2_M IQ2_XS IQ2_XXS IQ1_M IQ1_S; do
    gg-quantize --pure --imatrix im.gguf --tensor token_embd.weight=q4_0 \
        --tensor 'blk.[!0].*=q8_0' f32.gguf t.gguf $t >table
    awk -F '\t' '$1 == "blk.0.ffn_up.weight" { print $5 }' table >>lost
    printf '1 5 9\n' | gg-eval -m t.gguf --top 1 >top || echo "$t does not run"
    gg-quantize -q --dry-run f32.gguf - $t 2>said >/dev/null || sed 's/^.* type/type/' said
done
sort -gc lost && awk 'END { print NR, ($1 < 0.3) }' lost

# What cannot be.
for o in 'm.gguf out IQ2_XXS' 'm.gguf out Q9' 'm.gguf out' 'none.gguf out Q8_0' \
    'm.gguf none/out Q8_0' 'm.gguf /dev/full Q8_0' \
    '--tensor x m.gguf out Q8_0' '--tensor x=q99 m.gguf out Q8_0' \
    '--tensor nobody*=q8_0 m.gguf out Q8_0' '-t 0 m.gguf out Q8_0'; do
    gg-quantize $o >table; echo $?
done
ls
