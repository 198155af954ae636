# Projector files: gg-inspect shows, checks and measures them, gg-quantize keeps
# what no block may hold, gg-encode takes many images in one go.
make=$top_builddir/tests
"$make/make_encoder" gemma3 p.gguf || exit 99
{ printf 'P6\n4 4\n255\n' && head -c 48 "$GG_MODEL"; } >a.ppm
{ printf 'P6\n9 5\n255\n' && tail -c 135 "$GG_MODEL"; } >b.ppm
echo nothing >c.ppm
unset GG_MODEL

echo "-- shown"
gg-inspect p.gguf | sed '/^$/,$d'
gg-inspect --json p.gguf | sed -n '/"known"/,/"architecture"/p'

echo "-- checked"
gg-inspect --check p.gguf
check() {
    "$make/make_encoder" gemma3 bad.gguf "$@"
    gg-inspect --check bad.gguf | grep -v note | sed 1d
    gg-inspect bad.gguf | sed -n 2p
}
check missing v.blk.0.ln1.bias
check extra v.blk.1.ln1.bias
check misshaped v.post_ln.weight
check no-key clip.vision.patch_size
check extra-key clip.vision.n_wa_pattern

echo "-- measured"
figures() { gg-inspect --memory --json "$@" | tr -d ' ' | grep -o '"[a-z_]*":[0-9]*'; }
figures p.gguf | sed 's/\("compute":\|"sum":\).*/\1/'
gg-inspect --memory --image-size 20x900 p.gguf | cut -c 23-
"$make/make_model" llama-f32 m.gguf || exit 99
one=$(figures p.gguf | sed -n 's/"sum"://p') two=$(figures m.gguf | sed -n 's/"sum"://p')
test "$(figures --mmproj p.gguf m.gguf | sed -n 's/"sum"://p')" = $((one + two)) ||
    echo 'the sum is another'
gg-inspect --memory --mmproj m.gguf m.gguf
gg-inspect --memory --image-size 20 p.gguf

echo "-- quantised"
gg-quantize p.gguf q.gguf q8_0 2>&1 | cut -f 1-3 | grep -v 'bias'
gg-inspect --check q.gguf
gg-quantize --tensor 'v.patch*=q8_0' p.gguf x.gguf q8_0 2>&1 | tail -n 1
rows() { gg-encode --mmproj "$1" --npy rows.npy a.ppm b.ppm && tail -c 192 rows.npy | od -An -v -t f4 -w4; }
rows p.gguf >p.rows
rows q.gguf | paste p.rows - | awk '
    { power += $1 ^ 2; error += ($1 - $2) ^ 2 }
    END { print NR, (error > 0 && error < 1e-3 * power) ? "values, NMSE below 1e-3" : error / power }'

echo "-- many files"
encode() { gg-encode --mmproj p.gguf "$@" || echo "status $?"; }
encode --jsonl a.ppm none.ppm c.ppm - . <b.ppm
encode --list a.ppm none.ppm b.ppm
encode --npy x.npy a.ppm c.ppm
encode --jsonl --list a.ppm
encode --jsonl -o r.jsonl a.ppm b.ppm && wc -l <r.jsonl
