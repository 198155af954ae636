# What a schema or a grammar leaves no choice of is drafted without an option:
# fewer evaluations, and the same bytes.
schema='{"type":"object","properties":{"first_name":{"type":"string",
    "maxLength":6},"favourite_number":{"type":"integer","minimum":0,
    "maximum":99},"is_married":{"type":"boolean"}},"required":["first_name",
    "favourite_number","is_married"],"additionalProperties":false}'
grammar='root ::= "The answer of this question is " ("yes" | "no") " indeed."'
printf 'a\nOnce\nTom\n' >lines
accepted() {
    sed -n 's/.*draft:.*drafted, \([0-9]*\) accepted.*/\1/p' err
}
same() { # OPTION... : as without drafts; some are accepted
    gg-generate -v -s 2 -n 90 "$@" --draft none >want 2>err
    test -z "$(accepted)" || echo "none drafts: $*"
    for draft in '' '--draft prompt' "--draft $GG_MODEL"; do
        gg-generate -v -s 2 -n 90 "$@" $draft >got 2>err
        cmp got want && test "$(accepted)" -gt 0 || echo "$draft: $*"
    done
}
for o in '' --greedy '--mirostat 2' '--repeat-penalty 1.2 --logprobs 2'; do
    same -p Tom --json-schema "$schema" $o 3>/dev/null
done
same -p Tom --grammar "$grammar"
same -p Tom --json-schema "$schema" --stop married
same --lines -f lines --json-schema "$schema"
same --lines -f lines --json-schema "$schema" --batch 1
