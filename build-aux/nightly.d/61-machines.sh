#!/bin/sh
# 61-machines.sh BUILD: the tools for other machines write the same bytes as those of
# BUILD: s390x (big-endian), riscv64, 32-bit x86, and static ones of musl; and some
# unit tests
top=$(cd "$(dirname "$0")/../.." && pwd)
export GG_CROSS_TESTS="${GG_CROSS_TESTS-quant/test_types gguf/test_gguf_order \
gguf/test_gguf_hostile session/test_state vocab/test_vocab_encode stream/test_logits}"
tried=0 status=0
for machine in s390x riscv64 i386 musl; do
    sh "$top/tests/cross-machine.sh" "$1" $machine
    case $? in
    0) tried=$((tried + 1)) ;;
    77) ;;
    *) status=1 ;;
    esac
done
test $tried$status != 00 || exit 77
exit $status
