#!/bin/sh
# The library exports exactly the functions that its public headers declare:
# what stands between GG_API or GGML_API and a semicolon.
so=$1
shift
t=$(mktemp -d) || exit 99
trap 'rm -rf "$t"' EXIT
cat "$@" | sed -e ':a' -e '/\\$/{N;s/\\\n//;ba' -e '}' -e '/^#/d' |
    tr '\n' ' ' | tr ';' '\n' |
    sed -n 's/.*GG\(ML\)\{0,1\}_API //p' |
    awk 'match($0, /(gg|ggml|gguf)_[a-z0-9_]*\(/) {
        print substr($0, RSTART, RLENGTH - 1) }' |
    sort -u >"$t/declared"
nm -D --defined-only "$so" | awk '$2 == "T" { sub(/@.*/, "", $3); print $3 }' |
    sort -u >"$t/exported"
diff "$t/declared" "$t/exported"
