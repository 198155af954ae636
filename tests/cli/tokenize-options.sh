# --help and --version, -v and -q.
gg-tokenize --help | sed -n 1p
gg-tokenize -V | sed 's/[0-9][0-9.]*$/N/'
echo hello | gg-tokenize -v 2>&1 >/dev/null |
    sed "s|$GG_MODEL|MODEL|; s/ [0-9]* tokens/ N tokens/; s/ [0-9]* ids/ N ids/"
# The last of --bos and --no-bos counts.
echo hello | gg-tokenize --no-bos >want
echo hello | gg-tokenize --bos --no-bos | cmp - want
echo hello | gg-tokenize --no-bos --special parse | cmp - want
echo hello | gg-tokenize --no-bos - | cmp - want
echo hello | gg-tokenize --no-bos -f - | cmp - want
