# /commands in a conversation, from a pipe.
test -f "$GG_MODEL" || { echo "no demo model" >&2 && exit 77; }
echo '{"role":"user","content":""}' | gg-tokenize -q --chat --template alpaca \
    2>&1 | grep 'without Jansson' >&2 && exit 77

# The template shows what it was given: what is asked is what is answered to.
talk() { # lines
    printf '%b' "$1" >lines
    shift
    gg-generate -q -i --commands --template tulu -n 8 -s 1 "$@" <lines 2>words
    status=$?
    grep -v '^Lines are edited\|^This was built' words >&2
    set -- "$status"
    echo "[$1]"
}
same() {
    cmp - want || echo "differs: $*"
}

echo "-- help, and what is no command"
talk '/help\n'
talk '/nonesuch\n/\033[2J x\n/undo\n/again\n/undo x\n/file\n/save\n/load none\n/file none\n/file .\n/save .\n/quit\nnever\n'

echo "-- without --commands they are messages"
printf 'a\n' | gg-generate -q -i --template tulu -n 8 -s 1 >a
{ printf '/undo\n"""\nb\\\n'; } | gg-generate -q -i --template tulu -n 8 -s 1 | wc -l

echo "-- undo: as if it had not been asked"
talk 'a\nb\n' >want
talk 'a\nx\n/undo\nb\n' | sed 2d | same undo
talk 'x\n/undo\na\ny\n/undo\nz\n/undo\nb\n' | sed '1d;3,4d' | same undo more
talk 'x\n/undo\na\nb\n' --shift -c 200 | sed 1d | same undo shift
talk 'x\ny\n/undo\n/undo\n/undo\na\nb\n' 2>err | sed '1,2d;s/3]/0]/' | same undo all
cat err
talk '/undo\na\nb\n' -p x | sed 1d | same undo the first

echo "-- again: with the next seed"
gg-generate -q --chat --template tulu -n 8 -s 2 -p a >second && echo >>second
{ cat a second; echo '[0]'; } >want
talk 'a\n/again\n' | same again
talk 'x\ny\n/undo\n/undo\na\n/again\n' | sed 1,2d | same again after undo
talk 'a\n/again\n/again\nb\n' >all
talk 'a\n/again\n/again\nb\n' | cmp - all
sort -u all | wc -l
# What comes then has that seed, too, and follows the last answer only.
talk 'a\nb\n' -s 3 >want
sed 1,2d all | same goes on

echo "-- save and load"
talk 'a "b"\n\tc\\d\n/save talk.json\n' --system 'Be\nkind.' >said
jq -c '.[] | [.role, .content] | select(.[0] != "assistant")' talk.json
jq -r '.[] | select(.role == "assistant").content' talk.json | cmp - - <<END
$(sed '$d' said)
END
gg-generate -q --messages --template tulu -n 8 -s 1 -f talk.json -v 2>/dev/null >/dev/null
echo "[$?]"
jq '. + [{role: "user", content: "e"}]' talk.json >asked.json
gg-generate -q --messages --template tulu -n 8 -s 1 -f asked.json >want && echo >>want
talk 'x\n/load talk.json\ne\n' | sed '1d;$d' | same load
talk 'x\n/load asked.json\n' | sed '1d;$d' | same load a question
talk '/load asked.json\n/undo\ne\n' | sed '1d;$d' | same undo of a question
talk '/load talk.json\n/undo\n/save less.json\n' >/dev/null
jq 'length' less.json
# Nothing is lost where it fails.
talk 'a\nb\n' >want
printf '[{"role":"user"' >bad.json
echo '[]' >empty.json
talk 'a\n/load bad.json\n/load empty.json\n/load none.json\nb\n' 2>err | sed 's/3]/0]/' | same bad load
sed 's/not JSON:.*/not JSON/' err
echo text >text
cp text was
talk 'a\n/save text\n/save no/such/folder\nb\n' 2>err | sed 's/3]/0]/' | same bad save
cat err
cmp text was
ls talk.json.* text.* 2>/dev/null

# A link stays one, and a file keeps its mode.
umask 022
echo '[]' >real.json
chmod 640 real.json
ln -s real.json link.json
talk 'a\n/save link.json\n/save new.json\n' >/dev/null
ls -l real.json new.json | cut -c 1-10
test -h link.json && jq length link.json

echo "-- system"
gg-generate -q --chat --template tulu --system 'Be kind.' -n 8 -s 1 -p a >want && echo >>want
talk '/system Be kind.\na\n' | sed '$d' | same system
talk '/system Be bad.\n/system  Be kind. \na\n' | sed '$d' | same another
cp a want
talk '/system\na\n' --system 'Be bad.' | sed '$d' | same none
talk 'a\n/system Be kind.\n/save s.json\n/undo\n/save t.json\n' >/dev/null
jq -c 'map(.role)' s.json t.json

echo "-- rows"
row() { # lines, the message
    talk "$1/save row.json\n" >/dev/null
    jq -c '.[0].content' row.json
}
row 'a\\\nb\\\n\nx\n'
row '"""\na\n\n/undo\\\nb\n"""\n'
row '"""a\nb"""\n'
row '"""a"""\n'
row '"""\n\na\n\n"""\n'
row '//a\n'
row '"""/a"""\n'
row '"""\n//a\n"""\n'
talk '"""\nnever ended' | wc -l
talk 'a\\\n' | wc -l

echo "-- file"
printf 'one\ntwo' >one
printf 'three\n' >three
row '/file one\nthen\n'
row '/file one\n/file three\n\n'
row '/file one\n/file none\nx\n' 2>/dev/null

echo "-- a state"
gg-generate -q --chat --template tulu --save s -n 8 -s 1 -p a >/dev/null
talk '/system x\n/save x.json\n/undo\nb\nc\n/undo\nc\n' --load s >got
sed -n 2p got >want
sed -n 3p got | same after undo
ls x.json 2>/dev/null

echo "-- a state is saved as if what was undone had not been"
talk 'a\n' --save want >/dev/null
talk 'a\nb\nc\n/undo\n/undo\n' --save undone >/dev/null
same <undone
talk 'a\n/undo\n' --save none
ls none 2>/dev/null
mkdir home
HOME=$PWD/home
export HOME
talk 'a\n/save ~/x\n' >/dev/null && jq length home/x

echo "-- a template that refuses"
printf '%s' '{% for m in messages %}{% if m.role == "system" %}{{ raise_exception("none") }}{% endif %}{{ m.content }}{% endfor %}' >no.jinja
talk 'a\nb\n' --template no.jinja >want
talk 'a\n/system x\nb\n/system\nb\n' --template no.jinja 2>err | sed '2d;s/3]/0]/' | same refused
cat err
echo '[{"role":"system","content":"x"},{"role":"user","content":"y"}]' >refused.json
talk 'a\n/load refused.json\nb\n' --template no.jinja 2>err | sed 's/3]/0]/' | same refused file
cat err
echo "-- a message that has no room"
yes word | head -n 200 >long
talk 'a\nb\n' -c 60 >want
talk 'a\n/file long\n\nb\n' -c 60 2>err | sed '2d;s/3]/0]/' | same too long
cat err
talk 'a\n/file long\n\nb\n' -c 60 --choice 'x, y' 2>err
cat err
talk 'a\nb\n' -c 60 --choice 'x, y'
gg-generate --commands -p a
echo "[$?]"
