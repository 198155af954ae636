#!/bin/sh
# The toolkit for another machine, in plain C: built by a cross compiler, run under
# qemu-user (32-bit x86 and musl as they are), and what its tools write compared
# byte for byte with what those of BUILD write. Ends with 77 where what it needs is
# missing (Debian: mmdebstrap, qemu-user-static, gcc-MACHINE-linux-gnu, musl-tools;
# libraries are downloaded from there). $GG_CROSS is a folder to keep all in.
#
#     sh tests/cross-machine.sh BUILD s390x|riscv64|i386|musl
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
native=$(cd "$1" && pwd) machine=$2
mirror=${GG_DEBIAN_MIRROR-http://deb.debian.org/debian}
suite=bookworm run= order=little floats=
case $machine in
s390x) triplet=s390x-linux-gnu run=qemu-s390x-static order=big ;;
riscv64) triplet=riscv64-linux-gnu suite=trixie run=qemu-riscv64-static ;;
# floats as everywhere else, not those of the x87
i386) triplet=i686-linux-gnu floats="-msse2 -mfpmath=sse" ;;
musl) triplet=$(cc -dumpmachine) ;;
*) echo "an unknown machine: $machine" >&2 && exit 2 ;;
esac
cc=$triplet-gcc
test $machine != musl || cc=musl-gcc
for tool in $cc $run mmdebstrap curl; do
    command -v "$tool" >/dev/null || {
        echo "not tried: there is no $tool"
        exit 77
    }
done
work=${GG_CROSS-$(mktemp -d)}
test -n "${GG_CROSS-}" || trap 'rm -rf "$work"' EXIT
mkdir -p "$work" && cd "$work" || exit 1
root=$work/root-$machine

# Headers and libraries of Debian for the machine, without running anything of it.
debian_root() {
    mmdebstrap --quiet --variant=extract --architectures=$machine \
        --include=libc6-dev,zlib1g-dev,libjansson-dev,nettle-dev $suite "$root" "$mirror" &&
        # A newer base has nothing there but links, which base-files would make.
        { test -e "$root/lib" || ln -s usr/lib "$root/lib"; } &&
        # Links to what is in / are to what is in $root.
        find "$root/usr/lib" -type l -lname '/*' | while read -r link; do
            ln -sf "$root$(readlink "$link")" "$link" || exit
        done
}
# zlib and Jansson for musl, from Debian's sources.
musl_root() (
    mkdir -p "$root" && cd "$root" &&
        curl -sSf "$mirror/pool/main/z/zlib/zlib_1.2.13.dfsg.orig.tar.bz2" | tar xj &&
        curl -sSf "$mirror/pool/main/j/jansson/jansson_2.14.orig.tar.gz" | tar xz &&
        cd "$root"/zlib-* && CC=$cc CFLAGS=-O1 ./configure --static --prefix="$root/usr" &&
        make -s install && cd "$root"/jansson-* &&
        { test -x configure || autoreconf -fi; } &&
        ./configure -q CC=$cc CFLAGS=-O1 --disable-shared --prefix="$root/usr" &&
        make -s -C src install && make -s install-data &&
        # The kernel's headers: its sandbox is in them.
        for d in linux asm-generic "$triplet/asm"; do
            ln -sfn "/usr/include/$d" "$root/usr/include/$(basename "$d")" || exit
        done
)
if ! test -d "$root"; then
    if test $machine = musl; then musl_root; else debian_root; fi >"$root.log" 2>&1 || {
        tail -n 20 "$root.log"
        rm -rf "$root"
        exit 1
    }
fi

build=$work/build-$machine
configure() {
    mkdir -p "$build" && cd "$build" || return
    export PKG_CONFIG_LIBDIR="$root/usr/lib/pkgconfig"
    set -- CFLAGS="-O1 $floats" --disable-shared --enable-static --without-libcurl \
        --without-readline --without-mpi --without-cuda --without-libpng CXX=false
    if test $machine = musl; then
        "$top/configure" -q --without-nettle "$@" CC=$cc LDFLAGS=-static \
            CPPFLAGS="-isystem $root/usr/include"
        return
    fi
    lib=$root/usr/lib/$machine-linux-gnu
    export PKG_CONFIG_LIBDIR="$lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$root"
    if test -z "$run"; then # it runs here, by its own loader and libraries
        ld=$(ls "$root"/lib/ld-linux*.so.*)
        "$top/configure" -q --build=$triplet --host=$triplet "$@" \
            CC="$cc --sysroot=$root" \
            LDFLAGS="-Wl,--dynamic-linker=$ld -Wl,-rpath,$lib:$root/lib/$machine-linux-gnu"
    else
        "$top/configure" -q --host=$triplet "$@" CC="$cc --sysroot=$root"
    fi
}
(configure) >"$build.log" 2>&1 &&
    make -s -j"$(nproc)" -C "$build/lib" >>"$build.log" 2>&1 &&
    make -s -j"$(nproc)" -C "$build/bin" >>"$build.log" 2>&1 || {
    tail -n 20 "$build.log"
    exit 1
}
echo "$machine: built"

