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
for isa in $isas; do
    GG_CPU_ISA=$isa
    export GG_CPU_ISA
    make -s -C "$build" check >"$build/check-$isa.log" 2>&1 && continue
    echo "with GG_CPU_ISA=$isa:"
    grep -E '^(FAIL|ERROR)' "$build/check-$isa.log"
    status=1
done
exit $status
