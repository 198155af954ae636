# What an adapter changes of which models; a control vector; what they take.
for name in adapter control_vector adapter_unknown; do
    "$top_builddir/tests/make_gguf" $name >$name.gguf || exit 99
    echo "-- $name"
    gg-inspect $name.gguf | sed '/^$/q'
    gg-inspect --json $name.gguf | sed -n '/"adapter": {/,/^    }/p'
    gg-inspect --check $name.gguf
    echo "status $?"
done
gg-inspect --json adapter.gguf >json &&
    { ! command -v jq >/dev/null || jq . json >/dev/null; }

echo '-- memory'
make_model llama-f32 model.gguf || exit 99
"$top_builddir/tests/make_adapter" model.gguf a.gguf || exit 99
"$top_builddir/tests/make_adapter" --control model.gguf 1 v.gguf || exit 99
gg-inspect a.gguf | sed -n "/^rank/,/^scale/p"
gg-inspect --check a.gguf | grep error
gg-inspect --memory --lora a.gguf --lora a.gguf=2 model.gguf | grep adapters
both="--lora a.gguf --control-vector v.gguf"
gg-inspect --memory --json model.gguf | sed -n '/weights/p' >want
gg-inspect --memory --json $both model.gguf | sed -n '/weights/p' | cmp - want
bytes() { gg-inspect --json "$1" | awk -F 'bytes": ' '
    /"name": .*offset/ { sum += $2 } END { print sum }'; }
gg-inspect --memory --json $both model.gguf | sed -n 's/.*"adapters": //p'
echo "$(($(bytes a.gguf) + $(bytes v.gguf))),"
gg-eval -q -v --slots 1 $both -m model.gguf </dev/null 2>err
grep -o 'buffers [0-9.]* MiB' err | cut -d ' ' -f 2 >want
gg-inspect --memory --json $both model.gguf |
    awk -F '[:,]' '/"compute"/ { printf "%.1f\n", $2 / 1048576 }' | cmp - want
gg-inspect --lora a.gguf model.gguf
gg-inspect --memory --control-vector v.gguf --control-vector-layer-range 1 model.gguf
gg-inspect --memory --lora adapter.gguf model.gguf
gg-inspect --memory a.gguf
