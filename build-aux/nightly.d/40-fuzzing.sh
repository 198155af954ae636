#!/bin/sh
# 40-fuzzing.sh SOURCE: every fuzz target by libFuzzer, with sanitizers, for
# $GG_FUZZ_SECONDS each, 600 unless it is set; what crashes stays in the folder
# $GG_FUZZ_CRASHES, if it is set
set -eu
source=$(cd "$1" && pwd)
seconds=${GG_FUZZ_SECONDS-600}
command -v clang >/dev/null || {
    echo 'clang is needed' >&2
    exit 77
}
test -f "$source/configure" || "$source/autogen.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$source/configure" -q CC=clang CXX=clang++ --without-cuda --enable-sanitize \
    --enable-fuzzer CFLAGS='-O1 -g'
make -s -j"$(nproc)" -C lib libggcore.la
make -s -j"$(nproc)" -C fuzz check TESTS=
cd fuzz
failed=0
for target in fuzz_*; do
    test -x "$target" && test ! -d "$target" || continue
    mkdir "corpus-$target"
    "./$target" -w "corpus-$target"
    echo "-- $target"
    "./$target" -max_total_time="$seconds" -timeout=100 -rss_limit_mb=3000 \
        -print_final_stats=1 "corpus-$target" >"$target.out" 2>&1 || {
        failed=$((failed + 1))
        tail -n 40 "$target.out"
    }
    grep -E 'number_of_executed_units' "$target.out" || :
done
if test -n "${GG_FUZZ_CRASHES-}"; then
    mkdir -p "$GG_FUZZ_CRASHES"
    cp crash-* oom-* timeout-* leak-* "$GG_FUZZ_CRASHES" 2>/dev/null || :
fi
test $failed = 0
