# Generation ends before a string; what may be its beginning waits.
"$top_builddir/tests/make_model" llama-f32 model.gguf || exit 99
GG_MODEL=model.gguf
export GG_MODEL
gg-generate -p 'a b' -n 120 -s 5 >all
size=$(wc -c <all)
test "$size" -gt 60 || echo "too little to cut"

# Everything that stands at some place of the text, and two strings at once.
cut_at() {
    head -c "$2" all | tail -c +"$(($1 + 1))"
}
tried=0
for at in 1 7 20 33 49; do
    for len in 1 2 3 9; do
        string=$(cut_at $at $((at + len)); echo x)
        string=${string%x}
        case $string in
        *"
"* | '') continue ;; # grep's lines
        esac
        # Where it stands first, the text ends.
        want=$(LC_ALL=C grep -aboF -- "$string" all | head -n 1 | cut -d: -f 1)
        tried=$((tried + 1))
        gg-generate -p 'a b' -n 120 -s 5 --stop "$string" >got || echo "$?"
        head -c "$want" all | cmp - got || echo "at $at, $len bytes"
        gg-generate -p 'a b' -n 120 -s 5 --stop 'not in there' \
            --stop "$string" --stop "$string, but longer" | cmp - got
    done
done

test $tried -gt 12 || echo "only $tried strings"

# A beginning that does not go on is written after all, at the end as well.
gg-generate -p 'a b' -n 120 -s 5 --stop "$(tail -c 5 all)never" | cmp - all
gg-generate -p 'a b' -n 120 -s 5 --stop "$(head -c 9 all)never" | cmp - all
# Of two that are complete at the same byte, the longer one.
gg-generate -p 'a b' -n 120 -s 5 --stop "$(cut_at 8 10)" \
    --stop "$(cut_at 5 10)" >got
head -c 5 all | cmp - got
# One that begins within what could have become it; a banned one, too.
begins() {
    gg-generate -m "$top_srcdir/demo/gg-story.gguf" -p 'Tom wrote ' \
        --grammar "root ::= $1" "$2" "$3" && echo '|'
}
begins '"aaab and on"' --stop aab
begins '"x\n\n\n# on"' --stop "$(printf '\n\n#')"
begins '"a" ("aab" | "c")' --ban aab
