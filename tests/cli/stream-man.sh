# What gg-stream(5) shows is true: its member is read, and its program reads.
page=$top_srcdir/man/gg-stream.5
grep -E '^([0-9a-f]{2} ){7,15}[0-9a-f]{2}$' "$page" | tr ' ' '\n' |
    while read -r byte; do
        printf "\\$(printf %o "0x$byte")"
    done >member
gg-sample --greedy member
python3 -c 'import numpy' 2>/dev/null || { echo NumPy is not installed >&2; exit 77; }
sed -n '/^import .*struct/,/^\.Ed/p' "$page" | grep -v '^\.' | sed 's/\\e/\\/g' >argmax.py
python3 argmax.py <member
export FAKE_EVAL_EOG=none
seq 50 | fake_eval -v 1001 >stream
gg-sample --greedy stream >ids
python3 argmax.py <stream | cmp - ids
wc -l ids
