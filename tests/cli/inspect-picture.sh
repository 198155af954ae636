# --histogram, and --png: sizes, and what colours are where.
make_model llama-f32 model.gguf && make_gguf nasty >nasty.gguf || exit 99
echo 'histograms'
gg-inspect --histogram --tensor output_norm.weight model.gguf >table
gg-inspect --tensor output_norm.weight --npy - model.gguf | tail -c +129 |
    od -An -v -w4 -t f4 | sort -g | awk '
        { x[n++] = $1 }
        END { for (i = 0; i < n; i++) { k = int((x[i] - x[0]) / (x[n - 1] - x[0]) * 32)
                bins[k < 32 ? k : 31]++ }
            for (k = 0; k < 32; k++) printf "%d%s", bins[k], k < 31 ? "\t" : "\n" }' >want
cut -f 4- table | cmp - want
gg-inspect --histogram -t 1 model.gguf >one
gg-inspect --histogram model.gguf | cmp - one
awk -F '\t' 'NF != 35' one
gg-inspect --histogram nasty.gguf | cut -f 1-5; echo $?
gg-inspect --histogram --json nasty.gguf | jq -c '.tensors[1]'
if script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
    script -qefc 'LC_ALL=C gg-inspect --histogram --tensor "*0.*norm*" model.gguf' \
        shown >/dev/null </dev/null
    grep -c '^blk.0.[a-z_.]* *[0-9.]* |[] .:=+*#@-]*| [0-9.]*.$' shown
else
    echo 2
fi

echo 'pictures'
poke() { # FILE TENSOR SKIP
    at=$(gg-inspect --tensor "$2" "$1" | awk '$1 == "offset" { print $2 }')
    dd of="$1" bs=1 seek=$((at + $3)) conv=notrunc 2>/dev/null
}
printf '\0\0\300\177' | poke model.gguf blk.0.attn_q.weight $((4 * (64 * 5 + 3)))
head -c 256 /dev/zero | poke model.gguf blk.0.attn_q.weight $((4 * 64 * 9))
gg-inspect --png a.png --tensor blk.0.attn_q.weight model.gguf 2>said || {
    cat said >&2
    grep -q 'png library' said && exit 77
    exit 99
}
size() { od -An -t u1 -j 16 -N 8 "$1" | awk '{ print $3 * 256 + $4, $7 * 256 + $8 }'; }
size a.png
png_pixels a.png >rows
wc -l <rows
sed -n 6p rows | cut -d ' ' -f 10-12
sed -n 10p rows | tr ' ' '\n' | sort -u
tr ' ' '\n' <rows | awk '$1 > 200' | wc -l | awk '{ print ($1 > 100) }'
gg-inspect --png b.png --tensor 'token*' "$GG_MODEL" && size b.png
gg-inspect --png c.png --histogram model.gguf && size c.png
gg-inspect --png d.png --histogram --tensor token_embd.weight model.gguf && size d.png

echo 'errors'
gg-inspect --png x.png model.gguf; echo $?
gg-inspect --png x.png --tensor 'blk*' model.gguf; echo $?
gg-inspect --png x.png --tensor other nasty.gguf; echo $?
gg-inspect --png x.png --histogram --json model.gguf; echo $?
gg-inspect --png x.png --stats model.gguf; echo $?
gg-inspect --png /dev/full --tensor token_embd.weight model.gguf; echo $?
ls x.png* 2>/dev/null
true
