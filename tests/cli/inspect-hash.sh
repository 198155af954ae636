# --hash is what sha256sum says of the bytes; order, shards and threads do not
# count; --hash-check.
make_model llama-q8_0 model.gguf && make_gguf nasty >nasty.gguf || exit 99
gg-inspect --hash model.gguf >list 2>said || {
    cat said >&2
    grep -q 'nettle' said && exit 77
    exit 99
}
hash_of() { # a tensor of a file
    gg-inspect --tensor "$1" model.gguf >shown
    at=$(awk '$1 == "offset" { print $2 }' shown)
    n=$(awk '$1 == "bytes" { print $2 }' shown)
    { awk '$1 == "type" { t = $2 }
          $1 == "shape" { $1 = ""; gsub(/ /, ""); print t, $0 }' shown
      tail -c +$((at + 1)) model.gguf | head -c "$n"; } | sha256sum | cut -c 1-64
}
for t in token_embd.weight blk.1.ffn_norm.weight blk.0.attn_k.weight; do
    test "$(hash_of $t)" = "$(awk -v t=$t '$2 == t { print $1 }' list)" || echo $t
done
whole() { awk -v n="*$1" '$2 == n { print $1 }' list; }
grep -v '\*' list | LC_ALL=C sort | sha256sum | cut -c 1-64 | diff - - <<END
$(whole tensors)
END
gg-inspect --hash --metadata model.gguf >keys
grep '\*key:' keys | LC_ALL=C sort | sha256sum | cut -c 1-64 | diff - - <<END
$(whole metadata)
END
grep '\*[mt]e[t n]' list | grep -v '\*model' | LC_ALL=C sort | sha256sum |
    cut -c 1-64 | diff - - <<END
$(whole model)
END
name=$(gg-inspect -k general.architecture model.gguf)
printf 'str\n%s' "$name" | sha256sum | cut -c 1-64 >want
awk '$2 == "*key:general.architecture" { print $1 }' keys | cmp - want

echo 'what does not count'
gg-inspect --hash -t 1 model.gguf | cmp - list
gg-convert --split 50000 model.gguf part && ls part-* | wc -l
gg-inspect --hash part-00001-* | LC_ALL=C sort >split
LC_ALL=C sort list | cmp - split
cp model.gguf moved.gguf && cp model.gguf other.gguf
gg-convert --set a.b=u32:1 moved.gguf && gg-convert --set a.c=u32:2 moved.gguf
gg-convert --set a.c=u32:2 other.gguf && gg-convert --set a.b=u32:1 other.gguf
cmp -s moved.gguf other.gguf && echo "nothing was moved"
gg-inspect --hash moved.gguf >list.moved
gg-inspect --hash other.gguf | cmp - list.moved

echo 'what does'
cp model.gguf moved.gguf
gg-convert --set general.name=other moved.gguf
gg-inspect --hash moved.gguf | diff list - | cut -c 1-2,67-
gg-inspect --hash-check list moved.gguf; echo $?
gg-inspect --hash-check list model.gguf; echo $?
at=$(gg-inspect --tensor output_norm.weight moved.gguf |
    awk '$1 == "offset" { print $2 }')
printf '\1' | dd of=moved.gguf bs=1 seek="$at" conv=notrunc 2>/dev/null
tr '[:lower:]' '[:upper:]' <list | cut -c 1-64 | paste -d ' ' - list |
    awk '{ print $1 "  " $3 }' | gg-inspect --hash-check - moved.gguf; echo $?
grep 'blk.0.attn' list | gg-inspect -v --hash-check - moved.gguf; echo $?
{ sed -n 1p list; echo; sed -n '1s/  .*/  none\\x1b/p' list; } >other
gg-inspect --hash-check other model.gguf; echo $?

echo 'names, parts'
gg-inspect --hash --tensors nasty.gguf | cut -c 65-
gg-inspect --hash --tensor 'blk.*_norm.weight' model.gguf | cut -c 67-
gg-inspect --hash --tensors nasty.gguf >nasty.list
gg-inspect --hash --json --tensors nasty.gguf |
    jq -r '.hashes[] | .hash + "  " + .name' | cmp - nasty.list

echo 'what is no list, or no model'
printf 'abc  x\n' >bad && gg-inspect --hash-check bad model.gguf; echo $?
: >bad && gg-inspect --hash-check bad model.gguf; echo $?
printf '\0' >bad && gg-inspect --hash-check bad model.gguf; echo $?
gg-inspect --hash-check none model.gguf; echo $?
gg-inspect --hash-check list none.gguf; echo $?
head -c 9000 model.gguf >cut.gguf
gg-inspect --hash cut.gguf >/dev/null; echo $?
gg-inspect --hash-check list cut.gguf; echo $?
gg-inspect --hash --tensor 'x*' model.gguf; echo $?
