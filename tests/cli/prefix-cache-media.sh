# The prefix cache of prompts with images: the same bytes with it, past the
# images, in the first record and in others; another image is not found
. "$top_srcdir/tests/cli/see.inc"
printf '%s' '{% for m in messages %}{% for p in m.content %}{% if p.type == "image" %}<|image_pad|>{% else %}{{ p.text }}{% endif %}{% endfor %}{% endfor %}<assistant>' >vl.jinja
text=$(yes 'a red ball and a girl' | head -n 12 | tr '\n' ' ')
record() { # IMAGE QUESTION
    printf '%s\n' "{\"messages\":[{\"role\":\"user\",\"content\":[$(part "$1"),
        {\"type\":\"text\",\"text\":\"$text$2\"}]}]}" | tr -d '\n'
    echo
}
run() { # WHAT JOB OPTION...
    what=$1 job=$2
    shift 2
    gg-generate -v --device cpu --template vl.jinja --media-dir see --jsonl \
        -c 900 -n 4 -s 1 -t 1 "$@" "$job" 2>log >out
    cmp out "want.$job"
    sed -n "s/.*cache of prefixes: \([0-9]*\) ids read.*/$what: \1/p" log
}
record a.ppm 'what?' >one
record a.ppm 'who?' >two
record b.ppm 'what?' >three
{ record b.ppm 'when?' && record a.ppm 'when?'; } >four
for job in one two three four; do
    : >"want.$job"
    run none $job 2>/dev/null >/dev/null
    cp out "want.$job"
done
run 'a prompt' one --cache c
run 'the same' one --cache c | awk '{ print ($NF > 200) }'
run 'another question' two --cache c | awk '{ print ($NF > 200) }'
run 'another image' three --cache c | awk '{ print ($NF < 20) }'
run 'both, in another order' four --cache c --batch 2 |
    awk '{ print ($NF > 400) }'
