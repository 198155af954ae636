# Adapters: the merged model's answers, in a pipe, in a process, among records.
make="$top_builddir/tests/make_adapter"
"$top_builddir/tests/make_model" llama-f32 model.gguf || exit 99
"$make" model.gguf a.gguf 1 && "$make" model.gguf b.gguf 2 || exit 99
mkdir folder && cp b.gguf folder/b.gguf
"$make" --control model.gguf 1 v.gguf || exit 99
"$make" --merge model.gguf a.gguf 0.5 merged.gguf || exit 99
GG_MODEL=model.gguf
export GG_MODEL
pipe() { gg-tokenize p | gg-loop "gg-eval $* | gg-sample -n 20 -s 5" | gg-tokenize -d; }
printf 'a b c' >p

echo '-- a pipe and a process, any number of threads'
for o in '--lora a.gguf=0.5' '--lora a.gguf --lora folder/b.gguf=-1.5e-1' \
    '--control-vector v.gguf=0.25' '--lora a.gguf=0'; do
    pipe "-t 1 $o" >out
    gg-generate -n 20 -s 5 -t 3 $o p | cmp - out
done
gg-generate -n 20 -s 5 p | cmp - out && echo 'a scale of 0 is none'

mkdir ../elsewhere && cp a.gguf ../elsewhere
gg-generate -n 20 -s 5 --lora a.gguf=0.5 p >out
gg-generate -n 20 -s 5 --lora ../elsewhere/a.gguf=0.5 p | cmp - out

echo '-- the merged model'
seq 0 7 299 >ids
gg-eval --lora a.gguf=0.5 ids >with
gg-eval -m merged.gguf ids >merged
gg-logits --diff with merged >/dev/null || echo "not comparable"
gg-eval --top 1 --lora a.gguf=0.5 ids | cut -f 4 >with
gg-eval --top 1 -m merged.gguf ids | cut -f 4 | cmp - with

echo '-- records choose'
cat >in <<'END'
{"prompt":"a b c","n":9,"seed":1}
{"prompt":"a b c","n":9,"seed":1,"lora":[{"id":0,"scale":0.5}]}
{"prompt":"a b c","n":9,"seed":1,"lora":[]}
{"prompt":"a b c","n":9,"seed":1,"lora":["b"]}
{"prompt":"a b c","n":9,"seed":1,"lora":[{"name":"folder/b.gguf"},{"id":0,"scale":0.5}]}
{"prompt":"a b c","n":9,"seed":1,"lora":0,"control_vector":[{"id":0,"scale":2}]}
{"prompt":"a b c","choice":["d","e"],"lora":"a.gguf"}
END
all='--lora a.gguf --lora folder/b.gguf=0.5 --control-vector v.gguf=0'
gg-generate --jsonl $all --batch 3 in >out
for i in 1 2 3 4 5 6 7; do
    sed -n ${i}p in | gg-generate --jsonl $all -t 1
done | cmp - out
text() { sed -n ${1}p out | jq -c .ids; }
alone() {
    echo '{"prompt":"a b c","n":9,"seed":1}' | gg-generate --jsonl "$@" |
        jq -c .ids
}
text 1 >got && alone --lora a.gguf --lora folder/b.gguf=0.5 | cmp - got
text 2 >got && alone --lora a.gguf=0.5 | cmp - got
text 3 >got && alone | cmp - got
text 4 >got && alone --lora folder/b.gguf | cmp - got
text 5 >got && alone --lora a.gguf=0.5 --lora folder/b.gguf | cmp - got
text 6 >got && alone --lora a.gguf --control-vector v.gguf=2 | cmp - got
sort -u out | wc -l
cat >in <<'END'
{"prompt":"a","lora":["c"]}
{"prompt":"a","lora":[{"id":2}]}
{"prompt":"a","lora":[{"scale":1}]}
{"prompt":"a","lora":[{"id":0,"scale":"x"}]}
END
gg-generate --jsonl $all in | jq -r .error
echo "status $?"

echo '-- a state names them'
head -n 9 ids | gg-eval --lora a.gguf --save s -o x
tail -n +10 ids | gg-eval --lora a.gguf --load s --top 1 | cut -f 4 >got
gg-eval --lora a.gguf --top 1 ids | cut -f 4 | tail -n +19 | cmp - got
for o in '' '--lora a.gguf=0.5' '--lora folder/b.gguf' '--lora a.gguf --lora folder/b.gguf'; do
    echo 1 | gg-eval $o --load s --top 1
done
echo 1 2 | gg-eval --save s -o x
echo 1 | gg-eval --lora a.gguf --load s --top 1
echo '{"prompt":"a","n":5,"seed":1}' |
    gg-generate --jsonl --load s | jq -c .ids >one
echo '{"prompt":"a","n":5,"seed":1,"lora":[]}' |
    gg-generate --jsonl --lora a.gguf=0 --load s | jq -c .ids | cmp - one
echo '{"prompt":"a","n":5,"seed":1,"lora":["a"]}' |
    gg-generate --jsonl --lora a.gguf=0 --load s --no-bos | jq -c .ids >one
echo 1 2 | gg-eval --lora a.gguf --save t -o x
echo '{"prompt":"a","n":5,"seed":1}' |
    gg-generate --jsonl --lora a.gguf --load t --no-bos | jq -c .ids | cmp - one

echo '-- layers of control vectors'
gg-generate -n 9 -s 5 --control-vector v.gguf --control-vector-layer-range 5-7 p >got
gg-generate -n 9 -s 5 p | cmp - got
gg-generate --control-vector v.gguf --control-vector-layer-range 2-1 p
gg-generate --control-vector-layer-range 1-2 p

echo '-- what is no adapter'
gg-eval --lora model.gguf ids
gg-eval --lora missing.gguf ids
gg-eval --lora =2 ids
gg-eval --lora v.gguf ids | gg-logits --to jsonl | wc -l
gg-eval -m a.gguf ids
gg-eval -v --lora a.gguf --lora folder/b.gguf -o x ids 2>&1 | grep adapters
gg-inspect a.gguf | head -n 3

echo '-- an importance matrix is of the model with its adapter'
gg-eval -q --lora a.gguf=0.5 --imatrix with.gguf -c 16 ids >/dev/null
gg-eval -q -m merged.gguf --imatrix merged-i.gguf -c 16 ids >/dev/null
gg-inspect --tensors with.gguf | cut -d ' ' -f 1 >got
gg-inspect --tensors merged-i.gguf | cut -d ' ' -f 1 | cmp - got
gg-inspect --diff with.gguf merged-i.gguf | awk -F '\t' '
    $1 == "all" { print ($8 < 1e-9 ? "near" : $8) }'
