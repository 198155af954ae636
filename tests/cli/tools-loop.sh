# The loop of examples/ask-tools, with a stand-in for a model that asks two
# things at once, then something that is not there, then a malicious one.
command -v jq >/dev/null || { echo "no jq" && exit 77; }
mkdir bin
cat >bin/gg-generate <<'END'
#!/bin/sh
# The answer depends on the number of messages.
talk=$(cat)
n=$(echo "$talk" | jq '.messages | length')
echo "$n messages; $*" | sed 's|/.*/||' >>log
call() {
    jq -nc --arg n "$1" --arg a "$2" --arg i "$3" \
        '{id: $i, type: "function", function: {name: $n, arguments: $a}}'
}
case $n in
1) calls="$(call bc '{"expression":"2^64"}' a),$(call units '{"from":"3 miles","to":"km"}' b)" ;;
4) calls=$(call rm '{"file":"/"}' c) ;;
6) calls="$(call units '{"from":"$(touch owned)","to":"`touch owned`"}' d),$(call bc 'no JSON' e)" ;;
*) echo "$talk" | jq -c '{text: ("It is " + ([.messages[] | select(.role == "tool") | .content] | join("|")))}' && exit ;;
esac
echo "{\"text\":\"\",\"tool_calls\":[$calls]}"
END
printf '#!/bin/sh\necho "units: $*"\n' >bin/units
printf '#!/bin/sh\ntest "$1" != 5 || shift\nread -r x && echo "bc: $x"\n' >bin/timeout
chmod +x bin/*
PATH="$PWD/bin:$PATH" sh "$top_srcdir/examples/ask-tools" 'How far?' 2>/dev/null
echo "[$?]"
cat log
test ! -e owned || echo "a command of the model's ran"
printf '#!/bin/sh\necho "{\\"error\\":\\"no room\\"}"\nexit 3\n' >bin/gg-generate
PATH="$PWD/bin:$PATH" sh "$top_srcdir/examples/ask-tools" 'How far?' >out 2>errors
echo "[$?]"
grep -c 'no room' errors
