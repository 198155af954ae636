# Command lines of public reports, and what each is answered with. What is said
# is then run, without a model, and a server without a folder for its socket: no
# tool may complain of an option.
mkdir bin
echo 'echo none.gguf' >bin/gg-fetch
chmod +x bin/gg-fetch
: >"S:\q.jinja" # a template that one of them names
tool_of() {
    case $(basename "$1" .exe) in
        *quantize) echo gg-quantize ;;
        *perplexity | *imatrix | *embedding) echo gg-eval ;;
        convert*) echo gg-convert ;;
        llama-bench) echo gg-bench ;;
        *) echo gg-generate ;;
    esac
}
report() {
    echo "== $1"
    shift
    "$(tool_of "$1")" "$@" </dev/null >said 2>&1
    status=$?
    cat said
    test "$status" = 2 || echo "= $status"
    ours=$(grep -E '^(gg-[a-z]+( |$)|printf )' said) || return
    ours=$(echo "$ours" | sed 's|^gg-serve|& -l none/socket|')
    if (PATH=$PWD/bin:$PATH && eval "$ours") </dev/null 2>&1 |
        grep "^Try 'gg-"; then
        echo "= is refused"
    fi
}
# Servers.
report 'a report' llama-server -hf ggml-org/Qwen2.5-Coder-3B-Q8_0-GGUF --port 8012 \
    -ngl 99 -fa -ub 1024 -b 1024 -dt 0.1 --ctx-size 0 --cache-reuse 256
report 'a report' llama-server -hf ggml-org/gpt-oss-20b-GGUF --port 12345 \
    --ctx-size 0 --n-cpu-moe 16 -b 2048 -ub 2048 --numa distribute --parallel 1 \
    --jinja
report 'a report' llama-server -m /models/Llama-3.3-70B-Instruct-Q8_0.gguf \
    --port 8000 -t 8 -ngl 81 -c 15360 --jinja
report meta-models/meta-oss-cookbook#25 llama-server -m ./m.gguf \
    --mmproj ./mmproj.gguf -a muse -ngl 99 -c 131072 -np 1 --host 127.0.0.1 \
    --port 8080 --api-key muse --jinja \
    --chat-template-kwargs '{"reasoning_strength":"high"}'
report meta-models/meta-oss-cookbook#25 llama serve \
    -hf meta-models/Muse-Glimmer-30B-GGUF \
    --chat-template-kwargs '{"reasoning_strength":"high"}' -np 1 -a muse-glimmer
report ggml-org/llama.cpp#11016 ./build/bin/llama-server \
    -hfr bartowski/Qwen2.5-7B-Instruct-GGUF \
    -hff Qwen2.5-7B-Instruct-Q4_K_M.gguf --jinja
report mostlygeek/llama-swap#34 /app/llama-server --host 127.0.0.1 --port 9502 \
    --tensor-split 0,1,1 --prompt 'You are Qwen.' --parallel 2 --flash-attn \
    --cache-type-k q8_0 --cache-type-v q8_0 --model /models/q.gguf \
    --gpu-layers 999 --ctx-size 32768 --model-draft /models/d.gguf \
    --gpu-layers-draft 999 --draft-max 20 --draft-min 4 --draft-p-min 0.7 \
    --device-draft CUDA0 --no-mmap --frequency-penalty 0.1 \
    --presence-penalty 0.2 --top-p 0.9 --temp 0.7 --repeat-penalty 1.1
report ggml-org/llama.cpp#16451 llama-server -m ./models/bge-small-en-v1.5-f16.gguf \
    --host 0.0.0.0 --port 8081 --embedding -t 8 --pooling cls
report ggml-org/llama.cpp#16451 llama-server -m ./models/bge-small-en-v1.5-f16.gguf \
    --host 0.0.0.0 --port 8081 --embedding --embd-bge-small-en-default
report 'a report' llama-server -m b.gguf --port 49386 --parallel 1 --flash-attn on \
    --no-context-shift -c 29696 --alias b -ngl -1 --fit off --metrics \
    --slot-save-path C --threads 2 --jinja --spec-default --chat-template-kwargs \
    '{"enable_thinking": true, "preserve_thinking": false}' --mmproj x \
    --cache-ram 0 --ctx-checkpoints 0 --device Vulkan0
report 'a report' server -m causallm_14b.Q8_0.gguf -c 2048
report 'a report' server -m models/7B/ggml-model.bin --keep -1 --ctx_size 2048
report ggml-org/llama.cpp#14939 ./build/bin/llama-server --model /data/GLM.gguf \
    --alias GLM-4.5-GGUF:q4_k_m --no-webui --numa numactl --threads 32 \
    --ctx-size 131072 --n-gpu-layers 94 -ot 'blk\.(3|4|5)\.ffn_.*=CUDA0' \
    -ot exps=CPU -ub 4096 -b 4096 --seed 3407 --temp 0.6 --top-p 1.0 \
    --log-colors --flash-attn --host 0.0.0.0 --port 11434
