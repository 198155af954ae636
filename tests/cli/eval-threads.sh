# The default number of threads is that of the processors it may use; any
# number gives the same bytes.
command -v taskset >/dev/null || { echo "taskset is not installed"; exit 77; }
"$top_builddir/tests/make_model" llama-q4_0 model.gguf || exit 99
GG_MODEL=model.gguf
export GG_MODEL

printf '1 2 3 4 5 6 7 8 9\n4\n5\n' >ids
first=$(taskset -cp $$ | sed 's/.*: *\([0-9]*\).*/\1/')
threads() { awk -F '\t' '$1 == "prefill" && $2 ~ /^thread/ { print $2 }' "$1"; }
gg-eval -t 1 ids >plain
taskset -c "$first" gg-eval --profile ids 2>table | cmp - plain
threads table
for t in 2 3 8; do
    gg-eval -t $t --profile ids 2>table | cmp - plain
    test "$(threads table | wc -l)" = $t || echo "not $t threads"
    taskset -c "$first" gg-eval -t $t ids | cmp - plain
done
