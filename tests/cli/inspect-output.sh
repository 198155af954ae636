# A full disk is noticed, a closed pipe ends the tool, -o is whole or absent.
"$top_builddir/tests/make_gguf" key_longest >long.gguf || exit 99
"$top_builddir/tests/make_gguf" small >small.gguf || exit 99
gg-inspect small.gguf >/dev/full
echo "exit $?"
gg-inspect -o /dev/full small.gguf
echo "exit $?"
gg-inspect --json small.gguf >&-
echo "exit $?"
# More than a pipe holds.
{ gg-inspect --json long.gguf; echo "exit $?" >&2; } | head -c 1 >one
wc -c <one
gg-inspect -o out.json --json small.gguf
test -s out.json && ls
gg-inspect -o none.json missing.gguf
echo "exit $?"
ls
