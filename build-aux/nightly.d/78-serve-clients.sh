#!/bin/sh
# 78-serve-clients.sh BUILD: gg-serve's clients of PyPI: openai, anthropic, litellm,
# langchain-openai, llm, and lm-eval's local-completions; $GG_NIGHTLY_MODEL is a
# model to take in the place of the demo
set -eu
. "$(dirname "$0")/serve.inc"
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
server=
trap 'test -z "$server" || kill $server; rm -rf "$work"' EXIT
bad=0

# A folder of environments that are there: $GG_NIGHTLY_VENVS/CLIENT.
venvs=${GG_NIGHTLY_VENVS-$work}
install() { # CLIENT PACKAGE...
    client=$1
    shift
    test ! -x "$venvs/$client/bin/python" || return 0
    python3 -m venv "$venvs/$client" 2>"$work/pip" &&
        "$venvs/$client/bin/pip" install -q --disable-pip-version-check "$@" \
            >"$work/pip" 2>&1 || {
        echo "$client is left out: $(tail -n 1 "$work/pip")"
        return 1
    }
}
python3 -c 'import venv, ensurepip' 2>/dev/null || exit 77

cd "$work"
gg-serve -m "${GG_NIGHTLY_MODEL-$GG_MODEL}" \
    --name m -c 2048 -l 127.0.0.1:0 -- --pooling mean \
    --template "$here/tools.jinja" 2>log &
server=$!
until port=$(sed -n 's/.*listening at 127.0.0.1:\([0-9]*\)$/\1/p' log) &&
    test -n "$port" && curl -s "http://127.0.0.1:$port/health" >/dev/null; do
    sleep 0.1
done
base=http://127.0.0.1:$port

try() { # CLIENT
    echo "-- $1"
    timeout 1800 "$venvs/$1/bin/python" "$here/clients.py" "$1" "$base" || bad=1
}
tried=0
for client in 'openai openai>=3,<4' 'anthropic anthropic>=2,<3' \
    'litellm litellm>=1,<2' 'langchain langchain-openai>=1,<2'; do
    install "${client%% *}" "${client#* }" || continue
    try "${client%% *}"
    tried=$((tried + 1))
done

if install llm 'llm<1'; then
    echo '-- llm'
    mkdir -p llm
    cat >llm/extra-openai-models.yaml <<EOF
- model_id: ours
  model_name: m
  api_base: "$base/v1"
  supports_schema: true
EOF
    for more in '' --no-stream '--schema {"type":"object","properties":{"yes":{"type":"boolean"}},"required":["yes"]}'; do
        LLM_USER_PATH=$work/llm OPENAI_API_KEY=k timeout 600 \
            "$venvs/llm/bin/llm" -m ours -o max_tokens 20 -o seed 3 $more \
            'Say hello.' >said 2>&1 && test -s said || {
            echo "FAIL llm $more: $(tail -n 1 said)"
            bad=1
        }
    done
    tried=$((tried + 1))
fi

if install lm_eval 'lm-eval[api]>=0.4,<0.5' transformers; then
    echo '-- lm-eval'
    mkdir -p task
    for i in 1 2 3 4 5 6; do
        printf '{"q":"Once upon a","a":["time","%s"],"right":0}\n' $i
    done >task/test.jsonl
    cat >task/ours.yaml <<EOF
task: ours
dataset_path: json
dataset_kwargs: {data_files: {test: $work/task/test.jsonl}}
test_split: test
output_type: multiple_choice
doc_to_text: "{{q}}"
doc_to_choice: "{{a}}"
doc_to_target: "{{right}}"
metric_list: [{metric: acc}]
EOF
    # It counts the ids of a context by a tokenizer of its own: words, here.
    cat >tokenizer.py <<EOF
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast
words = ["[UNK]", "</s>", "Once", "upon", "a", "time"]
t = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, "[UNK]"))
t.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
PreTrainedTokenizerFast(tokenizer_object=t, unk_token="[UNK]",
                        eos_token="</s>").save_pretrained("words")
EOF
    "$venvs/lm_eval/bin/python" tokenizer.py
    HF_HUB_OFFLINE=1 HF_HOME=$work/hf OPENAI_API_KEY=k timeout 1800 \
        "$venvs/lm_eval/bin/lm_eval" --model local-completions --tasks ours \
        --include_path task --batch_size 1 --model_args \
        "model=m,base_url=$base/v1/completions,tokenizer=words,tokenized_requests=False,num_concurrent=2" \
        >said 2>&1 && grep -qE 'acc.*\| +1(\.0+)?\|' said || {
        echo "FAIL lm-eval: $(tail -n 5 said)"
        bad=1
    }
    tried=$((tried + 1))
fi

kill $server
wait $server || bad=1
server=
test $tried != 0 || exit 77
exit $bad
