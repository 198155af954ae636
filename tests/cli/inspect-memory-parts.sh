# --memory --parts: each rank's weights are the tensors of its layers, and all
# caches together are those of one process.
"$top_builddir/tests/make_model" llama-q8_0:8 model.gguf || exit 99
gg-inspect --json model.gguf | tr -d ' ",' | awk -F : '
    $1 == "{name" || $1 == "name" { name = $2 } { print }' >keys
# name<TAB>bytes of each tensor
gg-inspect --tensors --json model.gguf |
    sed -n 's/.*"name": "\([^"]*\)".*"bytes": \([0-9]*\).*/\1\t\2/p' >tensors
wc -l <tensors
weights() { # FIRST END RANK: those of a rank, which are blk.FIRST to END - 1
    awk -F '[\t.]' -v first="$1" -v end="$2" -v rank="$3" '
        $1 == "blk" { if ($2 >= first && $2 < end) sum += $NF; next }
        rank == 0 || $1 == "output_norm" || $1 == "rope_freqs" { sum += $NF }
        END { print sum }' tensors
}
check() { # PARTS
    gg-inspect --memory --json -c 512 --parts "$1" model.gguf >parts
    sed -n 's/.*"rank": \([0-9]*\), "first_layer": \([0-9]*\), "n_layers": \([0-9]*\), "weights": \([0-9]*\), "cache": \([0-9]*\),.*/\1 \2 \3 \4 \5/p' \
        parts >ranks
    while read -r rank first n bytes cache; do
        test "$(weights "$first" $((first + n)) "$rank")" = "$bytes" ||
            echo "$1: rank $rank: weights $bytes"
    done <ranks
    awk '{ print $2 "+" $3 }' ranks | paste -sd ' '
    one=$(gg-inspect --memory --json -c 512 model.gguf |
        sed -n 's/.*"cache": \([0-9]*\).*/\1/p')
    test "$(awk '{ n += $5 } END { print n }' ranks)" = "$one" ||
        echo "$1: the caches are not $one"
}
check 1
check 2
check 3
check 8
check 1,6,1
gg-inspect --memory -c 512 --parts 2 model.gguf | sed 's/  *[0-9.]*\.[0-9].*/ .../'
for wrong in 0 257 9 x 1,2 4,x 8,1 -1 ''; do
    gg-inspect --memory --parts "$wrong" model.gguf
    echo "status $?"
done
gg-inspect --parts 2 model.gguf
# Adapters lie where their layers are: all of them are on some rank.
"$top_builddir/tests/make_model" llama-f32:8 model.gguf &&
    "$top_builddir/tests/make_adapter" model.gguf a.gguf 1 || exit 99
sum() { # OPTION...
    gg-inspect --memory --json -c 512 "$@" model.gguf | grep -o '"weights": [0-9]*' |
        awk '{ n += $2 } END { print n }'
}
adapter=$(gg-inspect --memory --json --lora a.gguf model.gguf |
    sed -n 's/.*"adapters": \([0-9]*\).*/\1/p')
echo $(($(sum --parts 4 --lora a.gguf) - $(sum --parts 4) - adapter))
