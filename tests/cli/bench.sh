# gg-bench: its three forms, lists of values, several models in turn, and what is
# wrong with a command line. Figures that depend on time are x, or N.
cp "$GG_MODEL" story.gguf
mkdir folder && "$top_builddir/tests/make_model" llama-f32 folder/small.gguf || exit 99
bench() { gg-bench --bandwidth 10 --peak 50 -t 1 -r 2 "$@"; }
still() {
    awk -F '\t' -v OFS='\t' '{
        n += NF != 19
        for (i = 12; i <= 19 && NR > 1; i++)
            if (i != 17 && i != 18 && $i > 0)
                $i = "x"
    }
    1
    END { if (n) print n " lines have other fields" }'
}

echo '-- lists, several models'
bench --tsv -p 4,600 -p 8 -n 2 -d 0,5 -b 1,3 story.gguf | still
bench --tsv -p 0 -n 2 -m story.gguf folder/small.gguf | still
gg-bench --bandwidth 10 --peak 50 --tsv -p 0 -n 0 --pg 4,2 --pg 8,1 -r 1 \
    -t 1,2 --cache-type-k f16,q8_0 story.gguf | still
echo '-- the table'
bench -p 4 -n 0 story.gguf folder/small.gguf | sed 's/  *[0-9][0-9.]*/ N/g; s/  */ /g'
echo '-- JSON'
bench --json -p 4 -n 1 folder/small.gguf | sed 's/: [0-9]*\.[0-9]*/: x/g;
    s/"\(rate\|min\|max\)": [0-9][0-9]*/"\1": x/g'
echo '-- in turn, each model opened once'
bench -v -p 4 -n 1 story.gguf folder/small.gguf 2>&1 >/dev/null |
    sed -n 's/computing on .*/computing/; s/: [^:]* s$//; s/^gg-bench: //p'
echo '-- fractions of the bounds that are given; minima, maxima'
bench --tsv -p 4 -n 2 story.gguf | awk -F '\t' 'NR > 1 {
    want = $17 == "memory" ? $15 / 10 : $16 / 50
    print $17, $18, ($19 - want) ^ 2 < 1e-3 * want ? "good" : $19 " " want,
        $13 <= $12 && $12 <= $14 ? "good" : $13 " " $12 " " $14 }'

echo '-- wrong'
try() {
    gg-bench "$@" >out
    echo "$? $*"
    cat out
}
try -p 512x
try -p ''
try -n 1,,2
try -n 1,
try -d -1
try -b 0
try -r 0
try -t 0
try --pg 5
try --pg 1,2,3
try --pg 0,2
try -p 0 -n 0
try -p 1 -d 268435456
try --cache-type f16,f17
try --tsv --json
try --bandwidth 0
try --bounds story.gguf
try --bounds -m story.gguf
try --device nonesuch
try nonesuch.gguf
try -p 1 -n 1 story.gguf nonesuch.gguf
try -p "$(seq -s , 65)"
try -d 268434000 -b 4096 story.gguf
echo nothing >bad.gguf
try story.gguf bad.gguf
"$top_builddir/tests/make_model" bert-f32 bert.gguf || exit 99
try -p 0 -n 4 bert.gguf
bench --tsv -p 4 -n 2 bert.gguf | still
# states of a recurrent model are read, and nothing else
"$top_builddir/tests/make_model" qwen35-f32 recurrent.gguf || exit 99
gg-bench -q --tsv -t 1 -r 1 -p 0 -n 2 recurrent.gguf |
    awk -F '\t' 'NR == 2 { print ($15 > 0 && $15 < 1e4 ? "read" : $15) }'
