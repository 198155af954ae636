# Keys are set and taken away, in place where that is possible.
"$top_builddir/tests/make_model" llama-q8_0 m.gguf || exit 99
cp m.gguf before.gguf
value() {
    gg-inspect --metadata m.gguf | grep "$1"
}
inode() {
    ls -i m.gguf | cut -d ' ' -f 1
}
printf '1 5 9\n' | gg-eval -m m.gguf >want

# The same length: the file stays, but for the value.
i=$(inode)
gg-convert --set llama.rope.freq_base=20000 m.gguf && value freq_base
test "$i" = "$(inode)" || echo "moved"
cmp -l before.gguf m.gguf | wc -l
gg-convert --set llama.rope.freq_base=10000 m.gguf && cmp before.gguf m.gguf

# Longer metadata: a new file with the same data.
gg-convert --set general.name='A name that is long enough to need a new place' \
    --set x.small=7 --set x.less=-7 --set x.real=0.5 --set x.yes=true \
    --set x.text=word --set x.wide=u64:18446744073709551615 \
    --set x.byte=i8:-128 --set x.number=str:12 --unset llama.context_length \
    --set llama.context_length=u32:77 m.gguf
value 'x\.\|general.name\|context_length'
printf '1 5 9\n' | gg-eval -m m.gguf | cmp - want
gg-convert --unset x.small --unset x.text m.gguf && value 'x\.'

# The new file may be read by no one else than the old one.
chmod 600 m.gguf && gg-convert --unset x.yes --set x.yes=true \
    --set general.name='A name that takes another place' m.gguf &&
    ls -l m.gguf | cut -c 1-10
gg-convert m.gguf m.gguf && ls -l m.gguf | cut -c 1-10

# The last word counts; a type that a key has stays.
gg-convert --set x.byte=1 --set x.byte=2 --set x.real=3 m.gguf && value 'x\.'
gg-convert m.gguf --set general.name=copy new.gguf && gg-inspect new.gguf |
    grep ^name

# What makes no sense changes nothing.
cp m.gguf before.gguf
for o in '--set x.byte=128' '--set x.byte=u8:-1' '--set x.yes=maybe' \
    '--set x.real=much' '--set novalue' '--unset no.such' '--set =1' \
    '--set general.alignment=64' '--set x.wide=18446744073709551616' \
    '--set tokenizer.ggml.tokens=1' '--set x.new=f32:1e99'; do
    gg-convert $o m.gguf; echo $?
done
gg-convert m.gguf; echo $?
gg-convert; echo $?
gg-convert a b c; echo $?
gg-convert --set a=1 none.gguf; echo $?
cmp before.gguf m.gguf
ls
