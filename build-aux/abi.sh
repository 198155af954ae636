#!/bin/sh
# abi.sh INCLUDE: what programs are compiled against, a line each and sorted:
# the declarations of the public headers without comments and attributes, their
# macros, and, by $CC, the sizes of their structs. C++ is left out.
set -eu
t=$(mktemp -d)
trap 'rm -rf "$t"' EXIT
cc=${CC:-cc}
for h in "$1"/*.h; do
    case $h in */ggml-cpp.h) continue ;; esac
    echo "#include \"$(cd "$1" && pwd)/${h##*/}\""
done >"$t/all.c"

# Of the preprocessor's output what stands in these headers.
$cc -std=c11 -E "$t/all.c" -I"$1" | awk -v folder="$(cd "$1" && pwd)/" '
    /^# [0-9]/ { ours = index($3, "\"" folder) == 1; next }
    ours' | sed 's/__attribute__ *(([^;]*))//g; s/\bextern\b//' |
    tr -s ' \t\n' ' ' | awk '{
        depth = 0
        for (i = 1; i <= length($0); i++) {
            c = substr($0, i, 1)
            depth += (c == "{") - (c == "}")
            line = line c
            if (depth == 0 && (c == ";")) {
                sub(/^ */, "", line)
                gsub(/ +/, " ", line)
                print line
                line = ""
            }
        }
    }' >"$t/declarations"

$cc -std=c11 -E -dM "$t/all.c" -I"$1" |
    grep -E '^#define (GG|GGML|GGUF)_' |
    grep -vE '^#define ([A-Z_]+_(H|API|MUST_CHECK)|GG_VERSION_[A-Z]+)\b' >"$t/macros"

sed -n 's/^\(typedef \)\{0,1\}struct \([a-z_0-9]*\) {.*/struct \2/p' \
    "$t/declarations" >"$t/structs"
{
    cat "$t/all.c"
    echo '#include <stdio.h>'
    echo 'int main(void) {'
    sed 's/.*/printf("sizeof(&) = %zu\\n", sizeof(&));/' "$t/structs"
    echo 'return 0; }'
} >"$t/sizes.c"
$cc -std=c11 -w -I"$1" -o "$t/sizes" "$t/sizes.c"
{ cat "$t/declarations" "$t/macros" && "$t/sizes"; } | LC_ALL=C sort
