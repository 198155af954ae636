#!/bin/sh
# 40-fuzzing.sh SOURCE: every fuzz target by libFuzzer, with sanitizers, for
# $GG_FUZZ_SECONDS each, 600 unless it is set; what crashes stays in the folder
# $GG_FUZZ_CRASHES, if it is set, and what was found to be new in $GG_FUZZ_CORPUS,
# where the next night begins. At the end a table: executions, edges, features.
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
# Kernels of instruction sets parse nothing.
"$source/configure" -q CC=clang CXX=clang++ --without-cuda --enable-sanitize \
    --enable-fuzzer CFLAGS='-O1 -g' gg_cv_isa_AVX2=no gg_cv_isa_AVXVNNI=no \
    gg_cv_isa_AVX512=no gg_cv_isa_AVX512VBMI=no gg_cv_isa_AVX512BF16=no \
    gg_cv_isa_AMX=no
make -s -j"$(nproc)" -C lib libggcore.la libggmedia.la
make -s -j"$(nproc)" -C bin libggcli.la
make -s -j"$(nproc)" -C fuzz check TESTS=
cd fuzz
export corpora="${GG_FUZZ_CORPUS-$work/corpora}" seconds
# One target: xargs runs as many as there are processors.
cat >one.sh <<'END'
mkdir -p "$corpora/$1"
"./$1" -w "$corpora/$1" || exit
begin=$(date +%s)
"./$1" -max_total_time="$seconds" -timeout=100 -rss_limit_mb=3000 -print_final_stats=1 \
    "$corpora/$1" >"$1.out" 2>&1
status=$?
test $status = 0 || tail -n 40 "$1.out"
# "#N DONE cov: EDGES ft: FEATURES ..."
awk -v name="$1" -v s="$(($(date +%s) - begin))" '$3 == "cov:" {
        n = $1; edges = $4; features = $6 }
    END { sub(/#/, "", n); print name, s, "s", n, "executions", edges, "edges",
        features, "features" }' "$1.out"
test $status = 0
END
failed=0
make -s targets | tr ' ' '\n' | xargs -n 1 -P "$(nproc)" sh one.sh || failed=1
if test -n "${GG_FUZZ_CRASHES-}"; then
    mkdir -p "$GG_FUZZ_CRASHES"
    cp crash-* oom-* timeout-* leak-* "$GG_FUZZ_CRASHES" 2>/dev/null || :
fi
test $failed = 0
