# draft-same.sh - texts with drafts are those without: for tests of gg-generate,
# read by them with `.`
text='a b a b a b c d a b a b'
printf 'a b\nc d e\nb\na a a a\n' >lines
same() { # MODEL DRAFT OPTION...
    model=$1 draft=$2
    shift 2
    gg-generate -m $model "$@" >want 2>want.err
    gg-generate -m $model "$@" --draft $draft >got 2>got.err
    cmp got want && cmp got.err want.err || echo "$model, $draft: $*"
}
# A state has no hidden vectors of drafts.
same_state() { # MODEL DRAFT
    for draft in '' "--draft $2"; do
        rm -f state
        for part in "$text" ' and' ' so'; do
            gg-generate -m $1 --state state -p "$part" -n 30 -s 2 $draft
        done >made"$draft"
    done
    cmp made "made--draft $2" && echo same
}
