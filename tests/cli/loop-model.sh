# Loops around a model: what is missing is told within a second or so, and
# whatever takes gg-sample's place may just end.
"$top_builddir/tests/make_model" llama-q4_0 model.gguf || exit 99
GG_MODEL=model.gguf
export GG_MODEL
echo 1 2 3 >ids
mkfifo fifo

# Runs a script of bash; tells how its pipeline ended.
try() {
    echo "$1"
    timeout 60 bash -c "$2"'
        echo "${PIPESTATUS[*]}"' 2>err || echo "status $?"
    sort -u err | sed 's/^[a-z]*: line [0-9]*: //' # bash's own words
}
sample='gg-sample -n 5 --seed 1'

try 'missing prompt' "gg-tokenize <none | gg-loop 'gg-eval | $sample' | cat"
try 'empty prompt' "echo | gg-loop 'gg-eval | $sample' | cat"
try 'missing model' "cat ids | gg-loop 'gg-eval -m none | $sample' | cat"
try 'missing sampler' "cat ids | gg-loop 'gg-eval | ./none' | cat"
try 'missing prompt, FIFO' "{ gg-tokenize <none && cat; } <fifo | gg-eval |
    $sample | tee fifo | cat"
try 'missing model, FIFO' "{ cat ids - 2>/dev/null; true; } <fifo | gg-eval -m none |
    $sample | tee fifo | cat"
try 'a full context' "cat ids | gg-loop 'gg-eval -c 4 | $sample' |
    grep -v '[0-9]$' | cut -c 1-8"
try 'a sampler that ends early' "cat ids |
    gg-loop 'gg-eval | { $sample -n 1 >first; cat first; }' | wc -l"
cat >last.sed <<'END'
s/^-\t[0-9]*\t1\t\([0-9]*\)\t.*/\1/p
5q
END
try 'one that goes' "cat ids | gg-loop 'gg-eval --top 1 | sed -unf last.sed' |
    wc -l"
try 'one that nobody feeds' "cat ids | gg-loop 'gg-eval | sleep 0.2'"
