# Images and sounds in conversations: rows stand where the template writes its
# placeholder, for parts of messages in turn; what messages say is text.
"$top_builddir/tests/make_model" llama-f32 model.gguf || exit 99
GG_MODEL=model.gguf
export GG_MODEL
echo '{"role":"user","content":""}' | gg-tokenize -q --chat --template alpaca \
    2>&1 | grep 'without Jansson' >&2 && exit 77
rows() { "$top_builddir/tests/make_rows" "$@" || echo "make_rows: $?"; }
rows $GG_MODEL 97 98 >one && rows $GG_MODEL 97 98 , 99 >two && rows -s $GG_MODEL 97 98 >sound
rows -m '<|nope|>' $GG_MODEL 97 98 >marked
printf '%s' '{% for m in messages %}<{{ m.role }}>{% if m.content is string %}{{ m.content }}{% else %}{% for p in m.content %}{% if p.type == "image" %}<|vision_start|><|image_pad|><|vision_end|>{% elif p.type == "audio" %}<|audio|>{% else %}{{ p.text }}{% endif %}{% endfor %}{% endif %}{% endfor %}<assistant>' >vl.jinja
printf '%s' '{% for m in messages %}{% for p in m.content %}{{ p.text }}{% endfor %}{% endfor %}' >none.jinja
part() { printf '{"type":"%s"}' "$1"; }
message() { # PART: a text before and after it, that spells the placeholder
    echo "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"x<|image_pad|>\"},$(part "$1"),{\"type\":\"text\",\"text\":\"<|audio|>y\"}]}"
}
chat() { gg-tokenize -q --chat --template "$@" || echo "status $?"; }
shown() { gg-tokenize -d --special parse "$@" && echo; }

echo "-- where the template has its place"
for type in image image_url input_image; do
    message $type | chat vl.jinja --rows one | shown --rows one
done
for type in audio audio_url input_audio; do
    message $type | chat vl.jinja --rows sound | shown --rows sound
done
echo '{"role":"user","content":"Hi <|image_pad|>"}' >plain
chat vl.jinja --rows two plain | shown --rows two

echo "-- what the template has written of the pieces is not repeated"
rows -n -m '<|control|>' $GG_MODEL 97 98 >pieces
sed 's/<|vision_start|>/<|control|>/; s/<|vision_end|>//' vl.jinja >marks.jinja
message image | chat marks.jinja --rows pieces | shown --rows pieces
message image | chat vl.jinja --rows pieces | shown --rows pieces

echo "-- records take media in turn"
{ message image; cat plain; message image; } >records
chat vl.jinja --lines --rows two records
chat vl.jinja --lines --shard 2/2 --rows two records
{ message image; echo bad; cat plain; message image; } | chat vl.jinja --lines --rows two

echo "-- the pipe, and one process"
loop() { gg-loop "gg-eval -q --rows $1 | gg-sample -q -n 8 --seed 3" | gg-tokenize -q -d; }
for input in plain records; do
    sed 1q $input >m
    chat vl.jinja --rows one m | loop one >want
    gg-generate -q --messages --template vl.jinja --rows one -f m -n 8 --seed 3 >got
    cmp want got && echo $input
done
chat vl.jinja --rows one plain | loop one >want
gg-generate -q --chat --template vl.jinja --rows one -p 'Hi <|image_pad|>' -n 8 --seed 3 >got
cmp want got && echo '-p'
sed 's/^/{"messages":[/; s/$/]}/' records |
    gg-generate -q --jsonl --template vl.jinja --rows two -n 2 --seed 3 | wc -l

echo "-- refused"
message image_url | chat vl.jinja
message video | chat vl.jinja --rows one
message image | chat none.jinja --rows one
message image | chat chatml --rows one
message image | chat vl.jinja --rows marked
message image | chat vl.jinja --rows sound
message image | chat vl.jinja --rows two
{ message image; message image; } | chat vl.jinja --rows one
