# completions.awk - what a tool's --help says, as a completion for a shell
#
#     gg-eval --help | awk -v tool=gg-eval -v shell=bash -f completions.awk
#
# A line of --help that begins with an option is one; a word in capitals behind
# it is its argument. Arguments that are files are completed as such, and those
# whose words stand in the text ("text, jsonl or npz (default)") by these.

function trim(s) {
    gsub(/^ +| +$/, "", s)
    return s
}

# The words that an argument may be; empty: the text does not list them.
function words_of(arg, text,    part, n, i, list) {
    if (arg !~ /^(KIND|TYPE|FORM|DEVICE|T)$/)
        return ""
    sub(/^.*: /, "", text)
    gsub(/ \(default\)/, "", text)
    gsub(/ or /, ", ", text)
    n = split(text, part, /, */)
    sub(/^.* /, "", part[1])
    sub(/ .*$/, "", part[n])
    for (i = 1; i <= n; i++) {
        if (part[i] !~ /^[a-z0-9_]+(:N)?$/)
            return ""
        if (part[i] !~ /:N$/)
            list = list (list == "" ? "" : " ") part[i]
    }
    return n > 1 ? list : ""
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

function is_file(arg) {
    return arg ~ /^(FILE|MODEL|LIST|DIR|IN|OUT|STREAM|A|B)$/
}

function finish() {
    if (!n)
        return
    words[n] = words_of(arg[n], text[n])
}

/^  (-[A-Za-z0-9], |    )--[a-z]/ {
    finish()
    n++
    line = $0
    short[n] = line ~ /^  -/ ? substr(line, 3, 2) : ""
    sub(/^ *(-[A-Za-z0-9], )?/, "", line)
    match(line, /^--[a-z0-9-]+/)
    long[n] = substr(line, 1, RLENGTH)
    line = substr(line, RLENGTH + 1)
    if (match(line, /^ [A-Z][A-Z0-9]*(=[A-Z]+)?/)) {
        arg[n] = substr(line, 2, RLENGTH - 1)
        line = substr(line, RLENGTH + 1)
    }
    text[n] = line ~ /^, --/ ? "" : trim(line)
    while (match(line, /^, --[a-z0-9-]+( [A-Z]+)?/)) { # others alike
        split(substr(line, 3, RLENGTH - 2), part, " ")
        line = substr(line, RLENGTH + 1)
        finish()
        n++
        short[n] = ""
        long[n] = part[1]
        arg[n] = part[2]
        text[n] = line ~ /^, --/ ? "" : trim(line)
    }
    next
}
n && /^            / {
    text[n] = trim(text[n] " " trim($0))
    next
}
{ finish() }

END {
    finish()
    for (i = n - 1; i > 0; i--)
        if (text[i] == "")
            text[i] = text[i + 1]
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
        } else if (arg[i] != "" && !is_file(arg[i])) {
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
    print "        mapfile -t COMPREPLY < <(compgen -f -- \"$cur\") ;;"
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
        what = "[" zsh_text(text[i]) "]"
        how = words[i] != "" ? ":(" words[i] ")" : is_file(arg[i]) ? ":_files" \
            : ":"
        if (arg[i] != "")
            what = what ":" zsh_text(arg[i]) how
        if (short[i] != "")
            print "    '(" short[i] " " long[i] ")'{" short[i] "," long[i] \
                "}'" what "' \\"
        else
            print "    '" long[i] what "' \\"
    }
    print "    '*:file:_files'"
}

function fish(    i, line) {
    for (i = 1; i <= n; i++) {
        line = "complete -c " tool
        if (short[i] != "")
            line = line " -s " substr(short[i], 2)
        line = line " -l " substr(long[i], 3)
        if (words[i] != "")
            line = line " -x -a '" words[i] "'"
        else if (is_file(arg[i]))
            line = line " -r -F"
        else if (arg[i] != "")
            line = line " -x"
        print line " -d '" escape(text[i], "\\\047") "'"
    }
}
