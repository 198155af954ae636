#!/bin/sh
# check-symbols.sh SOURCE BUILD: what objects of lib/MODULE use of other modules
# is what build-aux/layers allows; one circle is wanted: the registry of back
# ends asks api for those that are built in. What other files see begins with
# gg_, ggml_, gguf_ or the module's name and _; the names of core, which all
# modules use, with that of a file of it. No two tools have the same name.
srcdir=$1 builddir=$2
t=$(mktemp -d) || exit 99
trap 'rm -rf "$t"' EXIT
# objects FOLDER: those of the library and the tools whose source is still there;
# tests have objects of their own of some of these
objects() {
    find "$srcdir/$1" -name '*.c' >"$t/sources"
    find "$builddir/$1" -name '*.o' ! -path '*/cuda/*' |
        awk -v srcdir="$srcdir" -v builddir="$builddir" '
            FNR == NR { there[$0] = 1; next }
            {
                base = $0
                sub(/.*\//, "", base)
                if (base ~ /^fuzz_|_test_.*-/)
                    next
                folder = substr($0, length(builddir) + 1,
                    length($0) - length(builddir) - length(base) - 1)
                sub(/\/\.libs$/, "", folder)
                sub(/\.o$/, ".c", base)
                plain = base
                sub(/^[a-z0-9_]*-/, "", plain)
                if ((srcdir folder "/" base) in there ||
                    (srcdir folder "/" plain) in there)
                    print
            }' "$t/sources" -
}
# symbols OPTION FOLDER: lines of folder in it, symbol and kind; names with two
# underscores or a dot are the compiler's
symbols() {
    objects "$2" | xargs nm -A -g "$1" | sed "s|^$builddir/$2/||" |
        awk '$NF !~ /^__|\./ { split($1, path, "/"); print path[1], $NF, $(NF - 1) }' | sort -u
}
symbols --defined-only lib >"$t/defined" && symbols -u lib >"$t/used"
symbols --defined-only bin | sort -u >"$t/tools"
test -s "$t/defined" -a -s "$t/tools" || exit 77
status=0
awk -v layers="$srcdir/build-aux/layers" '
    BEGIN {
        while ((getline line <layers) > 0) {
            split(line, part, ":")
            n = split(part[2], to, " ")
            for (i = 1; i <= n; i++)
                may[part[1], to[i]] = 1
        }
        may["backend", "api"] = 1
    }
    FNR == NR { owner[$2] = $1; next }
    $2 in owner && owner[$2] != $1 && !(($1, owner[$2]) in may) {
        print "lib/" $1 " uses " $2 " of lib/" owner[$2]
        wrong = 1
    }
    END { exit wrong }' "$t/defined" "$t/used" || status=1
for f in "$srcdir"/lib/core/*.[ch]; do
    basename "$f" | sed 's/\.[ch]$//'
done >"$t/core"
awk 'FNR == NR { core[$1] = 1; next }
    $2 ~ /^(gg|ggml|gguf)_/ || index($2, $1 "_") == 1 { next }
    { split($2, part, "_") }
    $1 == "core" && part[1] in core { next }
    { print "lib/" $1 ": " $2 " has not the prefix of its module"; wrong = 1 }
    END { exit wrong }' "$t/core" "$t/defined" || status=1
awk '$2 == "main" || $2 == "cli_name" { next }
    $2 in where && where[$2] != $1 {
        print $2 " is in " where[$2] " and in " $1
        wrong = 1
    }
    { where[$2] = $1 }
    END { exit wrong }' "$t/tools" || status=1
exit $status
