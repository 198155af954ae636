# Each tool does with a stack of 128 KiB, which its threads have, too, unless
# they ask for more.
make_model llama-q4_0 model.gguf && make_model bert-f16 encoder.gguf || exit 99
make_folder llama-f16 folder.gguf folder || exit 99
(ulimit -s 128) 2>/dev/null || exit 77
case $CFLAGS in *-fsanitize*) # puts room around each variable
    echo 'sanitizers need a larger stack' >&2
    exit 77 ;;
esac
echo '{' | gg-logits 2>&1 | grep 'without Jansson' >&2 && exit 77
printf 'ab cab bacc\nab\n' >text
printf '{"prompt":"ab"}\n' >jsonl
printf '{"role":"user","content":"ab"}\n' >chat
echo '{"type":"object","properties":{"a":{"pattern":"^a+$"}}}' >schema
echo 'root ::= "a" | "b" root' >grammar
gg-tokenize -m model.gguf text >ids
demo=$GG_MODEL
# What fails otherwise than with `want`.
want=0
small() {
    (ulimit -s 128 && exec "$@") >out 2>err
    status=$?
    test $status = $want || { echo "status $status: $*" && cat err; }
}
GG_MODEL=model.gguf
export GG_MODEL
for file in model.gguf encoder.gguf folder folder.gguf; do
    small gg-tokenize -m $file -t 2 text
    small gg-tokenize -m $file --offsets text
    for option in --stats --hash --check --memory --json; do
        small gg-inspect $option $file
    done
done
small gg-tokenize --binary u32 text && mv out binary
small gg-tokenize -d --binary u32 binary
small gg-tokenize --budget 3 text
small gg-tokenize -d ids
small gg-tokenize -m "$demo" --chat --template alpaca chat
small gg-eval -t 2 -o logits ids
for option in '--top 3' --score '--perplexity -c 4' '--embed mean' \
    '--cache-type f32' '--save state' '--load state' '--batch 2'; do
    small gg-eval $option -o more ids
done
small gg-eval -m encoder.gguf --embed mean ids
small gg-sample logits
small gg-sample --grammar grammar logits
small gg-loop 'gg-eval | gg-sample -n 2' <ids
for form in text jsonl npy npz; do
    small gg-logits --to $form -o logits.$form logits
    test $form = npz || small gg-logits logits.$form
done
small gg-logits --diff logits logits
small gg-logits --mix logits=1 logits=1
for option in -t2 --greedy '--draft prompt' '--choice a,b' \
    '--save state' '--load state' '--mirostat 2' --profile; do
    small gg-generate $option -p 'ab ab' -n 3
done
echo '{"type":"boolean"}' >bool
small gg-generate -m "$demo" --json-schema bool -p ab
small gg-generate -m "$demo" --grammar grammar -p ab -n 3
small gg-generate --lines -n 2 text
small gg-generate --jsonl -n 2 jsonl
small gg-generate -m "$demo" --messages --template alpaca -n 2 chat
small gg-generate --lines -n 2 --resume answers text
small gg-generate --lines -n 2 --resume answers text
small gg-convert -q model.gguf converted.gguf
small gg-convert -q folder converted.gguf
small gg-convert -q --split 100000 model.gguf split
small gg-convert -q --to safetensors model.gguf model.safetensors
small gg-convert -q --set a.b=1 converted.gguf
gg-tokenize -m "$demo" text >ids
small gg-eval -m "$demo" -c 4 --imatrix imatrix ids
for type in Q4_0 Q8_0 Q4_K Q6_K IQ4_XS IQ3_XXS IQ2_XXS IQ1_S TQ1_0 MXFP4; do
    small gg-quantize -q --imatrix imatrix "$demo" quantised.gguf $type
    small gg-generate -m quantised.gguf -p 'ab ab ab ab ab' -n 2
done

# What is nested deep is refused before anything recurses.
nest() {
    awk -v n="$1" -v left="$2" -v middle="$3" -v right="$4" 'BEGIN {
        for (i = 0; i < n; i++) printf "%s", left
        printf "%s", middle
        for (i = 0; i < n; i++) printf "%s", right
        print "" }'
}
want=1
deep() {
    small "$@"
    cat err
}
for n in 1000 100000; do
    nest $n '[' '' ']' >deep
    nest $n '{"items":' true '}' >schema
    { printf 'root ::= '; nest $n '(' '"a"' ')'; } >grammar
    printf '{"type":"string","pattern":"^%s$"}\n' "$(nest $n '(' a ')')" >pattern
    printf '{"vocab_size":%s}\n' "$(cat deep)" >folder/config.json
    deep gg-generate --messages --template zephyr deep
    deep gg-generate --jsonl deep
    deep gg-tokenize --chat --template zephyr deep
    deep gg-generate --json-schema deep -p a -n 1
    deep gg-generate --json-schema schema -p a -n 1
    deep gg-generate --json-schema pattern -p a -n 1
    deep gg-generate --grammar grammar -p a -n 1
    deep gg-logits deep
    deep gg-inspect folder
done
