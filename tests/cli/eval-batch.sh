# Lines that are evaluated together give the same bytes as line by line,
# however they arrive; what goes wrong takes no neighbour with it.
"$top_builddir/tests/make_model" llama-q8_0 model.gguf || exit 99
GG_MODEL=model.gguf
export GG_MODEL

# Two sequences in one place, and lines of one sequence side by side, too.
awk -v count=300 -f "$top_srcdir/tests/cli/sequences.awk" >lines
compare() {
    gg-eval $1 --batch 1 lines >want 2>want.err && echo "nothing failed"
    for n in 2 8 40; do
        gg-eval $1 --batch $n lines >got 2>got.err && echo "nothing failed"
        cmp got want && cmp got.err want.err
    done
    gg-eval $1 --slots 3 lines 2>/dev/null | cmp - want
    gg-eval $1 --slots 3 --batch 2 -t 3 lines 2>/dev/null | cmp - want
    gg-eval $1 --batch 5 --batch-size 7 lines 2>/dev/null | cmp - want
    grep -q "$2" want.err || echo "none: $2"
}
options='-c 80'
compare "$options" 'context is full'
compare '--remember 400 --keep 9' 'ids were forgotten'

# Other families: learned positions, windows, blocks side by side, mixtures.
head -n 80 lines >some
for kind in gpt2-f16 gemma2-f32 falcon-q8_0 qwen2moe-f32 gpt-oss-f32; do
    "$top_builddir/tests/make_model" $kind other.gguf || exit 99
    for type in f16 f32; do
        o="-m other.gguf --cache-type $type -c 60 --shift"
        gg-eval $o --batch 1 --keep 9 some >want 2>/dev/null
        gg-eval $o --batch 8 --keep 9 some 2>/dev/null | cmp - want
    done
done

# Lines that come slowly, and in pieces that end anywhere.
head -n 40 lines >some
gg-eval $options --batch 1 some >want 2>/dev/null
awk '{ text = text $0 "\n" }
    END { while (text != "") {
        n = 1 + int(60 * rand())
        printf "%s", substr(text, 1, n)
        fflush()
        text = substr(text, n + 1)
        system("sleep 0.00" int(6 * rand())) } }' some |
    gg-eval $options 2>/dev/null | cmp - want

# What is there is answered before more comes.
mkfifo in out
gg-eval --batch 8 --top 1 <in >out &
exec 3>in 4<out
printf '1\t1 2\n2\t3\n2\t4' >&3
timeout 60 head -n 4 <&4 | cut -f 1,2
printf ' 5\n' >&3
timeout 60 head -n 2 <&4 | cut -f 1,2
exec 3>&- 4<&-
wait $!

# A last line that is no line at all: the others were answered.
printf '1\t1\n2\t2\nx' | gg-eval --top 1 2>/dev/null | cut -f 1,2

# In a loop: the same ids for each sequence.
for s in 1 2 3 4 5; do
    printf '%d\t1 2 3 %d\n' $s $s
done >five
for n in 1 5; do
    for b in 1 2 8; do
        gg-loop --batch $n "gg-eval --batch $b |
            gg-sample -n 20 --seed 3 --ignore-eog" <five |
            sort -n -s -k 1,1 >got.$n.$b
        cmp got.$n.$b got.1.1
    done
done
grep -c '	[0-9]' got.1.1
