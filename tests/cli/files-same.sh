# An output is never an input: each option that reads a file with each that
# writes one, in the first pair by three names of it; what may be both, is.
mkdir in && cd in || exit 99
make_model llama-q4_0 model.gguf && make_model llama-f32 plain.gguf &&
    make_old llama2c-0 plain.gguf old.bin || exit 99
export GG_MODEL="$PWD/model.gguf"
cp model.gguf draft.gguf
printf 'a b\n' >text
printf '1 2 3\n' >ids
awk 'BEGIN { for (i = 0; i < 70; i++) print (i * 37) % 256 }' >long
gg-eval -o stream ids && gg-logits --to npy -o array.npy stream
gg-eval --embed mean -o vectors ids && echo 1 >list
echo '{"prompt":"a"}' >records
echo 'root ::= "a"' >grammar
echo '{"type":"boolean"}' >schema
gg-eval -q --imatrix importance -c 16 -m plain.gguf long 2>/dev/null
gg-eval --save state -o - ids >/dev/null
gg-generate -p a -n 1 --save said >/dev/null
gg-inspect --hash -o hashes model.gguf
gg-convert --split 20000 model.gguf part
make_folder mixtral-f16 plain.gguf folder 3
cd .. && (find in -type f | sort | xargs cksum) >want

n=0
# Lines "FILE|COMMAND", with % for what the command writes: it is FILE.
refused() {
    while IFS='|' read -r file command; do
        rm -f link hard && ln -s "in/$file" link && ln "in/$file" hard
        names="link hard in/$file"
        test $n = 0 || names=in/$file
        for name in $names; do
            n=$((n + 1))
            echo a | (eval "$(echo "$command" | sed "s|%|$name|g")") \
                >/dev/null 2>err
            status=$?
            test $status = 2 && grep -q ': is .*read, and so ' err &&
                test "$(grep -vc '^Try' err)" = 1 ||
                echo "$command ($name): status $status: $(cat err)"
        done
        (find in -type f | sort | xargs cksum) | cmp want - ||
            { echo "changed by $command"; exit 1; }
    done
}
# Lines "FILE|READING" with each way of writing in "WRITING WRITING ...".
each() { # TOOL WRITING...
    tool=$1
    shift
    while IFS='|' read -r file reading; do
        for writing; do
            echo "$file|$tool $reading $writing"
        done
    done >lines
    n=0
    refused <lines
    echo "$tool: $n"
}

each gg-generate '-o %' '--save %' <<'END'
model.gguf|-p a -m in/model.gguf
part-00001-of-00006.gguf|-p a -m in/part-00001-of-00006.gguf
part-00003-of-00006.gguf|-p a -m in/part-00001-of-00006.gguf
folder/config.json|-p a -m in/folder
text|-f in/text
text|in/text
text|<in/text
draft.gguf|-p a --draft in/draft.gguf
grammar|-p a --grammar in/grammar
schema|-p a --json-schema in/schema
END
each gg-generate '--lines -o %' '--lines --resume %' <<'END'
model.gguf|-m in/model.gguf
text|in/text
text|<in/text
grammar|--grammar in/grammar
schema|--json-schema in/schema
END
each gg-generate '-o %' <<'END'
said|-p a --load in/said
said|-p a --load in/said --save new
text|--choice a,b in/text
text|--messages --template alpaca in/text
records|--jsonl in/records
text|-0 in/text
END
each gg-eval '-o %' '--save %' '--top 1 -o %' <<'END'
model.gguf|-m in/model.gguf
part-00002-of-00006.gguf|-m in/part-00001-of-00006.gguf
ids|in/ids
ids|-f in/ids
ids|<in/ids
END
each gg-eval '--imatrix %' '--graph %' '--embed mean -o %' '--score -o %' \
    '--perplexity -o %' "--watch '*' -o %" <<'END'
model.gguf|-m in/model.gguf
ids|in/ids
END
each gg-eval '-o %' <<'END'
state|--load in/state in/ids
END
each gg-inspect '-o %' '--json -o %' '--stats -o %' '--check -o %' \
    '--memory -o %' '--histogram -o %' '--hash -o %' '-k general.name -o %' \
    '--tensor output.weight -o %' '--tensor output.weight --npy %' \
    '--tensor output.weight --png %' '--metadata -o %' <<'END'
