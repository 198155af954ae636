# What the prompt is made of: -p and a file; and a prompt alone.
test -f "$GG_MODEL" || { echo "no demo model" >&2 && exit 77; }
printf ' a time' >rest
gg-generate -p 'Once upon a time' -n 20 -s 7 >want
gg-generate -p 'Once upon' rest -n 20 -s 7 | cmp - want
gg-generate -p 'Once upon' -f rest -n 20 -s 7 | cmp - want
gg-generate -p 'Once upon' - -n 20 -s 7 <rest | cmp - want
gg-generate rest -p "Once upon" -n 20 -s 7 --echo >echo
{ printf "Once upon a time"; cat want; } | cmp - echo
gg-generate -p '' - -n 20 -s 7 <rest >empty
gg-generate -n 20 -s 7 <rest | cmp - empty
gg-generate -p 'Once upon' -n 20 -s 7 </dev/null | cat >alone
gg-generate -p 'Once upon' - -n 20 -s 7 </dev/null | cmp - alone
gg-generate -p '' - </dev/null
echo "status $?"
gg-generate -p a rest rest
echo "status $?"
gg-generate -p a none
echo "status $?"

echo "a message:"
gg-generate --chat --template alpaca -p 'Tell me.' -n 9 -s 1 >want
echo ' me.' | gg-generate --chat --template alpaca -p Tell - -n 9 -s 1 | cmp - want
gg-generate -p 'Once upon' --choice ' a, the' --scores >scores
printf ' upon' | gg-generate -p Once - --choice ' a, the' --scores | cmp - scores

echo "a prompt alone:"
gg-generate -p 'Once upon a time' -n 0 --save begun.gguf
echo "status $?"
gg-generate -p 'Once upon a time' -n 20 -s 7 >want
gg-generate --load begun.gguf -p '' -n 20 -s 7 | cmp - want
gg-generate -p 'Once upon a time, a cat' -n 20 -s 7 --echo | tail -c +17 >want
gg-generate --load begun.gguf -p ', a cat' -n 20 -s 7 --echo | cmp - want
gg-generate -p 'Once upon a time' -n 0 --draft prompt -v 2>&1 | grep -o 'decoding: 0 ids'
gg-generate --chat --template alpaca -p 'Tell me.' -n 0 --save talk.gguf
gg-generate --chat --template alpaca -p 'Tell me.' -n 9 -s 1 >want
gg-generate --chat --load talk.gguf -p '' -n 9 -s 1 | cmp - want
gg-generate -p '' -n 0
gg-generate -p a -n 0 -i
gg-generate --lines -n 0 rest
gg-sample -n 0
