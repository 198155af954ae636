# Images and sounds that messages bring: data: URLs, files below --media-dir,
# nothing that is to be fetched; what fails is an error of its record.
tests=$top_builddir/tests
"$tests/make_model" llama-f32 model.gguf || exit 99
"$tests/make_projector" image 64 mmproj.gguf || exit 99
"$tests/make_projector" sound 64 ears.gguf || exit 99
GG_MODEL=model.gguf
export GG_MODEL
echo '{"role":"user","content":""}' | gg-tokenize -q --chat --template alpaca \
    2>&1 | grep 'without Jansson' >&2 && exit 77
printf '%s' '{% for m in messages %}<{{ m.role }}>{% if m.content is string %}{{ m.content }}{% else %}{% for p in m.content %}{% if p.type == "image" %}<|image_pad|>{% elif p.type == "audio" %}<|audio|>{% else %}{{ p.text }}{% endif %}{% endfor %}{% endif %}{% endfor %}<assistant>' >vl.jinja
printf '%s' '{% for m in messages %}{% for p in m.content %}{{ p.text }}{% endfor %}{% endfor %}' >none.jinja
mkdir -p see/in && ln -s in see/way && ln -s .. see/out && ln -s ../secret.ppm see/link
printf 'P6\n2 2\n255\nabcdefghijkl' | tee see/a.ppm see/in/a.ppm >secret.ppm
printf 'P6\n2 2\n255\nABCDEFGHIJKL' >see/b.ppm
{
    printf 'RIFF\44\6\0\0WAVEfmt \20\0\0\0\1\0\1\0\200\76\0\0\0\175\0\0\2\0\20\0data\0\6\0\0'
    seq 999 | head -c 1536
} >see/s.wav
a64=UDYKMiAyCjI1NQphYmNkZWZnaGlqa2w=
say() { # PART...: a message, with a text that spells the placeholder
    echo "{\"role\":\"user\",\"content\":[$1,{\"type\":\"text\",\"text\":\"<|image_pad|>\"}]}"
}
image() { say "{\"type\":\"image_url\",\"image_url\":{\"url\":\"$1\"}}"; }
ids() { gg-tokenize -q --chat --template vl.jinja "$@"; }

echo "-- forms of parts"
{
    image "data:image/x-portable-pixmap;base64,$a64"
    image "DATA:;name=a.ppm;BASE64,${a64%=}"
    image "data:,P6%0A2%202%0A255%0Aabcdefghijkl"
    image a.ppm
    image ./in//a.ppm
    image way/a.ppm
    image "file:$PWD/see/a.ppm"
    image "file://localhost$PWD/see/%61.ppm"
    image "$PWD/see/a.ppm"
    image "file://in/a.ppm"
    say '{"type":"image_url","image_url":"a.ppm"}'
    say '{"type":"input_image","image_url":"a.ppm"}'
    say '{"type":"image","image":"a.ppm"}'
    say '{"type":"image","url":"file:a.ppm"}'
    say '{"type":"image","path":"a.ppm"}'
    say '{"type":"image","base64":"'$a64'"}'
    say '{"type":"image","source":{"type":"base64","media_type":"image/png","data":"'$a64'"}}'
} >forms
ids --lines --mmproj mmproj.gguf --media-dir see forms >got
head -n 1 got
tail -n +2 got | cut -f 2- | uniq -c
image b.ppm >b
wav=$(base64 -w 0 see/s.wav)
{
    say '{"type":"input_audio","input_audio":{"data":"'$wav'","format":"wav"}}'
    say '{"type":"audio_url","audio_url":{"url":"s.wav"}}'
    say '{"type":"audio","audio":"s.wav"}'
} | ids --lines --mmproj ears.gguf --media-dir see | tail -n +2 | cut -f 2- |
    uniq -c | cut -c 1-40

echo "-- refused, one by one"
{
    image http://example.org/a.png
    image HTTPS://example.org/a.png
    image ftp://example.org/a.png
    image file://example.org/a.png
    image ../secret.ppm
    image in/../a.ppm
    image "$PWD/secret.ppm"
    image "$PWD/seen/a.ppm"
    image link
    image out/secret.ppm
    image in
    image ''
    image none.ppm
    image 'a.ppm%00'
    image 'file:a%0'
    image 'file:a%00.ppm'
    image data:image/png
    image 'data:;base64,AAAA!'
    image 'data:,'
    image 'data:,GIF89a'
    image s.wav
    say '{"type":"image_url"}'
    say '{"type":"input_audio","input_audio":{"data":"'$wav'"}}'
    image a.ppm
} >bad
ids --lines --mmproj mmproj.gguf --media-dir see bad 2>&1 >got |
    sed "s|$PWD|HERE|; s/^gg-tokenize: bad: //"
grep -v '!' got
image a.ppm | ids
image a.ppm | ids --template none.jinja --media-dir see
image a.ppm | ids --template alpaca --media-dir see
image a.ppm | ids --media-dir nowhere
image a.ppm | ids --lines
image a.ppm | ids --mmproj ears.gguf --media-dir see
ids --mmproj mmproj.gguf --rows x --media-dir see forms
rm mmproj.gguf
image a.ppm | ids --media-dir see
