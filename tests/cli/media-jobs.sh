# Jobs whose messages bring images: the same bytes with any batch, threads,
# parts and runs, in the pipe and in a conversation; and states without rows.
. "$top_srcdir/tests/cli/see.inc"
printf '%s' '{% for m in messages %}<{{ m.role }}>{% if m.content is string %}{{ m.content }}{% else %}{% for p in m.content %}{% if p.type == "image" %}<|image_pad|>{% else %}{{ p.text }}{% endif %}{% endfor %}{% endif %}{% endfor %}<assistant>' >vl.jinja
record() { # PARTS [MEMBERS]
    echo "{\"messages\":[{\"role\":\"user\",\"content\":[$1,{\"type\":\"text\",\"text\":\"what?\"}]}]${2-}}"
}
a=$(part a.ppm) b=$(part b.ppm)
{
    record "$a"
    record "$(part nowhere.ppm)"
    record "$b,$a"
    record "$(part data:,P6%0A2%202%0A255%0Aabcdefghijkl)" ',"n":2,"seed":5'
    record "$(part data:,P6)"
    record '{"type":"text","text":"no image"}'
    record "$a,$a"
} >job
run() { gg-generate -q --template vl.jinja --media-dir see "$@"; }

echo "-- the same bytes"
run --jsonl -n 4 -s 1 --batch 1 -t 1 job >want
for options in '--batch 4 -t 2' '--batch 8 -t 3'; do
    run --jsonl -n 4 -s 1 $options job 2>/dev/null | cmp - want && echo "$options"
done
for i in 1 2; do
    run --jsonl -n 4 -s 1 --shard $i/2 --resume part.$i job 2>/dev/null
done
paste -d '\n' part.1 part.2 | grep . | cmp - want && echo shards
head -n 3 want >part
run --jsonl -n 4 -s 1 --resume part job 2>/dev/null
cmp part want && echo resumed
grep -c '"error"' want
gg-generate --template vl.jinja --media-dir see --jsonl -n 4 -s 1 -v job 2>&1 >/dev/null |
    grep 'of messages'

echo "-- OpenAI's batch files"
body() { echo "{\"custom_id\":\"$1\",\"method\":\"POST\",\"url\":\"/v1/chat/completions\",\"body\":$(record "$2" ',"seed":3,"max_tokens":4')}"; }
{ body a "$a" && body b "$(part none.ppm)"; } | run --jsonl --date 2026-01-01 | 
    grep -o '"custom_id":"[ab]"\|"prompt_tokens":[0-9]*\|"message":"[^"]*"'
record "$a" | run --jsonl -c 8 -n 1 | grep -o '"error":.*'

echo "-- the pipe, and one process"
record "$a" >m
gg-encode see/a.ppm >a.rows
gg-tokenize -q --chat --template vl.jinja --media-dir see m |
    gg-loop 'gg-eval -q --rows a.rows | gg-sample -q -n 4 --seed 3' | gg-tokenize -q -d >want
run --messages -n 4 -s 3 m | cmp - want && echo messages
run --chat --image see/a.ppm -p 'what?' -n 4 -s 3 | cmp - want && echo --image
record "$a,$b" >both
run --messages -n 4 -s 3 both >want2
run --messages --image see/b.ppm -n 4 -s 3 m | cmp - want2 && echo 'behind its own'

echo "-- states go on without rows"
run --chat --image see/a.ppm -p 'what?' -n 4 -s 3 --save state >/dev/null
printf '%s\n' '/image see/a.ppm' 'what?' 'and?' | run -i --commands -n 4 -s 3 >talk
tail -n 1 talk >want2
run --chat --load state -p 'and?' -n 4 -s 3 --save more --newline | cmp - want2 && echo as in a conversation
run --chat --load more -p 'more' -n 4 -s 3 | wc -c
echo '{"prompt":"x","n":2}' | run --jsonl --load state -n 2 -s 1 | grep -c text

echo "-- /image and /audio"
printf '%s\n' '/image see/a.ppm' '/image none' '/audio see/a.ppm' 'what?' '/image see/b.ppm' \
    '' /undo /again '/image' '/save saved' '/load saved' /quit |
    run -i --commands -n 4 -s 3 >talk
head -c 4 talk | cmp - want
wc -l <talk
grep -c '{"type":"image"}' saved
echo '/image see/a.ppm' | run -i --commands --mmproj none.gguf -n 4

echo "-- -p"
gg-tokenize -p 'ab c'
gg-tokenize --chat --template vl.jinja --text -p 'ab c' && echo
gg-tokenize -q --chat --template vl.jinja --media-dir see m >m.ids
gg-tokenize -q --chat --template vl.jinja --rows a.rows -p 'what?' | cmp - m.ids
gg-tokenize -p x m
gg-tokenize -p x --lines
gg-tokenize -p ''
