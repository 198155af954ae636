# gg-convert --mmproj: the projector of a folder, and the model of the same one
mkdir none && gg-convert none x 2>&1 | grep 'without Jansson' >&2 && exit 77
rmdir none
cases=$top_srcdir/tests/fixtures
make_case "$cases/projector_cases/qwen3vl.case" scratch eyes &&
    make_case "$cases/families/qwen3vl.case" scratch text || exit 99
cp text/tokenizer*.json eyes
gg-convert eyes model.gguf && gg-inspect -k general.architecture model.gguf
gg-convert --mmproj eyes mmproj.gguf
gg-inspect -k general.type mmproj.gguf
gg-inspect -k clip.projector_type mmproj.gguf
{
    printf 'P6\n64 48\n255\n'
    head -c 9216 /dev/zero
} >a.ppm
gg-encode -m model.gguf --mmproj mmproj.gguf --npy rows.npy a.ppm
head -c 128 rows.npy | tr -d '\0' | grep -ao "'shape.*)"
fails() {
    gg-convert "$@" 2>&1
    echo "$? gg-convert $*"
}
fails --mmproj eyes
fails --mmproj mmproj.gguf x.gguf
fails --mmproj text x.gguf
fails --mmproj --base text eyes x.gguf
test ! -e x.gguf