report ggml-org/llama.cpp#14894 /llama-server -ngl 99 \
    llama.cpp/ggml-org_Qwen3-1.7B-GGUF_Qwen3-1.7B-Q4_K_M.gguf --jinja
report spiritbuun/buun-llama-cpp#59 /home/s/build/bin/llama-server \
    -m /home/s/Qwopus3.6-27B-v2-Q8_0.gguf -a Qwopus-3.6-27B --host 0.0.0.0 \
    --port 8080 --api-key s -sm tensor -ngl 999 -c 262144 -np 1 --jinja \
    --flash-attn on -b 32768 -ub 2048 -tb 10 -t 4 -ctk turbo4 -ctv turbo4 \
    --webui-mcp-proxy
report ggml-org/llama.cpp#21876 ./build/bin/llama-server \
    --model /var/model/gguf/Qwen3.5-27B-Q4_K_M_unsloth.gguf --host 0.0.0.0 \
    --port 8008 -sm tensor
report ggml-org/llama.cpp#22718 llama-server \
    --model /models/GLM-5.1-GGUF/Q8_0/GLM-5.1-Q8_0-00001-of-00017.gguf \
    --port 8080 --host 0.0.0.0 --ctx-size 4096 -ngl 4 --split-mode tensor
report Anbeeld/beellama.cpp#78 'S:\build\bin\llama-server' --model 'A:\m.gguf' \
    --mmproj 'S:\mmproj.gguf' --image-min-tokens 1024 --ctx-size 84000 \
    --spec-draft-model 'S:\d.gguf' --spec-type dflash --spec-draft-ngl all \
    --batch-size 2048 --gpu-layers all --cache-type-k q8_0 --cache-type-v q6_0 \
    --spec-draft-type-k q8_0 --spec-draft-type-v q6_0 --fit off \
    --no-prefill-assistant --chat-template-file 'S:\q.jinja' --no-mmap \
    --main-gpu 1 --split-mode tensor --tensor-split 52,48 --ctx-checkpoints 32 \
    --checkpoint-min-step 1024 --parallel 1 --kv-unified --cache-ram 12288 \
    --temp 0.6 --top-k 20 --top-p 0.95 --min-p 0.0 --repeat-penalty 1.0 \
    --presence-penalty 0.0
report ggml-org/llama.cpp#21404 llama-server -m Qwen3.6-27B-Q8_0.gguf \
    --mmproj mmproj-F16.gguf -ngl 99 --ctx-size 160000 -t 8 --host 0.0.0.0 \
    --port 10240 --temp 1.0 --top-p 0.95 --top-k 20 --min-p 0.0 \
    --reasoning-budget 8192 --no-mmap --mlock --split-mode row --flash-attn on \
    --spec-type ngram-mod --spec-ngram-size-n 4 --draft-min 8 --draft-max 64
report ggml-org/llama.cpp#10455 ./llama-server -m /models/Qwen2.5-32B-Q4_K_S.gguf \
    -ngl 99 --host 0.0.0.0 --port 8999 -md /models/Qwen2.5.1-1.5B-IQ4_XS.gguf \
    -ngld 99 --draft-max 10 --draft-min 10
report ggml-org/llama.cpp#12287 llama-server --fim-qwen-7b-spec
report ggml-org/llama.cpp#9863 ./llama-server --host 0.0.0.0 --port 8080 \
    -m /path/to/model --embd-normalize 2 --embd-output-format json \
    --embd-separator '<#sep#>'
report ggml-org/llama.cpp#15396 llama-server -m ./gpt-oss-20b.auto.gguf \
    --ctx-size 0 --jinja -b 4096 -ub 4096 -ngl 99 -fa -ncmoe 4
report ggml-org/llama.cpp#15157 /home/u/llama.cpp/build-cuda/bin/llama-server \
    -m gpt-oss-120b-mxfp4-00001-of-00003.gguf --n-cpu-moe 36 \
    --n-gpu-layers 999 -c 0 -fa --jinja --reasoning-format none \
    --host 0.0.0.0 --port 8502 --api-key dummy
report www.1apx.com /usr/local/bin/llama-server --device CUDA0 \
    --model /usr/local/models/gpt-oss-120b-mxfp4-00001-of-00003.gguf \
    --host 0.0.0.0 --port 10000 --n-gpu-layers 99 --ctx-size 16384 \
    --cont-batching --batch-size 2048 --ubatch-size 512 --no-mmap
# Answers and conversations.
report 'a report' llama-cli -mli -co -fa -ngl 64 -cnv --chat-template gemma \
    -m llama3-8B-Chinese-Chat-q8.gguf
