# What is written: the continuation only, unless --echo; -o; whole contexts.
"$top_builddir/tests/make_model" gpt2-q8_0 model.gguf || exit 99
GG_MODEL=model.gguf
export GG_MODEL
gg-generate -p 'ab' -n 9 -s 5 >want
printf ab | gg-generate -n 9 -s 5 | cmp - want
printf ab >prompt
gg-generate -n 9 -s 5 prompt | cmp - want
gg-generate -n 9 -s 5 - <prompt | cmp - want
gg-generate -p ab -n 9 -s 5 -o out && cmp out want
gg-generate -p ab -n 9 -s 5 --cache-type f32 --batch-size 1 | wc -c | tr -d ' ' \
    >/dev/null
gg-generate -p ab -n 9 -s 5 --echo >out
{ cat prompt want; } | cmp - out
gg-generate -p '<|control|>' -n 1 -v 2>&1 >/dev/null | grep -o 'prefill: [0-9]*'
gg-generate -p '<|control|>' --special parse -n 1 -v 2>&1 >/dev/null |
    grep -o 'prefill: [0-9]*'

# Another seed, another text; none, a random one that -v tells.
gg-generate -p ab -n 9 -s 6 | cmp -s - want && echo "seeds do not matter"
gg-generate -p ab -n 9 -v >out 2>err
gg-generate -p ab -n 9 -s "$(sed -n 's/.*seed //p' err)" | cmp - out

# A context ends a text that has no other end.
gg-generate -p ab -c 20 -v 2>&1 >/dev/null | grep -o 'decoding: [0-9]*'
gg-generate -p ab -c 20 >/dev/null
echo "status $?"
gg-generate -p ab -c 20 -q >/dev/null
gg-generate -p ab -c 20 -n 19 >/dev/null
echo "status $?"
gg-generate -p ab -c 20 -n 21 >/dev/null
echo "status $?"
gg-generate -p 'ab ab ab ab ab ab ab ab' -c 5
echo "status $?"
