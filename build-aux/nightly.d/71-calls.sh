#!/bin/sh
# 71-calls.sh BUILD: no system call of a tool is refused by its sandbox in the tests
# of tests/cli, which are traced here and, by root, in a Debian 13, whose C library
# is newer
#
# $GG_CALLS_TESTS: names of tests, else all. $GG_CALLS_ROOTS: folders with other
# systems that have strace and the libraries of BUILD, instead of that Debian.
# (61-machines.sh looks at musl and at 32-bit x86.)
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
command -v strace >/dev/null || {
    echo 'strace is needed' >&2
    exit 77
}
grep -q '^#define GG_SECCOMP 1' "$build/config.h" || {
    echo 'this build refuses no system calls' >&2
    exit 77
}
make -s -C "$build/lib" && make -s -C "$build/bin"
make -s -C "$build/tests" check TESTS= >/dev/null
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
# Tests of tracers, and of what kills tools.
tests=${GG_CALLS_TESTS-$(cd "$top/tests/cli" && ls -- *.sh |
    grep -vE '^(run|draft-same|fetch-serve|faults|allocations|.*-killed)\.sh$')}

cat >"$dir/trace" <<'T'
top_srcdir=$1 top_builddir=$2 out=$3
shift 3
export top_srcdir top_builddir CC="${CC-cc}"
export GG_CUDA_MODULE=none GG_SANDBOX=log GG_MODEL="$top_srcdir/demo/gg-story.gguf"
for t in "$top_builddir"/bin/gg-*/; do PATH=$t:$PATH; done
export PATH="$top_builddir/tests:$PATH"
for t; do
    t=${t%.sh}
    strace -f -qq --seccomp-bpf -e trace=personality -e signal=SIGSYS -o "$out/$t" \
        sh "$top_srcdir/tests/cli/run.sh" "$top_srcdir/tests/cli/$t.sh" >"$out/$t.log" 2>&1 || :
done
T

# refused NAME OUT: the calls of a trace, a line each.
refused() {
    sed -n 's/.*si_syscall=\(__NR_[a-z0-9_]*\|[0-9a-fx]*\).*/\1/p' "$2"/* | sort |
        uniq -c | sed "s/^/$1: refused:/"
    echo "$1: $(find "$2" -name '*.log' | wc -l) tests traced"
    grep -l 'si_syscall=' "$2"/* | sed 's|.*/||; s/^/    in /' || :
}

mkdir "$dir/here"
# shellcheck disable=SC2086
sh "$dir/trace" "$top" "$build" "$dir/here" $tests
refused here "$dir/here" >"$dir/said"

roots=${GG_CALLS_ROOTS-}
if test -z "$roots" && test "$(id -u)" = 0 && command -v mmdebstrap >/dev/null; then
    roots=$dir/trixie
    mmdebstrap --quiet --variant=minbase \
        --include=libjansson4,zlib1g,libnettle8t64,libpng16-16t64,libreadline8t64,libedit2,libcurl4t64,libhwloc15,strace,diffutils,gawk,gcc,libc6-dev,python3-minimal \
        trixie "$roots" "${GG_DEBIAN_MIRROR-http://deb.debian.org/debian}"
fi
for root in $roots; do
    name=$(basename "$root")
    mkdir -p "$dir/$name.out" "$root$top" "$root$build" "$root$dir"
    # Mounts go when the command ends.
    unshare -m sh -c 'root=$1 && shift
        for d in /proc /dev /sys "$1" "$2" "$3"; do
            mkdir -p "$root$d" && mount --rbind "$d" "$root$d" || exit
        done
        exec chroot "$root" sh "$3/trace" "$1" "$2" "$3/$4" $5' sh \
        "$root" "$top" "$build" "$dir" "$name.out" "$tests"
    refused "$name" "$dir/$name.out" >>"$dir/said"
done
cat "$dir/said"
! grep -q ': refused:' "$dir/said"
