# --check: what is sound is silent; what is not has a line.
make_model llama-f32 f.gguf && make_model llama-q8_0 q.gguf &&
    make_gguf nasty >nasty.gguf || exit 99
try() {
    gg-inspect --check "$@" >out
    echo "$?"
    cut -f 1-3 out | grep -v '^level'
}
try f.gguf
try q.gguf
try "$GG_MODEL"
try nasty.gguf

echo 'values'
poke() { # FILE TENSOR SKIP BYTES
    at=$(gg-inspect --tensor "$2" "$1" | awk '$1 == "offset" { print $2 }')
    printf "$4" | dd of="$1" bs=1 seek=$((at + $3)) conv=notrunc 2>/dev/null
}
cp f.gguf x.gguf
poke x.gguf output_norm.weight 8 '\0\0\300\377'
poke x.gguf blk.0.attn_q.weight 516 '\0\0\200\377'
poke x.gguf blk.0.attn_q.weight 600 '\0\0\200\177'
head -c 256 /dev/zero >row
at=$(gg-inspect --tensor token_embd.weight x.gguf |
    awk '$1 == "offset" { print $2 }')
dd if=row of=x.gguf bs=1 seek=$((at + 7 * 256)) conv=notrunc 2>/dev/null
dd if=row of=x.gguf bs=1 seek=$((at + 9 * 256 - 4)) conv=notrunc 2>/dev/null
at=$(gg-inspect --tensor blk.1.attn_k.weight x.gguf |
    awk '$1 == "offset" { print $2 }')
dd if=/dev/zero of=x.gguf bs=1 seek="$at" count=8192 conv=notrunc 2>/dev/null
try x.gguf
try -t 1 x.gguf >one; try x.gguf | cmp - one
try --tensor 'blk.0*' x.gguf
gg-inspect --check --json x.gguf | jq -c '.findings[1]'

echo 'scales'
cp q.gguf y.gguf
poke y.gguf blk.0.attn_q.weight 34 '\0\174'
poke y.gguf blk.0.attn_k.weight 68 '\1\0'
try y.gguf

echo 'room'
size=$(stat -c %s f.gguf)
head -c $((size - 100)) f.gguf >z.gguf
try z.gguf
head -c "$(gg-inspect --json f.gguf | jq .data_offset)" f.gguf >z.gguf
try --tensor 'blk.0.*norm.weight' z.gguf
try z.gguf | grep -c error
cp f.gguf z.gguf && head -c 100 /dev/zero >>z.gguf
try z.gguf
gg-convert --split 100000 f.gguf part
head -c 64 /dev/zero >>part-00002-*
try part-00001-*

echo 'what cannot be run'
cp f.gguf w.gguf
gg-convert --set llama.block_count=u32:1 w.gguf
try w.gguf | head -n 3
gg-convert --set llama.block_count=u32:3 w.gguf
try w.gguf
gg-convert --set general.architecture=unheard w.gguf
try w.gguf

echo 'errors'
try none.gguf
head -c 1000 f.gguf >cut.gguf
try cut.gguf
try --metadata f.gguf
try --tensor 'x*' f.gguf
true
