#!/bin/sh
# 27-isas.sh BUILD: all tests of BUILD once for each set of instructions that this
# machine has and the default is not: no output depends on the last bits
set -u
build=$(cd "$1" && pwd)
case $(uname -m) in
aarch64) isas='c neon dotprod' ;;
*) isas='c avx2 avxvnni avx512' ;;
esac
status=0
families=$(cd "$(dirname "$0")/../.." && pwd)/tests/fixtures/families
for isa in $isas; do
    GG_CPU_ISA=$isa
    export GG_CPU_ISA
    make -s -C "$build" check >"$build/check-$isa.log" 2>&1 && continue
    echo "with GG_CPU_ISA=$isa:"
    grep -E '^(FAIL|ERROR)' "$build/check-$isa.log"
    status=1
done

# Models of all other families, with NaN in each kind of tensor.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
for case in "$families"/*.case; do
    name=$(basename "$case" .case)
    "$build/tests/make_case" "$case" made.gguf folder >/dev/null 2>&1 &&
        "$build/bin/gg-convert/gg-convert" -q folder "$name.gguf" 2>/dev/null
    rm -rf folder made.gguf
done
for isa in $isas; do
    for model in ./*.gguf; do
        GG_CPU_ISA=$isa "$build/tests/session/test_poison" "$model" |
            grep '^not ok' && status=1
    done
done
exit $status