model.gguf|in/model.gguf
model.gguf|-m in/model.gguf
part-00001-of-00006.gguf|in/part-00001-of-00006.gguf
END
each gg-inspect '--stats -o %' '--check -o %' '--tensor output.weight --npy %' <<'END'
part-00003-of-00006.gguf|in/part-00001-of-00006.gguf
folder/config.json|in/folder
model.gguf|- <in/model.gguf
END
each gg-inspect '-o %' <<'END'
draft.gguf|--diff in/model.gguf in/draft.gguf
hashes|--hash-check in/hashes in/model.gguf
state|in/state
END
each gg-tokenize '-o %' '-d -o %' '--lines -o %' '--chat --template alpaca -o %' <<'END'
model.gguf|-m in/model.gguf in/text
text|in/text
text|-f in/text
text|<in/text
folder/tokenizer.json|-m in/folder in/text
END
each gg-sample '-o %' <<'END'
stream|in/stream
stream|-f in/stream
stream|<in/stream
grammar|--grammar in/grammar in/stream
schema|--json-schema in/schema in/stream
model.gguf|-m in/model.gguf --grammar in/grammar in/stream
END
each gg-logits '-o %' '--to text -o %' '--to npz -o %' <<'END'
stream|in/stream
stream|-f in/stream
stream|<in/stream
list|--mask in/list in/stream
list|--forbid in/list in/stream
array.npy|in/array.npy
stream|--like in/stream in/array.npy
array.npy|--like in/stream in/array.npy
stream|--mix in/stream=1
END
each gg-logits '-o %' <<'END'
stream|--diff in/array.npy in/stream
vectors|--near in/vectors in/vectors
END
each gg-quantize '% Q4_0' <<'END'
part-00001-of-00006.gguf|-q in/part-00001-of-00006.gguf
part-00002-of-00006.gguf|-q in/part-00001-of-00006.gguf
folder/model-00002-of-00003.safetensors|-q in/folder
folder/tokenizer.json|-q in/folder
importance|-q --imatrix in/importance in/plain.gguf
END
each gg-convert '%' '--to safetensors %' '--type Q8_0 %' <<'END'
part-00001-of-00006.gguf|-q in/part-00001-of-00006.gguf
part-00002-of-00006.gguf|-q in/part-00001-of-00006.gguf
folder/model-00002-of-00003.safetensors|-q in/folder
folder/config.json|-q in/folder
tokenizer.bin|-q in/old.bin
END
refused <<'END'
part-00003-of-00006.gguf|gg-convert -q --split 20000 in/part-00001-of-00006.gguf in/part
END
mkdir dir && ln in/ids dir/1-token_embd.npy
printf '1 2 3\n' >in/ids && mv in/ids dir/1-embd.npy
gg-eval --watch '*' --watch-dir dir dir/1-embd.npy >/dev/null
echo "status $?: $(cat dir/1-embd.npy)"

echo 'two outputs:'
gg-generate -p a -n 1 -o one --save one; echo "status $?"
ln -s . here
gg-generate -p a -n 1 -o here/one --save one; echo "status $?"
gg-generate -p a -n 1 -o in/said --state in/said; echo "status $?"
ls

echo 'one file, replaced:'
cp in/model.gguf same.gguf && ln -s same.gguf link.gguf
gg-convert -q --type F16 in/model.gguf want.gguf
gg-convert -q --in-place --type F16 link.gguf same.gguf && cmp same.gguf want.gguf
test -L link.gguf && gg-convert same.gguf ./same.gguf && cmp same.gguf want.gguf
cp in/old.bin in/tokenizer.bin . && gg-convert old.bin old.bin; echo "status $?"
gg-quantize -q want.gguf want8.gguf Q8_0
gg-quantize -q --in-place same.gguf link.gguf Q8_0 && cmp same.gguf want8.gguf
gg-generate -p a -n 2 -s 1 --save s >/dev/null && cp s t
gg-generate -p b -n 2 -s 1 --state s >/dev/null
ln -s t u && gg-generate -p b -n 2 -s 1 --load u --save t >/dev/null && cmp s t
echo 1 2 3 | gg-eval --save s >/dev/null && cp s t
echo 4 | gg-eval --state s >/dev/null
echo 4 | gg-eval --load t --save u >/dev/null && cmp s t && test -L u && echo done
gg-logits -o /dev/null in/stream && gg-sample -o /dev/null in/stream
