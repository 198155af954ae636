# The tensors of a model as a file of safetensors.
show() { # its header, a tensor a line
    n=$(od -A n -t u8 -N 8 "$1" | tr -d ' ')
    test $((n % 8)) = 0 && tail -c +9 "$1" | head -c "$n" | sed 's/},/},\
/g;s/ *$//' | head -4
    echo
}
make_model llama-f16 model.gguf || exit 99
gg-convert --to safetensors model.gguf out.safetensors && show out.safetensors
gg-convert --type Q8_0 model.gguf less.gguf
gg-convert --to safetensors less.gguf out.safetensors && show out.safetensors
gg-convert --to safetensors --type BF16 -t 3 less.gguf out.safetensors &&
    show out.safetensors

# All of one type: the data is that of the GGUF file, which has no gaps here.
gg-convert --to safetensors --type F32 less.gguf out.safetensors
gg-convert --type F32 less.gguf all.gguf
n=$(od -A n -t u8 -N 8 out.safetensors | tr -d ' ')
tail -c +$((n + 9)) out.safetensors >want
tail -c "$(wc -c <want)" all.gguf | cmp - want

gg-convert --to safetensors --type Q8_0 model.gguf out; echo $?
gg-convert --to safetensors --split 1G model.gguf out; echo $?
gg-convert --to odd model.gguf out; echo $?
gg-convert --to safetensors model.gguf /dev/full; echo $?
ls
