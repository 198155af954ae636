# gg-encode: what is refused before anything is computed
mkdir alone two
cp "$GG_MODEL" alone/model.gguf
cp "$GG_MODEL" two/model.gguf
cp "$GG_MODEL" two/mmproj-a.gguf
cp "$GG_MODEL" two/mmproj-b.gguf
mkdir own
for i in model other shards-00001-of-00002 mmproj-model mmproj-other mmproj-shards; do
    cp "$GG_MODEL" own/$i.gguf
done
printf 'P6\n2 2\n255\nabcdefghijkl' >a.ppm
fails() {
    echo "gg-encode $*: $(gg-encode "$@" 2>&1 | sed 's/^gg-encode: //; 2,$d')"
}
fails
fails -m alone/model.gguf a.ppm
fails -m two/model.gguf a.ppm
fails -m own/model.gguf a.ppm
fails -m own/shards-00001-of-00002.gguf a.ppm
rm own/mmproj-model.gguf
fails -m own/model.gguf a.ppm
cp "$GG_MODEL" own/mmproj-F16.gguf
fails -m own/model.gguf a.ppm
fails -m two/model.gguf --mmproj two/mmproj-a.gguf a.ppm
fails --mmproj two/none.gguf a.ppm
fails --list --npy x.npy a.ppm
fails --png x.png --mmproj two/mmproj-a.gguf a.ppm a.ppm
fails --run 2 a.ppm
fails --image-min-tokens 9 --image-max-tokens 4 --mmproj two/mmproj-a.gguf a.ppm
ls *.npy *.png 2>/dev/null

# Rows are the same with any threads, alone and after others.
awk 'BEGIN { printf "P6\n50 40\n255\n"; for (i = 0; i < 6000; i++) printf "%c", 32 + i * 7 % 90 }' >b.ppm
awk 'BEGIN { for (i = 0; i < 40000; i++) printf "%c", 32 + i * 31 % 90 }' >s.raw
for type in gemma3 qwen3vl_merger qwen3a; do
    "$top_builddir/tests/make_encoder" $type mmproj.gguf || exit 99
    a=a.ppm b=b.ppm raw=
    test $type != qwen3a || { a=s.raw b=s.raw raw='--raw 16000'; }
    for t in 1 3; do
        # shellcheck disable=SC2086
        env -u GG_MODEL gg-encode -q --mmproj mmproj.gguf -t $t $raw --npy $t.npy $b
    done
    cmp 1.npy 3.npy
    # shellcheck disable=SC2086
    env -u GG_MODEL gg-encode -q --mmproj mmproj.gguf $raw --npy both.npy $a $b
    tail -c 72 1.npy >want
    tail -c 72 both.npy | cmp - want && echo "$type: $(wc -c <1.npy) bytes"
done
