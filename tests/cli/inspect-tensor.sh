# Statistics of a tensor: figures that one can check by hand.
"$top_builddir/tests/make_gguf" small >small.gguf || exit 99
"$top_builddir/tests/make_gguf" nasty >nasty.gguf || exit 99
gg-inspect --tensor a.weight small.gguf
gg-inspect --tensor b.weight small.gguf | sed -n '2,12p'
gg-inspect --tensor "$(printf '\033]0;title\007')" nasty.gguf | sed -n '1,13p'
gg-inspect --tensor ints nasty.gguf | sed -n '2,13p'
gg-inspect --tensor other nasty.gguf
echo "exit $?"
gg-inspect --tensor "$(printf 'none\033[2J')" small.gguf
