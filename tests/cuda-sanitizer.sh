#!/bin/sh
# The kernels' tests under NVIDIA's compute-sanitizer, on a device:
#
#   tests/cuda-sanitizer.sh [BUILD [TOOL...]]
#
# BUILD is where the project was built (.), tools are memcheck, synccheck,
# initcheck and racecheck. Prints a line for each; ends 1 if any found fault.
build=$(cd "${1-.}" && pwd) || exit 2
test $# -eq 0 || shift
test $# -gt 0 || set -- memcheck synccheck initcheck racecheck
command -v compute-sanitizer >/dev/null || {
    echo "compute-sanitizer is not installed (it comes with CUDA)" >&2
    exit 77
}
GG_CUDA_MODULE=$(echo "$build"/lib/.libs/libggml-cuda-*.so)
export GG_CUDA_MODULE
log=$(mktemp) || exit 2
trap 'rm -f "$log"' EXIT
status=0
for tool; do
    for part in face ops fuse sequences attention products training opt media; do
        program=$build/tests/cuda/device_$part
        test -x "$program" || { echo "$program is not built" >&2; exit 2; }
        # a graph that cannot be updated is made anew: no fault
        compute-sanitizer --tool "$tool" --report-api-errors no \
            --error-exitcode 9 "$program" >"$log" 2>&1
        code=$?
        if grep -q '^1\.\.0 # SKIP' "$log"; then
            grep '^1\.\.0 # SKIP' "$log" >&2
            exit 77
        fi
        if test $code -eq 0 && ! grep -q '^not ok' "$log"; then
            printf '%s\t%s\tclean\n' "$tool" "$part"
        else
            printf '%s\t%s\tFAILED\n' "$tool" "$part"
            grep '^=========\|^not ok' "$log" | head -n 40
            status=1
        fi
    done
done
exit $status
