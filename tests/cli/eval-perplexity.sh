# --perplexity against the log-probabilities that --top writes.
"$top_builddir/tests/make_model" llama-f32 model.gguf || exit 99
story=$GG_MODEL
GG_MODEL=model.gguf
export GG_MODEL

# 5 windows of 12 ids and 7 ids; each id of a window on a line of its own, in a
# sequence of its own. Ids 6 to 10 of a window foretell 7 to 11.
awk 'BEGIN { for (i = 0; i < 67; i++) print (i * 37 + i * i * 11) % 256 }' >ids
tr '\n' ' ' <ids | sed 's/ $//' >line
truth() {
    awk -v n="$1" -v bos="$2" '
        NR > n * int('$(wc -l <ids)' / n) { exit }
        { print int((NR - 1) / n) "\t" ((NR - 1) % n || bos == "" ? $1 : bos) }
    ' ids >numbered
    gg-eval --slots 1 --top 1408 numbered | awk -F '\t' -v n="$1" '
        BEGIN { last = shown = -1; while ((getline line <"numbered") > 0) {
                    split(line, f, "\t"); id[f[1], seen[f[1]]++] = f[2] } }
        NF && $2 >= int(n / 2) + 1 && $2 < n && $4 == id[$1, $2] {
            k++; s -= $5; q += $5 * $5 }
        NF && $2 == n - 1 { last = $1 }
        NF == 0 && last != shown { shown = last; if (k > 1)
            printf "%d\t%d\t%.4f\t%.5f\n", last + 1, k, exp(s / k),
                exp(s / k) * sqrt((q / k - s / k * s / k) / (k - 1)) }'
}
near() {
    awk -F '\t' -v other="$1" '
        { getline line <other; split(line, f, "\t") }
        $1 != f[1] || $2 != f[2] || $3 - f[3] > 1e-4 * f[3] ||
            f[3] - $3 > 1e-4 * f[3] || $4 - f[4] > 1e-4 * f[3] ||
            f[4] - $4 > 1e-4 * f[3] { print "got " $0 ", not " line }
        END { print NR " windows" }'
}
truth 12 '' >want
gg-eval --perplexity -c 12 line >got
near want <got
gg-eval --perplexity -c 12 ids | cmp - got
gg-eval --perplexity -c 12 -t 3 --batch-size 5 line | cmp - got
gg-eval --perplexity -q -c 12 line | cmp - "$(tail -n 1 got >last; echo last)"
gg-eval --perplexity -c 12 -o file line && cmp file got
truth 13 '' >want
gg-eval --perplexity -c 13 ids | near want

echo 'a model that wants BOS has it in front of each window'
GG_MODEL=$story
bos=$(gg-inspect -k tokenizer.ggml.bos_token_id "$story")
truth 20 "$bos" >want
gg-eval --perplexity -c 20 --cache-type f16 ids | near want

echo 'windows that overlap'
# 4 ids of each window of 12, given what is before them in it.
strided() { # WINDOW STRIDE
    awk -v n="$1" -v s="$2" '{ id[NR - 1] = $1 } END {
        for (w = 0; w * s + n <= NR; w++) for (i = 0; i < n; i++)
            print w "\t" id[w * s + i] }' ids >numbered
    gg-eval --slots 1 --top 1408 numbered | awk -F '\t' -v n="$1" -v s="$2" '
        BEGIN { while ((getline line <"numbered") > 0) {
                    split(line, f, "\t"); id[f[1], seen[f[1]]++] = f[2] } }
        NF && $2 >= n - s && $2 < n && $4 == id[$1, $2] { k++; l -= $5; w[$1] = 1 }
        END { printf "%d\t%d\t%.6e\n", length(w), k, exp(l / k) }'
}
strided 12 4 >want
cut -f 1,2 want
gg-eval --perplexity -c 12 --stride 4 -q ids | cut -f 1-3 | near want
gg-eval --perplexity -c 12 --stride 4 ids | sed -n 3p | cmp - "$(
    gg-eval --perplexity -c 12 --stride 4 --windows 3 -q line >three; echo three)"
gg-eval --perplexity -c 12 --windows 2 ids | wc -l
gg-eval --perplexity -c 12 --stride 12 ids
gg-eval --stride 4 ids

echo 'what is no text'
gg-eval --perplexity ids
gg-eval --perplexity -c 3 ids
printf '1\t1 2 3\n' | gg-eval --perplexity -c 4
printf '1\t!broken\n' | gg-eval --perplexity -c 4
printf '1 2 3 99999' | gg-eval --perplexity -c 4
: | gg-eval --perplexity -c 4
gg-eval --perplexity --top 3 ids
gg-eval --perplexity --shift ids
gg-eval --perplexity -c 4 ids >/dev/full
echo "status $?"
