# A tool finds the demo model where /proc is not mounted, by any path to it.
without() { unshare -rm sh -c 'mount -t tmpfs none /proc && '"$1"; }
without true 2>/dev/null || { echo 'there are no mount namespaces' >&2; exit 77; }
case $CFLAGS in *-fsanitize*)
    echo 'sanitizers read /proc' >&2
    exit 77
    ;;
esac
unset GG_MODEL
tool=$top_builddir/bin/gg-generate/gg-generate
without "'$tool' -q -p 'Once upon a time' --seed 1 -n 8" && echo
ln -s "$tool" here
without "./here -q -p 'Once upon a time' --seed 1 -n 8" && echo
