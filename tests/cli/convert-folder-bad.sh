# What is wrong with a folder, and where; nothing is left behind.
mkdir none && gg-convert none x 2>&1 | grep 'without Jansson' >&2 && exit 77
rmdir none
make_folder qwen2-f32 model.gguf good 2 || exit 99
try() { # what was changed in a copy of the folder
    gg-convert bad out.gguf 2>said; echo "$1: $?"
    sed 's/: not JSON: .*/: not JSON/' said >&2 # the rest is Jansson's
    rm -rf bad && cp -r good bad
}
edit() { sed "$2" good/"$1" >bad/"$1"; }

cp -r good bad
rm bad/config.json; try 'no config.json'
edit config.json 's/Qwen2For/Other/'; try 'another model'
edit config.json 's/}/,}/'; try 'no JSON'
for file in config.json tokenizer.json model-00001-of-00002.safetensors; do
    printf 'version https://git-lfs.github.com/spec/v1\n' >bad/$file
    try "$file is a pointer"
done
edit config.json 's/"hidden_size":64/"hidden_size":64,"hidden_size":64/'
try 'twice'
edit config.json 's/"hidden_size":64/"hidden_size":0/'; try 'too small'
edit config.json 's/"hidden_size":64/"hidden_size":"64"/'; try 'a text'
edit config.json 's/"vocab_size":300/"vocab_size":299/'; try 'a token too many'
edit config.json 's/"vocab_size":300/"vocab_size":301/'; try 'a row too few'
edit config.json 's/{"arch/{"quantization_config":{},"arch/'; try 'quantised'
edit config.json 's/{"arch/{"quantization_config":{"quant_method":"aqlm"},"arch/'
try 'another method'
edit config.json 's/{"arch/{"hidden_act":"relu","arch/'; try 'relu'
edit config.json 's/{"arch/{"rope_scaling":{"type":"odd"},"arch/'; try 'scaling'
edit config.json 's/"num_hidden_layers":2/"num_hidden_layers":3/'
try 'a layer too few'
edit config.json 's/"num_hidden_layers":2/"num_hidden_layers":1/'
try 'a layer too many'
rm bad/model-00002-of-00002.safetensors; try 'a file is missing'
edit model.safetensors.index.json 's/model-00002/..\/odd/'; try 'outside'
edit model.safetensors.index.json 's/weight_map/odd/'; try 'no map'
edit model.safetensors.index.json 's/model.norm/model.odd/'; try 'not in it'
rm bad/model.safetensors.index.json; try 'no index'
rm bad/tokenizer.json; try 'no tokenizer'
edit tokenizer.json 's/"BPE"/"Words"/'; try 'no known model'
edit tokenizer.json 's/:255,/:254,/'; try 'one id, two tokens'
edit tokenizer.json 's/"merges":\["[^"]*"/"merges":["ab"/'; try 'no merge'
edit tokenizer.json 's/"merges":\["[^"]*"/"merges":["a  b"/'; try 'two blanks'
edit tokenizer.json 's/"merges":\["[^"]*"/"merges":["a xyz"/'; try 'no token'
edit tokenizer.json 's/ByteLevel/Whitespace/'; try 'no bytes'
edit tokenizer.json 's/"use_regex":true/"use_regex":false/'; try 'another rule'
rm out.gguf
n=$(wc -c <good/model-00001-of-00002.safetensors)
for i in 1 9 200 $((n - 1)); do
    head -c $i good/model-00001-of-00002.safetensors \
        >bad/model-00001-of-00002.safetensors
    try "$i bytes"
done
edit model-00001-of-00002.safetensors 's/"F32"/"F99"/'; try 'a type'
edit model-00001-of-00002.safetensors 's/offsets":\[0,/offsets":[4,/'
try 'a gap'

# Where the result cannot be written.
gg-convert good none/out.gguf; echo $?
gg-convert good /dev/full; echo $?
gg-convert --type Q9 good out.gguf; echo $?
sh -c 'ulimit -f 64; gg-convert good out.gguf; exit $?' 2>/dev/null
test $? -gt 1 && echo 'too large'
rm said; ls
