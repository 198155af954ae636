# What is named as a model and is none is told by what it is, by all tools.
file() { # NAME BYTES
    printf "$2" >"$1"
    for tool in 'gg-inspect' 'gg-eval -m' 'gg-tokenize -m' 'gg-generate -p a -m' \
        'gg-convert -q'; do
        case $tool in
        gg-convert*) $tool "$1" out ;;
        *) $tool "$1" ;;
        esac </dev/null >out 2>err && echo "$tool: status 0"
        sed 's/^gg-[a-z]*: //' err
    done | uniq
}
file pointer 'version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 9\n'
file page '\n<!DOCTYPE HTML>\n<html lang="en">'
file page.html '<html><body>Not found'
file answer '<?xml version="1.0"?><Error>NoSuchKey</Error>'
file json '{"error": "Repository not found"}'
file nothing 'Entry not found'
file zip 'PK\003\004....'
file pickle '\200\002}q.'
file gzip '\037\213\010....'
file weights '\010\000\000\000\000\000\000\000{"a":{}}'
file program '\177ELF....'
file text 'Once upon a time'
file empty ''
# The same where a shard is such.
"$top_builddir/tests/make_model" llama-f32 model.gguf || exit 99
"$top_builddir/tests/split_model" model.gguf part 2 || exit 99
cp pointer part-00002-of-00002.gguf
echo 1 | gg-eval -m part-00001-of-00002.gguf

# Files of keys and tensors, too.
for kind in general.type=str:adapter general.type=str:mmproj \
    general.type=str:imatrix general.architecture=str:clip \
    general.architecture=str:controlvector; do
    gg-convert -q --set $kind model.gguf other.gguf || exit 99
    for tool in 'gg-eval -m' 'gg-tokenize -m' 'gg-generate -p a -m'; do
        $tool other.gguf </dev/null >out 2>err && echo "$tool: status 0"
        sed 's/^gg-[a-z]*: //' err
    done | uniq
    gg-inspect other.gguf >out || echo "gg-inspect: status $?"
done
echo 1 | gg-eval -m model.gguf --save state >out
echo 1 | gg-eval -m state
