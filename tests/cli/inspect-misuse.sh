# Wrong command lines end with 2, and point to --help.
try() {
    gg-inspect "$@" >out
    echo "exit $?"
    cat out
}
try --no-such-option
try -k
try a b
try -m a b
try -0 a
try -k a --json b
try --tensor a --metadata b
gg-inspect --help | head -n 2
gg-inspect --version | sed 's/[0-9.]*$/VERSION/'
