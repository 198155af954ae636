# gg-generate --image, --audio: what is refused before a model is asked
printf 'P6\n2 2\n255\nabcdefghijkl' >a.ppm
mkdir alone two
cp "$GG_MODEL" alone/model.gguf
cp "$GG_MODEL" two/model.gguf
cp "$GG_MODEL" two/mmproj-a.gguf
cp "$GG_MODEL" two/mmproj-b.gguf
fails() {
    echo "$*: $(gg-generate -n 1 -p hi "$@" 2>&1 | sed 's/^gg-generate: //; 2,$d')"
}
fails -m alone/model.gguf --image a.ppm
fails -m two/model.gguf --image a.ppm
fails -m two/model.gguf --mmproj two/mmproj-a.gguf --image a.ppm
fails -m two/model.gguf --image ''
fails -m two/model.gguf --image a.ppm --rows a.ppm
fails -m two/model.gguf --image none.ppm --mmproj none.gguf
fails -m two/model.gguf --image a.ppm --suffix x
true
