# talk.sh - a question, and calls of tools until there is an answer: for scripts
# that read it (.) and have a function call_tool NAME ARGUMENTS to set $result
fail() {
    echo "${0##*/}: $*" >&2
    exit 1
}
json() { printf '%s\n' "$1" | jq "$2" "$3"; } # echo would read backslashes

need() { # PROGRAM...
    for program; do
        command -v "$program" >/dev/null || fail "$program is needed"
    done
}

# The comment at the script's begin, where there is no word or --help.
usage() { # WORD
    case ${1-} in
    '' | -h | --help) ;;
    *) return ;;
    esac
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
    test "${1-}" && exit
    exit 2
}

# Writes the answer; TOOLS is a file. Values go through pipes, since words of a
# command have at most 128 KiB.
talk() { # TOOLS [OPTION]... QUESTION
    tools=$1
    shift
    n=$#
    for word; do # the last one is the question
        shift
        if test $n = 1; then question=$word; else set -- "$@" "$word"; fi
        n=$((n - 1))
    done
    messages=$(printf %s "$question" | jq -Rsc '[{role: "user", content: .}]')
    while
        answer=$(printf '{"messages":%s,"max_tokens":1000}\n' "$messages" |
            gg-generate -q --jsonl --tools "$tools" "$@")
        status=$?
        test "$answer" || fail "gg-generate ended with status $status"
        json "$answer" -e 'has("error") | not' >/dev/null ||
            fail "$(json "$answer" -r '.error | .message? // .')"
        calls=$(json "$answer" -ce '.tool_calls[]?')
    do
        messages=$(printf '%s\n' "$messages" "$answer" | jq -sc '.[0] +
            [.[1] | {role: "assistant", content: .text, tool_calls}]')
        while read -r call; do
            call_tool "$(json "$call" -r .function.name)" \
                "$(json "$call" -r .function.arguments)" </dev/null
            messages=$({ printf '%s\n' "$messages" "$call"
                printf %s "$result" | jq -Rs .; } | jq -sc '.[0] +
                [{role: "tool", tool_call_id: .[1].id, name: .[1].function.name,
                  content: .[2]}]')
        done <<END
$calls
END
    done
    json "$answer" -r '.text // ""'
}
