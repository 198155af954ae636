# --npy: what NumPy reads: the head, then the bytes, or floats.
make_model llama-f16 model.gguf && make_gguf small >small.gguf &&
    make_gguf nasty >nasty.gguf || exit 99
data_of() { # FILE TENSOR
    gg-inspect --tensor "$2" "$1" >shown
    at=$(awk '$1 == "offset" { print $2 }' shown)
    tail -c +$((at + 1)) "$1" | head -c "$(awk '$1 == "bytes" { print $2 }' shown)"
}
head_of() { # the length is a multiple of 64
    test "$(($(wc -c <"$1") - $2))" = 128 || echo "$1: no head of 128 bytes"
    head -c 8 "$1" | od -An -t x1
    head -c 10 "$1" | tail -c 2 | od -An -t u2
    head -c 128 "$1" | tail -c +11 | tr ' ' '.'
}
gg-inspect --tensor token_embd.weight --npy a.npy model.gguf
head_of a.npy $((64 * 300 * 2))
data_of model.gguf token_embd.weight >data
tail -c +129 a.npy | cmp - data
gg-inspect --npy - --tensor ints nasty.gguf >b.npy
head_of b.npy 16
tail -c +129 b.npy | od -An -t d4
gg-inspect --npy c.npy --tensor 'b.*' small.gguf # of Q8_0: 0, 1, 2 ...
head_of c.npy 128
tail -c +129 c.npy | od -An -v -w4 -t f4 |
    awk '$1 != NR - 1 { print NR, $1 } END { print NR }'

echo 'errors'
gg-inspect --npy d.npy --tensor 'blk*' model.gguf; echo $?
gg-inspect --npy d.npy --tensor other nasty.gguf; echo $?
gg-inspect --npy d.npy model.gguf; echo $?
gg-inspect --npy d.npy --tensor ints -o x nasty.gguf; echo $?
gg-inspect --npy /dev/full --tensor token_embd.weight model.gguf; echo $?
ls d.npy* 2>/dev/null
true
