# Folders that are LLaMA but for a few things: what of them is refused.
mkdir none && gg-convert none x 2>&1 | grep 'without Jansson' >&2 && exit 77
rmdir none
cases=$top_srcdir/tests/fixtures/families
open() { # CASE
    rm -rf good bad && make_case "$cases/$1.case" scratch good || exit 99
    cp -r good bad
}
try() { # EXPRESSION: changes the configuration
    sed "$1" good/config.json >bad/config.json
    gg-convert bad out.gguf; echo "$1: $?"
}

open baichuan-7b
try 's/}$/,"z_loss_weight":0}/'
try 's/"num_hidden_layers":32/"num_hidden_layers":31/'
try 's/"num_attention_heads":4/"num_attention_heads":3/'
try 's/"num_attention_heads":4/"num_attention_heads":32/'
open internlm2
try 's/"num_key_value_heads":2/"num_key_value_heads":3/'
try 's/"num_key_value_heads":2/"num_key_value_heads":1/'
try 's/"factor":2.0/"factor":2.0,"alpha":1000/'
open minicpm
try 's/"dim_model_base":16/"dim_model_base":0/'
try 's/"scale_depth":0.9/"scale_depth":"deep"/'
test ! -e out.gguf
