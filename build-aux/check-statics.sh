#!/bin/sh
# check-statics.sh SOURCE: few static functions of different files share a name.
# Definitions of static functions whose name three or more files of lib and bin
# define are at most 60 of 1,000 functions, and no name is defined in eight files.
# Hooks of families, their folders and projectors have one name in all files by design:
# they are not looked at, but are functions. V=1 lists the names.
most=60 files=8
cd "$1" || exit 99
sources=$(find lib bin \( -name '*.[ch]' -o -name '*.cu' \) ! -name '.*' | sort)
# A definition as clang-format has it: the type on lines of its own, the name at
# the begin of a line, a brace at the begin of one.
# shellcheck disable=SC2086
LC_ALL=C awk -v most=$most -v files=$files -v list="${V-}" '
    function strip_comments() {
        if (inside && !sub(/^.*\*\//, ""))
            return 0
        gsub(/"([^"\\]|\\.)*"/, "")
        gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, "")
        inside = sub(/\/\*.*/, "")
        return 1
    }
    FNR == 1 { inside = is_static = 0; name = "" }
    !strip_comments() { next }
    /^static / { is_static = 1 }
    /^[a-z_][A-Za-z0-9_]*\(/ { name = substr($0, 1, index($0, "(") - 1) }
    /^\{/ && name {
        functions++
        if (is_static && FILENAME !~ /^lib\/(graph\/families|convert\/hf|media\/projectors)\// &&
            !((name, FILENAME) in has)) {
            has[name, FILENAME] = 1
            n[name]++
            where[name] = where[name] " " FILENAME
        }
    }
    # The end of a declaration, or of what the brace began.
    /^[{}]|;$|^$/ { is_static = 0; name = "" }
    END {
        for (f in n)
            if (n[f] >= 3) {
                shared += n[f]
                if (list == 1)
                    printf "%2d %s:%s\n", n[f], f, where[f] | "sort -rn"
                if (n[f] >= files) {
                    print f " is static in " n[f] " files:" where[f]
                    wrong = 1
                }
            }
        share = functions ? 1000 * shared / functions : 1000
        if (share > most || list == 1)
            printf "%d of %d functions, %.1f of 1,000, are static and have" \
                " the name of two others; at most %d may\n", shared,
                functions, share, most
        exit wrong || share > most
    }' $sources