report ggml-org/llama.cpp#8650 llama-cli.exe --model m.gguf --color --threads 30 \
    --keep -1 --n-predict -1 --repeat-penalty 1.1 --ctx-size 8196 --interactive \
    -ngl 99 --simple-io --in-prefix '<|eot_id|>' --in-suffix '<|eot_id|>' -p x -e \
    --multiline-input --no-display-prompt --conversation --no-mmap --temp 0 \
    --repeat-penalty 1.0
report 'a report' llama-mtmd-cli.exe -m SmolVLM2.gguf --mmproj mmproj.gguf \
    --image img_01.png --image img_02.png -p 'Describe this video sequence.' \
    --temp 0.2 --seed 42
report 'a report' llama-cli --reasoning-budget 0 -ngl 99 -fa -ctv q8_0 -ctk q8_0 \
    -m /mnt/models3/Qwen_Qwen3-4B-Q8_0.gguf -p 'what is the capital of Poland?'
report huggingface/hub-docs#1580 llama-cli \
    -hf bartowski/Llama-3.2-3B-Instruct-GGUF:Q8_0
report huggingface/hub-docs#1580 llama-cli \
    --hf-repo lmstudio-community/Meta-Llama-3-8B-Instruct-GGUF \
    --hf-file Meta-Llama-3-8B-Instruct-Q8_0.gguf \
    -p 'You are a helpful assistant' -cnv
report yoshoku/llama_cpp.rb#6 ./main -t 10 -ngl 32 \
    -m wizardLM-7B.ggmlv3.q5_0.bin --color -c 2048 --temp 0.7 \
    --repeat_penalty 1.1 -n -1 -p '### Instruction: Write a story
### Response:'
report ggml-org/llama.cpp#10455 ./llama-speculative \
    -m /models/Qwen2.5-32B-Q4_K_S.gguf -ngl 99 \
    -md /models/Qwen2.5.1-1.5B-IQ4_XS.gguf -ngld 99 --draft-max 10 \
    --draft-min 10 -p 'Please write a minesweeper game.'
report abetlen/llama-cpp-python#675 ./speculative -m ./models/phind-34b.gguf \
    -md ./models/codellama-7b.gguf -p '// Quick-sort in C' -e -ngl 35 -ngld 99 \
    --temp 0 -n 200 -c 4096 -s 20 --top-k 1
# Files.
report 'a report' llama-imatrix -m a.gguf -f ubergarm-calibration.txt -o b.dat
report 'a report' imatrix -m yi.fp16.gguf -f open-instruct-5K.txt -o yi.imatrix \
    -t 10 -c 4096 -ngl 35 -b 1024
report 'a report' llama-quantize --imatrix imatrix.gguf gemma-3n-E4B-it-F16.gguf \
    gemma-3n-E4B-it-IQ2_XXS.gguf IQ2_XXS 32
report calcuis/gguf#46 llama-quantize.exe Wan2_2.gguf Wan2_2-q4_k_m.gguf q4_k_m
report mozilla-ai/llamafile#230 ./llamacppbinaries/quantize.exe \
    ./lince-mistral.gguf 15
report mozilla-ai/llamafile#230 llama.cpp/convert.py ./Lince-Mistral/ \
    --outfile lince-mistral.gguf
report ggml-org/llama.cpp#8247 convert-hf-to-gguf.py --outtype f16 \
    F:/models/Llama-3-Lumimaid-70B-v0.1-alt/
report unslothai/unsloth#875 llama.cpp/convert-hf-to-gguf.py FOLDER \
    --outfile OUTPUT --outtype f16
report 'a report' perplexity -m abcd1.bin -f hellaswag_val_full.txt
report irthomasthomas/undecidability#406 ./llama-bench \
    -m models/7B/ggml-model-q4_0.gguf -m models/13B/ggml-model-q4_0.gguf -p 0 \
    -n 128,256,512
# ollama and llm.
report 'a report' ollama run llama3.1:70b 'can you give me the route'
report ollama/ollama#8989 ollama run --verbose qwen2.5:7b-instruct-fp16
report ollama/ollama#1562 ollama create dolphin.mistral \
    -f Modelfile.dolphin.mistral
report ollama/ollama#4384 ollama show --modelfile llama3:70b
report ollama/ollama#15765 ollama pull hf.co/Rudi193/yggdrasil-v9:Q4_K_M
report ollama/ollama#7207 ollama run Neo-Phi-2.gguf
report simonw/llm#844 llm -t spanish 'hello there'
report simonw/llm#844 llm -s 'translate to spanish' --save spanish
report simonw/llm#916 llm -t think -u -s 'suggest improvements'
report simonw/llm-replicate#17 llm -m llama2 --system 'explain this code'
report taketwo/llm-ollama#32 llm --usage 'Smallest natural number?'
report simonw/llm-cmd#20 llm 'Five ludicrous names for a pet lobster'
report 'a report' llm -t recipe -p ingredients 'sausages, milk' -p country Germany
