# Where memory is short for the model's own context, half of it will do, or
# half of that; what the user asks for is not cut.
"$top_builddir/tests/make_model" llama-f32 small.gguf || exit 99
gg-convert -q --set llama.context_length=16777216 small.gguf model.gguf || exit 99
GG_MODEL=model.gguf
export GG_MODEL
if ! (ulimit -v 300000 && gg-eval -t 1 -m small.gguf --version) >/dev/null 2>&1
then
    echo "no tool runs in little memory" >&2
    exit 77
fi
ulimit -v 300000
seq -s ' ' 1 200 >ids
gg-eval -t 1 -m small.gguf --top 9 ids >want
gg-eval -t 1 -v --top 9 ids 2>err | cmp - want
grep -o "memory is short for the model's own context of 16777216" err
grep -o 'context [0-9]*$' err | awk '{ print ($2 >= 256 && $2 < 1e7) }'
gg-eval -t 1 --top 9 -c 16777216 ids
echo "status $?"
for i in $(seq 1 1500); do cat ids; done | tr '\n' ' ' >many
gg-eval -t 1 --top 1 many 2>/dev/null | sed 's/[0-9]\{3,\}/N/g'
gg-generate -t 1 -p abc -n 20 -s 1 >out
gg-generate -t 1 -m small.gguf -p abc -n 20 -s 1 | cmp - out
