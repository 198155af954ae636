# gg-eval --embed: a vector a line; gg-logits --near: cosines.
make_model bert-f32 bert.gguf && make_model llama-q8_0 llama.gguf || exit 99
GG_MODEL=bert.gguf
export GG_MODEL
printf '1\t5 6 7 8\n2\t9 10 200\n3\t7\n' >lines
status() { echo "status $?"; }

# The same bytes whatever goes together.
for kind in mean last cls; do
    gg-eval --embed $kind lines >$kind
    gg-eval --embed $kind --batch 1 -t 3 lines | cmp - $kind
done
gg-eval --embed mean --slots 2 lines | cmp - mean
cmp -s mean last && echo 'mean and last are alike'
cut -f 2 lines | gg-eval --embed mean | gg-logits --near mean | cut -f 2-4 >a
gg-logits --near mean mean | cut -f 2-4 | cmp - a # a line is a text

# The kind that the file names, if it does.
of_model() { gg-eval -m pooled.gguf --embed model lines; }
pooled() { gg-convert --set bert.pooling_type=$1 bert.gguf pooled.gguf; }
for kind in 1:mean 2:cls 3:last; do
    pooled ${kind%:*} && of_model | cmp - ${kind#*:}
done
for kind in 4 str:mean; do
    pooled $kind && of_model
    status
done
gg-eval --embed model lines
status

# Length 1, or as it comes: the direction is the same.
values() {
    gg-logits --to text "$@" |
        awk -F '\t' '/^record/ { n++ } NF == 2 && $1 != "" { print n, $2 }'
}
gg-eval --embed mean --no-normalize lines >long
for f in mean long; do
    values $f | awk -v f=$f '{ s[$1] += $2 * $2 }
        END { for (i = 1; i <= 3; i++) r += s[i] > 0.999999 && s[i] < 1.000001
              print f, r }'
done
gg-logits --near long mean | awk '{ print $1, $($1 + 1) }'

# Cosines against awk's doubles.
{ values long; echo; values last; } | awk '
    NF == 0 { second = 1; next }
    second { b[$1, nb[$1]++] = $2; next }
    { a[$1, na[$1]++] = $2 }
    END { for (i = 1; i <= 3; i++) { printf "%d", i
        for (j = 1; j <= 3; j++) { ab = aa = bb = 0
            for (k = 0; k < na[i]; k++) { ab += a[i, k] * b[j, k]
                aa += a[i, k] * a[i, k]; bb += b[j, k] * b[j, k] }
            printf "\t%.4f", ab / sqrt(aa * bb) }
        print "" } }' >wanted
gg-logits --near last long | awk -v OFS='\t' '{ for (i = 2; i <= 4; i++)
    $i = sprintf("%.4f", $i) } 1' | diff - wanted
gg-eval --embed mean --f16 lines | gg-logits --near mean | awk '{ print $($1 + 1) > 0.99999 }'

# The nearest: of each record the same cosines, highest first.
gg-logits --near last --top 2 long >top
gg-logits --near last --top 99 long | sed '/^$/d' | sort -k 1,1n -k 3,3n |
    awk -F '\t' '{ line = line "\t" $4 }
        NR % 3 == 0 { print $1 line; line = "" }' >all
gg-logits --near last long | cmp - all
awk -F '\t' 'NF == 0 { n = 0; next } n && $4 > best { print "not sorted" }
    { n++; best = $4 } $2 != n { print "rank" }' top
awk 'NF == 0' top | wc -l
# Records without numbers are counted.
cut -f 2 lines | gg-eval --embed mean >counted
gg-logits --near counted --top 1 mean | cut -f 1-3
gg-logits --top 1 mean
status

# What is no number has no angle.
gg-logits --to text mean | sed '0,/^0\t/s/^0\t.*/0\tnan/' | gg-logits >odd
gg-logits --near mean odd | cut -f 1-2 | sed 1q
gg-logits --near mean odd >/dev/null
status
gg-logits --near odd mean
status
gg-logits --to text mean | sed 's/^\([0-9]*\t\)[-0-9].*/\10/' | gg-logits >zero
gg-logits --near zero mean | sed 1q
gg-logits --diff mean zero | cut -f 3 | tail -n 1

# An encoder is watched while it makes vectors.
gg-eval --embed mean --watch '*ffn_down' lines | cut -f 1-5

# What fails is a record in its place.
{ printf '1\t5\n2\t999999\n3\t!so it goes\n4\t'; seq -s ' ' 1 250 | tr -d '\n'
  printf ' '; seq -s ' ' 1 290; printf '5\t6\n5\t\n'; } >bad
gg-eval --embed cls bad >some
status
gg-logits --near some some 2>&1 | sed 's/: .*//'
gg-eval --embed cls bad 2>/dev/null | gg-logits --near cls |
    awk -F '\t' '{ print $1, NF == 4 ? "a vector" : $2 }
                 /!/ { failed = 1 } END { exit failed }'
status

# Encoders have no logits; others have both.
gg-eval lines >none
status
gg-generate -p a
status
gg-eval -m llama.gguf --embed last lines | gg-logits --to npy | wc -c
gg-logits --near mean lines
status
gg-eval lines -m llama.gguf | gg-logits --near mean
status
gg-eval --embed middle lines
gg-eval --embed mean --score lines
gg-eval --embed mean --shift lines
gg-eval --embed mean --top 3 lines
gg-eval --no-normalize lines
gg-eval --embed mean </dev/null
status
