# completions.zsh FOLDER <LINES: what zsh on a terminal answers to a tab, with the
# completions of FOLDER. A line is what is typed, and behind " | " each a word that
# must be shown then. Says which were not; ends with 77 without a terminal.
zmodload zsh/zpty && zpty -b shell env TERM=dumb zsh -f -i || exit 77
patience=2000 # hundredths of a second

# True when the words have come, in any order; $shown is all that came.
shows() { # WORD...
    local piece word n=0
    shown=
    while (( n < patience )); do
        if zpty -r -t shell piece; then
            shown+=$piece
            for word; do
                [[ $shown == *"$word"* ]] || continue 2
            done
            return 0
        fi
        sleep 0.01
        (( n++ ))
    done
    return 1
}

zpty -w shell "stty cols 200 -echo; PS1=; fpath=(${(q)1} \$fpath)
    autoload -Uz compinit; compinit -u -D; print REA''DY"
shows READY || exit 77
result=0
while IFS= read -r line; do
    fields=("${(@s: | :)line}")
    zpty -w -n shell "$fields[1]"$'\t'
    shows "${(@)fields[2,-1]}" || {
        print -r -- "$fields[1]: not all of ${(j:, :)fields[2,-1]} in: $shown"
        result=1
    }
    zpty -w -n shell $'\C-u'"print NE''XT"$'\n'
    shows NEXT || exit 1
done
exit $result
