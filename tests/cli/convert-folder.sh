# Folders of Hugging Face's become GGUF files with the same tensors and logits.
mkdir none && gg-convert none x 2>&1 | grep 'without Jansson' >&2 && exit 77
rmdir none
logits() {
    printf '1 5 9 200 17 30 31 32 33 34\n' | gg-eval -q -m "$1" --top 9 |
        cut -f 2-5
}
families=$(make_model 2>&1 | sed -n 's/^families: //p')
for f in $families; do
    case $f in *scaled | granite4) continue ;; esac # no folder has these
    make_folder $f-f32 want.gguf $f 2>why
    case $? in
    0) ;;
    77) rm -rf $f && continue ;; # nor its architecture
    *) cat why && echo "$f: not made" ;;
    esac
    gg-convert $f got.gguf || echo "$f: not converted"
    logits want.gguf >want && logits got.gguf | cmp - want || echo "$f: logits"
    gg-inspect --tensors want.gguf | sort >want
    gg-inspect --tensors got.gguf | sort | diff want - >difference ||
        case $f in phi2qkv) ;; *) cat difference ;; esac
    rm -rf $f
done

# The kind of values stays, in one file or several; all tools take a folder.
for t in f16 bf16; do
    make_folder mixtral-$t want.gguf model 3 && ls model
    gg-convert model got.gguf && logits want.gguf >want
    logits got.gguf | cmp - want && logits model | cmp - want
    gg-tokenize -m want.gguf <"$top_srcdir/README.md" >want
    gg-tokenize -m model <"$top_srcdir/README.md" | cmp - want
    gg-inspect model | sed -n '/^format/p'
    rm -rf model
done

# Quantised in one go: as gg-quantize does it, for any number of threads.
make_folder gpt-oss-f32 want.gguf model
gg-convert --type Q8_0 -t 1 model got.gguf && gg-convert model all.gguf
gg-quantize -q all.gguf want.gguf Q8_0 && gg-quantize -q model same.gguf Q8_0
cmp got.gguf want.gguf && cmp same.gguf want.gguf
gg-convert --type q8_0 -t 5 model got.gguf && cmp got.gguf want.gguf
gg-convert --type BF16 --set general.name=named model got.gguf &&
    gg-inspect got.gguf | sed -n '/named/p;/BF16/p'
