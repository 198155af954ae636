# Texts with a form may begin with the mark U+FEFF of some editors, and their
# lines may end by CR LF. What is only a text keeps each of its bytes.
make_model llama-q4_0 model.gguf && make_folder llama-f16 other.gguf folder ||
    exit 99
echo '{' | gg-logits 2>&1 | grep 'without Jansson' >&2 && exit 77
demo=$GG_MODEL
GG_MODEL=model.gguf
export GG_MODEL
# The command writes the same where `input` is the file, where it has a mark in
# front, and where its lines end by CR LF as well.
same() {
    file=$1
    shift
    { printf '\357\273\277' && cat "$file"; } >marked
    awk '{ printf "%s\r\n", $0 }' marked >crlf
    for with in plain marked crlf; do
        case $with in plain) cp "$file" input ;; *) cp $with input ;; esac
        "$@" <input >out.$with 2>&1
        echo $? >status.$with
    done
    for with in marked crlf; do
        cmp out.plain out.$with && cmp status.plain status.$with ||
            echo "$with is another: $*"
    done
    echo "$(cat status.plain): $*" | sed "s|$demo|DEMO|"
}
printf 'ab cab bacc\nab\n' >text
gg-tokenize text | tr ' ' '\n' >ids
printf '1\t5 6\n2\t!bad\n1\t7\n1\t\n3\t5\n' >records
for ids in ids records; do
    same $ids gg-eval --top 2 input
    same $ids gg-eval --score input
    same $ids gg-eval --embed mean input
    same $ids gg-eval --perplexity -c 4 input
    same $ids gg-tokenize -d input
    same $ids gg-loop 'gg-eval | gg-sample -s 1 -n 2'
done
printf '!broken\n' >failed
same failed gg-tokenize -d input
gg-eval ids >logits
same ids gg-logits --mask input --to text logits
gg-eval --top 3 ids >top
same top gg-sample -s 1 -n 2 input
for form in text jsonl; do
    gg-logits --to $form logits >logits.$form
    same logits.$form gg-logits --to text input
done
gg-inspect --hash model.gguf >hashes
same hashes gg-inspect --hash-check input model.gguf
printf '{"type": "array",\n "maxItems": 2}\n' >schema
same schema gg-generate -m "$demo" -s 1 -n 5 -p a --json-schema input
printf 'root ::= "a" |\n  "b" root # or so\n' >grammar
same grammar gg-generate -m "$demo" -s 1 -n 5 -p a --grammar input
printf '{"role": "user",\n "content": "a"}\n' >chat
same chat gg-generate -m "$demo" -s 1 -n 5 --template alpaca --messages input
same chat gg-tokenize -m "$demo" --chat --template alpaca input
printf '{"prompt":"ab","seed":1}\n{"prompt":"b","seed":1}\n' >jsonl
same jsonl gg-generate --jsonl -n 2 input
for file in config.json tokenizer.json tokenizer_config.json; do
    test -f folder/$file || continue
    cp folder/$file json
    same json sh -c "cat >folder/$file; gg-tokenize -m folder text;
        gg-inspect folder"
    cp json folder/$file
done
# Without CR: it would be a part of the text.
printf '7\tab\n' >numbered
{ printf '\357\273\277' && cat numbered; } >marked
gg-generate --lines --numbered -s 1 -n 2 numbered >want
gg-generate --lines --numbered -s 1 -n 2 marked | cmp - want

printf '\357\273\277ab\r\n' >marked
gg-tokenize marked | gg-tokenize -d | cmp - marked
gg-tokenize --lines marked | gg-tokenize -d --lines | cmp - marked
