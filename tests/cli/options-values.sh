# A value that an option cannot have is an error that shows it, with status 2,
# and nothing else: for each option with an argument that --help has, so that a
# new one is tried, too. Then the environment.
bad='nonsense 1x 99999999999999999999'

# Options that take any text: files, names that a file may have, texts.
any_text() {
    case $1:$2 in
    *:FILE | *:DIR | *:GLOB | *:LIST | *:MODEL | *:TEXT | *:STRING | *:KEY) ;;
    gg-generate--choice:* | gg-inspect--tensor:*) ;;
    gg-tokenize--prompt-name:* | gg-train--targets:* | gg-train--template:*) ;;
    *) return 1 ;;
    esac
}

# "--name ARG" of each option that has one, a line each.
options() {
    "$1" --help | awk '/^ *-/ {
        line = $0
        while (match(line, /--[a-z0-9-]+ [A-Z][A-Z]*/)) {
            print substr(line, RSTART, RLENGTH)
            line = substr(line, RSTART + RLENGTH)
        }
    }'
}

# What else a tool is given, so that the option is what is wrong.
others() {
    case $1$2 in
    gg-inspect--parts) echo "--memory $GG_MODEL" ;;
    gg-convert* | gg-quantize*) echo "$GG_MODEL out.gguf" ;;
    gg-inspect*) echo "$GG_MODEL" ;;
    gg-loop*) echo cat ;;
    esac
}

n=0
for tool in gg-inspect gg-tokenize gg-eval gg-logits gg-sample gg-loop \
    gg-generate gg-convert gg-quantize gg-train gg-bench; do
    options $tool >list
    while read -r option arg; do
        any_text $tool$option $arg && continue
        n=$((n + 1))
        for value in $bad ''; do
            type=
            test $tool = gg-quantize && type=Q8_0
            $tool $option "$value" $(others $tool $option) $type \
                </dev/null >out 2>err
            status=$?
            test $status = 2 && grep -qF -e "$value" err && continue
            echo "$tool $option '$value': status $status: $(head -n 1 err)"
        done
    done <list
done
test $n -gt 80 || echo "only $n options"
test -e out.gguf && echo 'there is an output'

# The environment: each name that the sources have.
try() { # NAME VALUE
    echo 1 >ids
    env "$1=$2" gg-eval ids >out 2>err
    echo "$1: status $?: $(head -n 1 err | sed 's/none of c.*/none of c .../')"
}
cat "$top_srcdir"/bin/*/*.c "$top_srcdir"/lib/*/*.c |
    sed -n 's/.*getenv("\(GG_[A-Z_]*\)").*/\1/p' | sort -u >names
while read -r name; do
    case $name in
    GG_CPU_ISA) try $name AVX-2 && try $name nonsense && try $name neon-2 ;;
    GG_CUDA_GRAPHS | GG_CUDA_PEER) try $name maybe ;;
    GG_SANDBOX) try $name maybe ;;
    GG_CUDA_MODULE) try $name nonesuch.so ;;
    GG_MODEL) try $name nonesuch.gguf ;;
    GG_MPI_MODULE) ;; # of --mpi, which needs a launcher: mpi.test
    GG_MODEL_PATH | GG_CACHE | GG_LOOP) ;; # folders that need not be there, a FIFO
    GG_HISTORY) ;;              # a file that need not be there
    *) echo "$name: what may it be?" ;;
    esac
done <names
# In capitals or not.
for isa in C c Ref; do
    echo 1 | GG_CPU_ISA=$isa gg-eval --top 1 >$isa || echo "status $?"
done
cmp C c && cmp C Ref

# Ids beyond the vocabulary.
"$top_builddir/tests/make_model" llama-f32 model.gguf || exit 99
GG_MODEL=model.gguf
echo 1 | gg-eval >dense
echo 1 | gg-eval --keep 3 >sparse
echo '300 1' >beyond
try() {
    "$@" >out
    echo "status $?"
}
{
    try gg-sample --logit-bias 300=-1 dense
    try gg-sample --logit-bias 300=-1 sparse
    try gg-sample --logit-bias 299=-1 dense
    try gg-generate -n 1 -p a --logit-bias 300=-inf
    echo '{"prompt": "a", "logit_bias": {"300": 1}, "n": 1}' |
        gg-generate --jsonl >out || echo failed
    try gg-logits --bias 300=1 dense
    try gg-logits --mask beyond dense
    try gg-logits --forbid beyond dense
    try gg-eval beyond
} 2>&1
