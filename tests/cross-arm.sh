#!/bin/sh
# The kernels for Arm, built by a cross compiler, against the reference under
# qemu-user, once for a processor of each kind. Ends with 77 where there is no
# such compiler or no qemu (Debian: gcc-aarch64-linux-gnu, qemu-user).
#
#     sh tests/cross-arm.sh
top=$(cd "$(dirname "$0")/.." && pwd)
cc=${CROSS_CC-aarch64-linux-gnu-gcc}
qemu=${CROSS_RUN-qemu-aarch64 -L /usr/aarch64-linux-gnu}
for tool in $cc ${qemu%% *}; do
    command -v "$tool" >/dev/null || {
        echo "not tried: there is no $tool"
        exit 77
    }
done

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
printf '#define %s\n' '_GNU_SOURCE 1' 'PACKAGE_VERSION "0"' 'HAVE_NEON 1' \
    'HAVE_DOTPROD 1' 'HAVE_I8MM 1' 'HAVE_ARMBF16 1' >"$work/config.h"

cd "$top/lib" || exit 1
files=$(ls core/*.c quant/*.c tensor/*.c cpu/arm/*.c cpu/ref/*.c |
    grep -v 'core/crc32.c\|core/numa_hwloc.c')
for f in $files cpu/features.c cpu/caches.c cpu/kernels.c cpu/gemm/codebooks.c cpu/scalar.c \
    ../tests/cpu/check_kernels.c; do
    case $f in
    *_dotprod.c) march=-march=armv8.2-a+dotprod ;;
    *_i8mm.c) march=-march=armv8.2-a+dotprod+i8mm ;;
    *_bf16.c) march=-march=armv8.2-a+bf16 ;;
    *) march= ;;
    esac
    echo "$march -c $f -o $work/$(basename "$f" .c).o"
done | xargs -L 1 -P 2 $cc -O2 -Wall -Wextra -Wshadow -Werror \
    -ffunction-sections -fno-math-errno -ffp-contract=off \
    -I"$work" -I../tests -I. -I../include || exit 1
$cc -Wl,--gc-sections "$work"/*.o -o "$work/check" -lm -lpthread || exit 1

# check CPU SET: the sets of instructions that it has, from SET on.
status=0
check() {
    $qemu -cpu "$1" "$work/check" --from "$2" >"$work/log" || status=1
    grep '^#\|^not ok' "$work/log" && status=1
    echo "$1, from $2: $(grep -c '^ok' "$work/log") tests"
}
check cortex-a53 neon
check max dotprod
exit $status
