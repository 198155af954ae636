# Command lines of llama.cpp, ollama and llm are written as ours, and never run:
# a line of the table for each kind of row.
try() {
    "$@" </dev/null 2>&1
    echo "= $?"
}
echo == llama.cpp: the model
try gg-generate -hf me/small-GGUF -p hi
try gg-generate -hf me/small-GGUF:Q8_0 -hff small-f16.gguf -hft secret
try gg-generate -m a.gguf -mu https://example.org/a.gguf -hfd me/tiny -md d -m d
try gg-generate -m a -a name --offline --override-kv a=int:1 --check-tensors
try gg-generate -m a --lora-scaled x:0.5,y:2 --control-vector-scaled c:0.1
try gg-generate -m a --lora x,y --control-vector-layer-range 3 9
try gg-generate -m a -mm proj.gguf --image cat.png --no-mmproj
echo == memory and devices
try gg-generate -m a -ngl 99 -fa on -ngl all --n-gpu-layers -1
try gg-generate -m a -fa -c 0 -b 64 --flash-attn
try gg-generate -m a -c 4096 -b 2048 -ub 256 -t -1 -tb 4
try gg-generate -m a -t 2 -tb 4 -np 2 --lines
try gg-generate -m a -dev CUDA1 -ot '.ffn_.*_exps.=CPU' -ncmoe 3
try gg-generate -m a -dev none -cmoe -ts 1,1 -sm row -mg 0 -fit off
try gg-generate -m a -ctk q8_0 -ctv q8_0 -nkvo -dt 0.1 --swa-full
try gg-generate -m a -lm mlock -C ff --prio 2 --numa numactl --rpc h:1
try gg-generate -m a --no-warmup --perf --mmap --context-shift --keep 5
try gg-generate -m a --rope-scale 4 --rope-freq-base 1e4 --rope-freq-scale 0.25 \
    --yarn-orig-ctx 4096 --yarn-ext-factor 1
echo == sampling
try gg-generate -m a -n -2 -s -1 --top-k -1 --top-nsigma 1.5 --typical 0.9
try gg-generate -m a -n-1 -p x
try gg-generate -m a --samplers 'top_k;temperature' --sampler-seq kt
try gg-generate -m a -l 15+1 --logit-bias 16-2.5 --ignore-eos
try gg-generate -m a --repeat_penalty 1.1 --top_p=0.9
try gg-sample --grammar-file g -jf s -j '{}' -ngl 9
try gg-generate -m a -r User: -bf text -e
echo == conversations
try gg-generate -m a -cnv -sys 'Be kind.' -co on
try gg-generate -m a -st -sysf rules.txt -p "It's" --chat-template chatml --jinja
try gg-generate -m a -st --chat-template-kwargs '{"enable_thinking": false, "n":"x y"}'
try gg-generate -m a -no-cnv --simple-io -mli --reasoning-format none
try gg-generate -m a --chat -rea off --reasoning-budget -1 --reasoning-effort low
try gg-generate -m a --prompt-cache talk --prompt-cache-all --no-display-prompt
try gg-generate -m a -md d --draft 16 --draft-min 2 -ngld 9 --spec-default
try gg-generate -m a --log-disable -lv 3 --log-prefix
try gg-generate -m a --host 0.0.0.0 --port 8080 --metrics -cb
echo == other programs of llama.cpp
try gg-generate ./build/bin/llama-cli -m a -p hi
try gg-generate llama-cli.exe -m a -no-cnv -p hi
try gg-generate llama-server -m a --port 80 -np 4
try gg-generate llama-simple -m a -n 5
try gg-tokenize llama-tokenize -m a -p 'a b' --ids --no-parse-special
try gg-tokenize -m a --show-count --stdin
try gg-eval llama-embedding -m a -p 'a b' --pooling cls --embd-normalize -1
try gg-eval llama-perplexity -m a -f text -c 512 --chunks 4
try gg-eval llama-imatrix -m a -f text -o out.gguf --no-ppl
try gg-eval llama-imatrix -m a -f text
try gg-eval -m a -p x --pooling none
try gg-quantize llama-quantize --imatrix i --output-tensor-type q8_0 \
    --tensor-type ffn_up=q6_k a.gguf b.gguf Q4_K_M 8
try gg-quantize llama-quantize a.gguf Q4_K_M
try gg-convert convert_hf_to_gguf.py dir --outfile o.gguf --outtype bf16
try gg-convert llama-gguf-split --split --split-max-size 2G a.gguf b
try gg-bench llama-bench -m a.gguf,b.gguf -p 512,1024 -n 64 -d 0,4096 -pg 512,128 \
    -r 3 -b 2048 -ub 512 -ngl 0,99 -fa 0,1 -mmp 0 -ctk q8_0,f16 -ctv f16 -t 4,8 \
    -nkvo 0 --delay 1 --no-warmup --progress -oe md -o csv
try gg-bench llama-bench --n-prompt 8 --n-gen 4 --n-depth 2 --repetitions 2 \
    -b 2048 -o jsonl
try gg-bench llama-bench -m a -o md -embd 0
try gg-bench -m a -o sql
try gg-bench -m a -pg 4,2 -oe csv
try gg-bench llama-batched-bench -m a -npp 128 -ntg 16 -npl 1,8 -pps
echo == ollama
try gg-generate run llama3.2:1b 'why so' --verbose --keepalive 5m
try gg-generate ollama run hf.co/me/small --format json --think false
try gg-generate ollama run small --hidethinking a 'b c'
try gg-fetch pull small:1b
try gg-fetch ollama list
try gg-fetch ollama rm small
try gg-inspect ollama show small --license
try gg-generate ollama serve
echo == llm
try gg-generate llm -m a 'Ten names' -s 'Be brief.' -o temperature 0.5 -o top_p 0.9
try gg-generate llm chat -m a
try gg-generate llm 'A dog' --schema s.json -x -u -a p.png -c --no-stream
try gg-generate llm -f notes.txt 'Sum up' -t pirate --save x -o nonsense 1
try gg-generate llm logs
echo == quoting
try gg-generate -m 'a b' -fa on -p "$(printf 'tab\there \033[31m')" --stop '$x' -- '-x'
try gg-generate -m a -fa on -p 'naïve'
echo == a server
try gg-serve -m a --port 8090 --host 0.0.0.0,::1 --api-key k --temp 0.5 \
    --cache-ram 2048 --cors-origins http://a,http://b --timeout 9 --no-mmap \
    --jinja -c 0 --keep 5
try gg-serve llama-server -m a --host x.sock --keep 5 -b 64 -ub 32 -lv 3
try gg-serve llama serve -hf me/it --port=9 --sleep-idle-seconds -1
echo == nearest
try gg-generate --temprature 1
try gg-generate --zzzzzzzz 1
try gg-generate -fa on --tmp 1 --qqqqqqqqq
echo == what is ours
try gg-tokenize -dt 0
try gg-generate -m nonesuch -qv
echo == words that are not in the tables, and their values
try gg-generate llama-server -m a --new-flag --new-value 4 --new_name x -c 8
try gg-generate -fa on --new-value 4 -m a
try gg-generate llama-cli a.gguf -p hi --ctx_size=9
try gg-generate -m a -p x --special --no-warmup
try gg-tokenize -m a --special
try gg-generate -m a --chat-template vicuna-orca -st --device HTP0
try gg-generate llama-server -m a -ctk q6_0 --cache-type-v q6_0
try gg-generate 'C:\llama\llama-simple.exe' -m a 'a text'
try gg-generate llama-run small.gguf 'why so'
