# CLIP: its tokenizer, and a search of pictures by words.
make=$top_builddir/tests
cases=$top_srcdir/tests/fixtures/projector_cases
gg-tokenize -m "$GG_MODEL" --help >/dev/null || exit 99
"$make/make_case" "$cases/clip-gelu.case" scratch.gguf clip || exit 99

echo "-- ids"
rm -f clip/tokenizer*
awk 'BEGIN {
    n = split("a b c d e f g h i j k l m n o p q r s t u v w x y z 0 1 2 ! \47 ? \303\203 \302\251", c, " ")
    split("a t</w>|c at</w>|d o|do g</w>|h e</w>|t he</w>|! !</w>|1 2</w>|\303\203 \302\251</w>", m, "|")
    printf("{\"version\":\"1.0\",\"added_tokens\":[")
    for (i = 0; i < 2; i++)
        printf("%s{\"id\":%d,\"content\":\"<|%softext|>\",\"special\":true,\"lstrip\":false,\"rstrip\":false,\"single_word\":false,\"normalized\":false}", i ? "," : "", 290 + i, i ? "end" : "start")
    printf("],\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"NFC\"},{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"\\\\s+\"},\"content\":\" \"},{\"type\":\"Lowercase\"}]},")
    printf("\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Split\",\"pattern\":{\"Regex\":\"\47s|\47t|\47re|\47ve|\47m|\47ll|\47d|[\\\\p{L}]+|[\\\\p{N}]|[^\\\\s\\\\p{L}\\\\p{N}]+\"},\"behavior\":\"Removed\",\"invert\":true},{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"trim_offsets\":true,\"use_regex\":true}]},")
    printf("\"post_processor\":{\"type\":\"RobertaProcessing\",\"sep\":[\"<|endoftext|>\",291],\"cls\":[\"<|startoftext|>\",290],\"trim_offsets\":false,\"add_prefix_space\":false},")
    printf("\"model\":{\"type\":\"BPE\",\"unk_token\":\"<|endoftext|>\",\"continuing_subword_prefix\":\"\",\"end_of_word_suffix\":\"</w>\",\"vocab\":{")
    for (i = 1; i <= n; i++)
        printf("%s\"%s\":%d,\"%s</w>\":%d", i > 1 ? "," : "", c[i], id++, c[i], id++)
    for (i = 1; i in m; i++) {
        t = m[i]; sub(" ", "", t)
        printf(",\"%s\":%d", t, id++)
    }
    printf("},\"merges\":[")
    for (i = 1; i in m; i++)
        printf("%s\"%s\"", i > 1 ? "," : "", m[i])
    print "]}}"
}' >clip/tokenizer.json
gg-convert clip clip.gguf >/dev/null && gg-inspect -k tokenizer.ggml.pre clip.gguf
ids() { printf %s "$1" | gg-tokenize -m clip.gguf; }
ids "A Cat's  DOG"
ids 'the dog!! 12 cat?!!'
ids "$(printf 'don\047t\n\tcat \303\251 \303\211')"
ids ''
ids 'xyzzy a'
printf "The cat's dog!!" | gg-tokenize -m clip.gguf --offsets

echo "-- SigLIP's ids"
"$make/make_case" "$top_srcdir/tests/fixtures/families/siglip-text.case" scratch.gguf \
    siglip || exit 99
rm -f siglip/tokenizer*
echo '{"pad_token":"</s>","eos_token":"</s>","unk_token":"<unk>"}' >siglip/tokenizer_config.json
printf '{"added_tokens":[],"normalizer":{"type":"Sequence","normalizers":[
    {"type":"Lowercase"},{"type":"Replace","pattern":{"Regex":
    "[!\\"\\\\#\\\\$%%\\\\&\47\\\\(\\\\)\\\\*\\\\+,\\\\-\\\\./:;<=>\\\\?@\\\\[\\\\\\\\\\\\]\\\\^_`\\\\{\\\\|\\\\}\\\\~]"},"content":""},
    {"type":"Replace","pattern":{"Regex":"\\\\s+"},"content":" "},{"type":"Strip","strip_left":true,"strip_right":true}]},
    "pre_tokenizer":{"type":"Metaspace","replacement":"\342\226\201","prepend_scheme":"always"},
    "model":{"type":"Unigram","unk_id":2,"vocab":[["<pad>",0],["</s>",0],["<unk>",0],
    ["\342\226\201a",-1],["\342\226\201cat",-2],["s",-3],["\342\226\201dog",-2.5],
    ["\342\226\201",-4],["d",-5],["o",-5],["g",-5],["!",-1],["C",-1],["\303\251",-4]]}}
' >siglip/tokenizer.json
gg-convert siglip siglip.gguf >/dev/null || echo "status $?"
padded() { printf %s "$1" | gg-tokenize -m siglip.gguf | tr ' ' '\n' | uniq -c | awk '{ print $2, $1 }' | tr '\n' ','; echo; }
padded 'A cat'
padded "  A \"Cat's\" -- do-g!! $(printf '\303\211')"
padded ''
printf "A Cat's dog!" | gg-tokenize -m siglip.gguf --offsets | head -n 5

echo "-- a search"
gg-convert --mmproj clip mmproj-clip.gguf >/dev/null || echo "status $?"
for i in 1 2 3; do
    { printf 'P6\n40 %d\n255\n' $((30 + i)) &&
        tail -c ${i}0000 "$GG_MODEL" | head -c $((120 * (30 + i))); } >$i.ppm
done
encode() { gg-encode --mmproj mmproj-clip.gguf "$@" || echo "status $?"; }
encode 1.ppm 2.ppm 3.ppm >all.emb
echo 'a cat' | gg-tokenize -m clip | gg-eval -m clip --embed model >words.emb
gg-logits --near all.emb words.emb | awk '{ print NF }'
encode 2.ppm | gg-logits --near all.emb --top 1 | cut -f 2-
encode --jsonl 2.ppm | sed 's/"hash":"[0-9a-f]*"/"hash"/; s/"vector":\[.*\]/"vector"/'
encode --jsonl 2.ppm | sed 's/.*"vector":\[//; s/].*//' | tr , '\n' |
    awk '{ sum += $1 ^ 2 } END { printf "%d values, length %.5f\n", NR, sqrt(sum) }'
encode --list 2.ppm
encode --npy v.npy 1.ppm 3.ppm && wc -c <v.npy
gg-convert --unset clip.projector_type mmproj-clip.gguf old.gguf >/dev/null
gg-inspect old.gguf | head -n 1
encode 2.ppm >2.emb
gg-encode --mmproj old.gguf 2.ppm | cmp - 2.emb
gg-encode --mmproj mmproj-clip.gguf 1.ppm none.ppm >bad.emb || echo "status $?"
gg-logits --near words.emb bad.emb | awk '{ print NF }'
gg-generate -m "$GG_MODEL" --mmproj mmproj-clip.gguf --image 1.ppm -p a -n 1
echo 'a cat' | gg-tokenize -m clip | gg-eval -m clip --top 1
true
