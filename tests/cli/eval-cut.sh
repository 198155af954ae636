# A model file that is cut while it is mapped: a message, not a core.
"$top_builddir/tests/make_model" llama-f32 model.gguf || exit 99
GG_MODEL=model.gguf
export GG_MODEL
mkfifo in
gg-eval <in >logits 2>err &
exec 3>in
echo 1 2 3 >&3
until test -s logits; do sleep 0.1; done # it is at work
: >model.gguf
echo 4 >&3
exec 3>&-
wait $!
echo "status $?"
cat err
gg-sample logits >/dev/null
echo "status $?"
