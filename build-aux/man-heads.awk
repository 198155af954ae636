# man-heads.awk - the heads of a page's list of options, with the letters, names
# and aliases that the tool's table has; what their arguments are called is the
# page's:
#
#     gg-X --list-options >rows && awk -f man-heads.awk rows gg-X.1
BEGIN { FS = "\t" }
NR == FNR { # letter, name, argument, values, aliases
    gsub(/\|/, " , -", $5)
    head[$2] = ($1 == "-" ? "" : "Fl " $1 " , ") "Fl -" $2 \
        ($5 == "-" ? "" : " , -" $5)
    next
}
/^\.It Fl/ { print heads($0); next }
{ print }

# ".It Fl m , Fl -model Ar model , Fl -other": a part between commas is a letter, a
# name with what follows it, or an alias.
function heads(line,   n, i, part, name, out) {
    n = split(substr(line, 5), part, " , ")
    for (i = 1; i <= n; i++) {
        name = part[i]
        sub(/^(Fl )?-?/, "", name)
        sub(/ .*/, "", name)
        if (name in head)
            out = out (out == "" ? ".It " : " , ") head[name]
        if (out != "" && match(part[i], / (Ar|Ns) .*/))
            out = out substr(part[i], RSTART)
    }
    return out == "" ? line : out
}
