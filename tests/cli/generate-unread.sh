# -p leaves standard input alone; where it holds bytes, a line says so.
export GG_MODEL="$top_srcdir/demo/gg-story.gguf"
say() { gg-generate -p 'Once upon' --temp 0 -n 1 "$@" 2>&1 | cat; echo; }
echo text | say
echo text | say -q
echo text | say --choice ' a, the'
echo text >file && say <file
say </dev/null
true | say
say <&-
while read -r line; do say; done <file
printf 'a\nb\n' | { say && cat; }
(gg-generate -p Once --temp 0 -n 1 >/dev/null && sleep 1) | say # nothing yet
echo ' a' | say -
