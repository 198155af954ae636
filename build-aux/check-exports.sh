#!/bin/sh
# The library exports exactly the functions that its public headers declare.
so=$1
shift
t=$(mktemp -d) || exit 99
trap 'rm -rf "$t"' EXIT
cat "$@" | sed -n 's/^GG[A-Z_(0-9, )]*API //p;/^\(gg\|ggml\|gguf\)_[a-z0-9_]*(/p' |
    grep -v '^typedef' |
    sed -n 's/^\(.*[ *]\)\{0,1\}\(\(gg\|ggml\|gguf\)_[a-z0-9_]*\)(.*/\2/p' |
    sort -u >"$t/declared"
nm -D --defined-only "$so" | awk '$2 == "T" { sub(/@.*/, "", $3); print $3 }' |
    sort -u >"$t/exported"
diff "$t/declared" "$t/exported"
