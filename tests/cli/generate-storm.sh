# Records, cancels, questions and ends at random: see tests/harness/engine_storm.py.
# GG_STORM is how many records; build-aux/nightly.d has more.
command -v python3 >/dev/null || { echo 'there is no python3' >&2; exit 77; }
"$top_builddir/tests/make_model" llama-q4_0 random.gguf || exit 99
echo '{"prompt":"a"}' | gg-generate --jsonl -m random.gguf -n 1 2>&1 |
    grep 'without Jansson' >&2 && exit 77
for seed in ${GG_STORM_SEEDS:-1 2}; do
    python3 "$top_srcdir/tests/harness/engine_storm.py" "$seed" \
        "${GG_STORM:-60}" random.gguf || echo "seed $seed"
done
