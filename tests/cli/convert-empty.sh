# Tensors without bytes, as they have a dimension of 0, and one without
# dimensions, which has one value, through everything that reads tensors.
make_gguf no_bytes >in.gguf
gg-inspect --tensors in.gguf
gg-inspect --json in.gguf | grep '"shape"'
gg-inspect --stats in.gguf
gg-inspect --check in.gguf
gg-inspect --histogram in.gguf | cut -f 1-3
gg-inspect --hash in.gguf >hashes
gg-inspect --hash-check hashes in.gguf
for t in empty no_columns; do
    gg-inspect --tensor $t.weight --npy t.npy in.gguf
    grep -a -o "'shape': ([0-9, ]*)" t.npy
    gg-inspect --tensor $t.weight in.gguf | grep values
done
gg-inspect --tensor empty.weight --png x.png in.gguf 2>&1 |
    sed 's/built without libpng.*/in.gguf: empty.weight has no values, which make no picture/'

echo 'written again'
same() { # the same tensors
    gg-inspect --hash "$1" | grep -v '\*' | cmp - tensors
    gg-inspect --check "$1"
}
grep -v '\*' hashes >tensors
gg-convert in.gguf out.gguf && same out.gguf
gg-inspect --diff in.gguf out.gguf
gg-convert --split 20 in.gguf part && same part-00001-of-*
gg-convert part-00001-of-* joined.gguf && cmp joined.gguf out.gguf
cp in.gguf edited.gguf
gg-convert --set general.name=x edited.gguf && same edited.gguf
gg-convert --set general.name='a name that takes far more room' edited.gguf &&
    same edited.gguf
gg-convert --type F16 in.gguf f16.gguf && gg-inspect --check f16.gguf
gg-quantize in.gguf q.gguf Q8_0 && gg-inspect --check q.gguf
gg-convert --to safetensors in.gguf out.safetensors
head -c 600 out.safetensors | tr ',' '\n' | grep -a -c '"shape":\[0'
gg-eval -m in.gguf --top 1 /dev/null 2>&1 | cut -d ' ' -f 1-8