# ---- the same commands, there and here ------------------------------------

out=$work/out-$machine
rm -rf "$out" && mkdir "$out" && cd "$out" || exit 1
model=$top/demo/gg-story.gguf
there() {
    tool=$1
    shift
    GG_SANDBOX=log ${run:+$run -L "$root"} "$build/bin/$tool/$tool" "$@"
}
here() {
    tool=$1
    shift
    "$native/bin/$tool/$tool" "$@"
}
status=0 n=0
# Its sandbox, where there is one (not under qemu-user), refuses nothing.
unrefused() {
    ! grep 'the sandbox refused' a.err || status=1
}
# same TOOL ARGUMENT...: their output is the same.
same() {
    there "$@" >a 2>a.err
    a=$?
    unrefused
    GG_CPU_ISA=c here "$@" >b 2>b.err
    test $a = $? && cmp -s a b && n=$((n + 1)) && return
    echo "$machine: $*: differs: $(head -n 1 a.err)"
    status=1
}
# become FILE TOOL ARGUMENT... OUT: a file that it writes is that one.
become() {
    want=$1
    shift
    for last; do :; done
    there "$@" 2>a.err && cmp -s "$want" "$last" && unrefused && n=$((n + 1)) && return
    echo "$machine: $*: is not $want: $(head -n 1 a.err)"
    status=1
}
echo 'Once upon a time, there was a büg: 12345 €!' >text
here gg-tokenize -m "$model" text >ids
here gg-convert --byte-order big "$model" big.gguf
here gg-convert --to safetensors "$model" model.safetensors
same gg-inspect "$model"
same gg-inspect --json "$model"
same gg-inspect --stats "$model"
same gg-inspect --check big.gguf
test $machine = musl || same gg-inspect --hash big.gguf
same gg-tokenize -m "$model" text
same gg-tokenize -m "$model" --pieces --offsets text
same gg-tokenize -m "$model" --binary u32 text
same gg-tokenize -m "$model" -d ids
become "$model" gg-convert --byte-order little "$model" little.gguf
become "$model" gg-convert --byte-order little big.gguf little2.gguf
become big.gguf gg-convert --byte-order big "$model" big2.gguf
test $order = little || become big.gguf gg-convert "$model" big3.gguf
become model.safetensors gg-convert --to safetensors "$model" s.safetensors
for type in F16 BF16 Q4_0 Q8_0 Q4_K Q6_K IQ4_XS TQ2_0; do
    here gg-convert -q --type $type "$model" $type.gguf 2>/dev/null
    become $type.gguf gg-convert -q --byte-order little --type $type "$model" t.gguf
done
# A model without large sums: its logits are the same bytes.
same gg-generate -q -t 2 -m "$model" -n 12 --seed 1 -p Once
same gg-generate -q -t 2 -m big.gguf -n 12 --seed 1 -p Once
if test $machine = musl; then # with a libm of its own
    here gg-eval -q -m "$model" ids >logits
    there gg-eval -q -t 2 -m "$model" ids | here gg-logits --diff - logits >a &&
        awk '$1 == "all" && $3 < 1e-9 { near = 1 } END { exit !near }' a || {
        echo "musl: logits differ: $(tail -n 1 a)"
        status=1
    }
else
    same gg-eval -q -t 2 -m "$model" ids
    here gg-eval -q -m "$model" ids >logits
fi
same gg-sample --seed 1 -n 1 logits
same gg-logits --to jsonl logits
same gg-logits --bias 5=1 logits
echo "$machine: $n commands write the same bytes"

# Unit tests, where they can be built
for test in ${GG_CROSS_TESTS-}; do
    make -s -j"$(nproc)" -C "$build/tests" "$test" >>"$build.log" 2>&1 &&
        (cd "$build/tests" && top_srcdir=$top top_builddir=$build \
            ${run:+$run -L "$root"} "./$test") >"$out/tests" 2>&1 &&
        ! grep '^not ok' "$out/tests" && echo "$machine: $test passes" && continue
    echo "$machine: $test fails: $(tail -n 1 "$out/tests")"
    status=1
done
exit $status
