# gg-train: what cannot be done is said in a sentence.
make_model() {
    "$top_builddir/tests/make_model" "$@" || exit 99
}
make_model llama-f32 m.gguf
make_model mixtral-f32 moe.gguf
GG_MODEL=m.gguf
export GG_MODEL
seq 1 40 | tr '\n' ' ' | sed 's/ $/\n/' >ids
try() {
    gg-train -q "$@"
    echo $?
}
try ids
try --all --rank 3 -o out ids
try --all --alpha 3 -o out ids
try --init -o out ids
try --memory-limit 1x -o out ids
try --rate 0 -o out ids
try -o out ids ids
try -o out missing
try -o ids ids
try -o m.gguf ids
echo 300 >odd && try --all -o out odd
echo 3 >one && try --all -o out one
: >none && try --all -o out none
printf '1\t!it went wrong\n' >failed && try --all -o out failed
try --all -c 64 --steps 1 --memory-limit 1 -o out ids
try --all --batch 2 --at-once 3 -o out ids
try -m moe.gguf --all -o out ids
try -m ids --all -o out ids
echo no >checkpoint && try --all --checkpoint checkpoint -o out ids
cp m.gguf checkpoint && try --all --checkpoint checkpoint -o out ids
rm checkpoint
try --all --steps 2 --checkpoint checkpoint -o out ids
try --all --steps 2 --checkpoint checkpoint --rate 0.1 -o out2 ids
try --all --steps 2 --checkpoint checkpoint --seed 2 -o out2 ids
head -c 20000 checkpoint >cut && mv cut checkpoint
try --all --steps 2 --checkpoint checkpoint -o out2 ids
try --jsonl -o out2 ids
ls
