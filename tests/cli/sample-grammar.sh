# Grammars: what is drawn is JSON, whatever the model says; the pipe's bytes are
# gg-generate's; what is wrong is said.
command -v jq >/dev/null || { echo 'jq is not installed' >&2; exit 77; }
"$top_builddir/tests/make_model" llama-q4_0 random.gguf || exit 99
ln -s "$GG_MODEL" demo.gguf
cat >json.gbnf <<'END'
# JSON, in one line
root   ::= object
value  ::= object | array | string | number | "true" | "false" | "null"
object ::= "{" (string ":" value ("," string ":" value){0,2})? "}"
array  ::= "[" (value ("," value){0,2})? "]"
string ::= "\"" ([^"\\\x7F\x00-\x1F] | "\\" (["\\bfnrt] | "u" [0-9a-d] [0-7]
    [0-9a-f]{2})){0,9} "\""
number ::= "-"? ("0" | [1-9] [0-9]{0,8}) ("." [0-9]{1,3})?
END
for s in 1 2 3 4 5 6; do
    gg-generate -p 'a tale' -s $s --temp 2 --top-k 0 --top-p 1 -c 1000 \
        --grammar json.gbnf
    echo
done >out
jq -c type <out
printf 'a tale' >prompt
# The same bytes, the same status: 3 and a message for what is cut.
cut='cut by -n 30 before its grammar or schema is satisfied'
alike() { # GRAMMAR OPTION...
    grammar=$1
    shift
    gg-generate -f prompt -n 30 -s 5 "$@" --grammar $grammar >want 2>words
    status=$?
    gg-tokenize prompt | gg-loop "gg-eval | gg-sample -n 30 -s 5 $* \
        --grammar $grammar" 2>>words >ids
    echo $? $status >ends
    gg-tokenize -d ids | cmp - want
    case $status in
    0) expect='' ;;
    *) expect=$(printf 'gg-%s: '"$cut"'\n' generate sample) ;;
    esac
    test "$(cat words)" = "$expect" || cat words
    grep -vx '0 0\|3 3' ends
}
for o in '--temp 2' '--top-k 0 --top-p 1 --temp 3' '--mirostat 2' --greedy; do
    alike json.gbnf $o
    head -c 1 want
done
echo
echo 'root ::= [a-z ]{9999}' >long
echo 'root ::= "yes" | "no"' >short
for g in long short; do
    alike $g --temp 2
    cat ends words
done
echo 'root ::= "yes" | "no"' >word
gg-generate -p a -s 1 --grammar word | grep -cx 'yes\|no'

run() {
    "$@"
    echo "status $?"
}
gg-tokenize prompt | gg-eval >logits
gg-tokenize -m random.gguf prompt | gg-eval -m random.gguf >other
echo 'root ::= root "a" | "b"' >left
run gg-sample --grammar left logits
run gg-sample --grammar none logits
run gg-sample -m demo.gguf --grammar word other
run gg-generate -p a --grammar word --ignore-eog -n 9 -s 1

# Tokens by id and by text; control tokens come only where they are named.
echo 'root ::= <|control|> (!<|control|>){2} <[97]> (<|control|> | "b")*' >terms
gg-tokenize -m random.gguf prompt >ids
for s in 1 2 3 4; do
    gg-loop "gg-eval -m random.gguf |
        gg-sample -m random.gguf -s $s --temp 2 --grammar terms -n 8" <ids >got
    awk '{ id[NR] = $1 } END { c = id[1]; print c, id[2] != c, id[3] != c, id[4]
        for (i = 5; i <= NR; i++) print i, id[i] == c || id[i] == 98 }' got |
        sort -u | tr '\n' ' '
    gg-generate -m random.gguf -f prompt -s $s --temp 2 --grammar terms -n 8 >want
    gg-tokenize -m random.gguf -d got | cmp - want
done
echo
for term in '<|contrl|>' '!<|control' '<[99999]>' '<[x]>' '! <[1]>'; do
    printf 'root ::= "a" |\n%s\n' "$term" >bad
    run gg-generate -m random.gguf -p a --grammar bad
    gg-eval -m random.gguf ids | run gg-sample -m random.gguf --grammar bad
done
echo '{"prompt":"a","grammar":"root ::= <x>"}' | run gg-generate --jsonl
