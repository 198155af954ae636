# completions.awk - a tool's table of options, as a completion for a shell
#
#     gg-eval --list-options | awk -v tool=gg-eval -v shell=bash -f completions.awk
#
# A line is an option: its letter, name, argument, "file" or the values that the
# argument may have, other names, members of records, what --help says; "-" is
# none. `last` has the words that the last of three arguments may be, where they
# are not all names of files.

function or_none(s) {
    return s == "-" ? "" : s
}

# With a backslash in front of each of these characters.
function escape(s, characters,    i, c, out) {
    for (i = 1; i <= length(s); i++) {
        c = substr(s, i, 1)
        out = out (index(characters, c) ? "\\" : "") c
    }
    return out
}

# Within single quotes of a shell.
function quoted(s,    i, c, out) {
    for (i = 1; i <= length(s); i++) {
        c = substr(s, i, 1)
        out = out (c == "\047" ? "\047\\\047\047" : c)
    }
    return out
}

BEGIN {
    FS = "\t"
}
{
    n++
    short[n] = $1 == "-" ? "" : "-" $1
    long[n] = "--" $2
    arg[n] = or_none($3)
    file[n] = $4 == "file"
    words[n] = file[n] ? "" : or_none($4)
    gsub(/\|/, " ", words[n])
    text[n] = $7
    m = split(or_none($5), alias, "|")
    for (i = 1; i <= m; i++) {
        n++
        short[n] = ""
        long[n] = "--" alias[i]
        other[n] = 1
        arg[n] = arg[n - 1]
        file[n] = file[n - 1]
        words[n] = words[n - 1]
        text[n] = text[n - 1]
    }
}
END {
    if (shell == "bash")
        bash()
    else if (shell == "zsh")
        zsh()
    else
        fish()
}

# -f|--file
function names(i) {
    return short[i] == "" ? long[i] : short[i] "|" long[i]
}

function all_options(    i, s) {
    for (i = 1; i <= n; i++)
        if (!other[i])
            s = s (i > 1 ? " " : "") long[i]
    return s
}

function bash(    i, f, none) {
    f = tool
    gsub(/-/, "_", f)
    print "# " tool " for bash"
    print "_" f "()\n{"
    print "    local cur=${COMP_WORDS[COMP_CWORD]}"
    print "    local prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
    print "    COMPREPLY=()"
    print "    if [[ $cur == = ]]; then"
    print "        cur="
    print "    elif [[ $prev == = ]]; then"
    print "        prev=${COMP_WORDS[COMP_CWORD - 2]}"
    print "    fi"
    print "    case $prev in"
    for (i = 1; i <= n; i++)
        if (words[i] != "") {
            print "    " names(i) ")"
            print "        mapfile -t COMPREPLY < <(compgen -W '" words[i] \
                "' -- \"$cur\")"
            print "        return ;;"
        } else if (arg[i] != "" && !file[i]) {
            none = none (none == "" ? "" : "|") names(i)
        }
    if (none != "")
        print "    " none ")\n        return ;;"
    print "    esac"
    print "    case $cur in"
    print "    -*)"
    print "        mapfile -t COMPREPLY < <(compgen -W '" all_options() \
        "' -- \"$cur\") ;;"
    print "    *)"
    print "        compopt -o filenames 2>/dev/null"
    print "        mapfile -t COMPREPLY < <(compgen -f" \
        (last == "" ? "" : " -W '" last "'") " -- \"$cur\") ;;"
    print "    esac\n}"
    print "complete -F _" f " " tool
}

# Between the brackets of _arguments.
function zsh_text(s) {
    return quoted(escape(s, "[]:\\"))
}

function zsh(    i, how, what) {
    print "#compdef " tool
    print "_arguments -s \\"
    for (i = 1; i <= n; i++) {
        if (other[i])
            continue
        what = "[" zsh_text(text[i]) "]"
        how = words[i] != "" ? ":(" words[i] ")" : file[i] ? ":_files" \
            : ":"
        if (arg[i] != "")
            what = what ":" zsh_text(arg[i]) how
        if (short[i] != "")
            print "    '(" short[i] " " long[i] ")'{" short[i] "," long[i] \
                "}'" what "' \\"
        else
            print "    '" long[i] what "' \\"
    }
    if (last != "")
        print "    '3:word:(" last ")' \\"
    print "    '*:file:_files'"
}

function fish(    i, line) {
    for (i = 1; i <= n; i++) {
        if (other[i])
            continue
        line = "complete -c " tool
        if (short[i] != "")
            line = line " -s " substr(short[i], 2)
        line = line " -l " substr(long[i], 3)
        if (words[i] != "")
            line = line " -x -a '" words[i] "'"
        else if (file[i])
            line = line " -r -F"
        else if (arg[i] != "")
            line = line " -x"
        print line " -d '" escape(text[i], "\\\047") "'"
    }
    if (last != "")
        print "complete -c " tool " -a '" last "'"
}
