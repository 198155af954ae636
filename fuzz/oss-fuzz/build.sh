#!/bin/sh
# build.sh - builds the fuzz targets and their corpora as OSS-Fuzz has it: from
# $SRC/gg to $OUT, with $CC, $CXX, $CFLAGS, $CXXFLAGS and $LIB_FUZZING_ENGINE
set -eu
test -f "$SRC/gg/configure" || (cd "$SRC/gg" && ./autogen.sh)
build=${WORK:-/tmp}/gg
mkdir -p "$build" && cd "$build"
# Where they run are no libraries: a folder with nothing but archives comes first.
mkdir -p static
for name in jansson nettle z; do
    find /usr/lib /usr/lib64 /usr/local/lib -name "lib$name.a" 2>/dev/null |
        head -n 1 | xargs -I{} ln -sf {} static/
done
# Kernels parse nothing.
"$SRC/gg/configure" -q --disable-shared --without-cuda --without-readline \
    --without-libpng --without-libjpeg --without-libwebp \
    --without-libsndfile --without-libsoxr --without-libcurl --without-mpi --without-hwloc \
    --enable-fuzzer LIB_FUZZING_ENGINE="$LIB_FUZZING_ENGINE" \
    CC="$CC" CXX="$CXX" CFLAGS="$CFLAGS" CXXFLAGS="$CXXFLAGS" \
    LDFLAGS="-L$build/static" JANSSON_LIBS=-ljansson NETTLE_LIBS=-lnettle \
    ZLIB_LIBS=-lz JANSSON_CFLAGS=-I/usr/include NETTLE_CFLAGS=-I/usr/include \
    ZLIB_CFLAGS=-I/usr/include \
    gg_cv_isa_AVX2=no gg_cv_isa_AVXVNNI=no gg_cv_isa_AVX512=no \
    gg_cv_isa_AVX512VBMI=no gg_cv_isa_AVX512BF16=no gg_cv_isa_AMX=no
make -s -j"$(nproc)" -C lib libggcore.la libggmedia.la
make -s -j"$(nproc)" -C bin libggcli.la
# The engine may be in C++.
make -s -j"$(nproc)" -C fuzz check TESTS= CCLD="$CXX $CXXFLAGS"
for target in $(make -s -C fuzz targets); do
    cp "fuzz/$target" "$OUT/"
    rm -rf corpus && mkdir corpus
    "$OUT/$target" -w corpus
    (cd corpus && zip -q -r "$OUT/${target}_seed_corpus.zip" .)
done
