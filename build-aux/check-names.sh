#!/bin/sh
# check-names.sh SOURCE: a function of a header of lib/MODULE that other files
# use begins with the module's name and _ (of core, which all modules use, with
# that of a file of it), or with gg_, ggml_, gguf_, and no other header has it.
# Functions of vectors begin with v_: each instruction set of lib/cpu has its
# own. What one header alone uses may have any name, as a static function.
cd "$1" || exit 99
core=$(for f in lib/core/*.[ch]; do
    basename "$f" | sed 's/\.[ch]$//'
done)
headers=$(find lib -name '*.h' ! -name '.*' | sort) || exit 99
sources=$(find lib \( -name '*.[ch]' -o -name '*.cu' \) ! -name '.*' | sort)
# The name of a function begins a line where it is declared or defined, as
# clang-format has it. A name after . or -> is a member.
# shellcheck disable=SC2086
awk -v core="$core" '
    BEGIN {
        n = split(core, name)
        for (i = 1; i <= n; i++)
            is_core[name[i]] = 1
    }
    function strip_comments() {
        if (inside && !sub(/^.*\*\//, ""))
            return 0
        gsub(/"([^"\\]|\\.)*"/, "")
        gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, "")
        inside = sub(/\/\*.*/, "")
        return 1
    }
    function has_prefix(f, file, part, module) {
        split(file, part, "/")
        module = part[2]
        split(f, part, "_")
        return f ~ /^(gg|ggml|gguf)_/ || index(f, module "_") == 1 ||
            module == "cpu" && f ~ /^v_/ || module == "core" && part[1] in is_core
    }
    FNR == 1 { inside = 0 }
    !strip_comments() || /^[#_]/ { next }
    match($0, /^[a-z][A-Za-z0-9_]*\(/) {
        f = substr($0, 1, RLENGTH - 1)
        has[f, FILENAME] = 1
        if (pass == 1 && !has_prefix(f, FILENAME))
            bare[f] = FILENAME
        else if (pass == 1) {
            if (f in header && header[f] != FILENAME && f !~ /^v_/) {
                print f " is in " header[f] " and in " FILENAME
                wrong = 1
            }
            header[f] = FILENAME
        }
    }
    pass == 2 {
        while (match($0, /[a-z][A-Za-z0-9_]*[(<]/)) {
            f = substr($0, RSTART, RLENGTH - 1)
            before = RSTART > 1 ? substr($0, RSTART - 1, 1) : ""
            $0 = substr($0, RSTART + RLENGTH)
            if (before !~ /[A-Za-z0-9_.>:]/ && f in bare &&
                !((f, FILENAME) in has)) {
                print FILENAME ": " f " of " bare[f] \
                    " has not the prefix of its module"
                wrong = 1
            }
        }
    }
    END { exit wrong }' pass=1 $headers pass=2 $sources
