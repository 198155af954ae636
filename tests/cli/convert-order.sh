# Big-endian files: written, read by every tool, and turned back. The sum is that
# of the file which gguf-py's gguf-convert-endian (0.19.0) makes of the demo model.
gg-convert --byte-order little "$GG_MODEL" model.gguf && cmp "$GG_MODEL" model.gguf
gg-convert --byte-order big model.gguf big.gguf && cksum <big.gguf
gg-convert --byte-order little big.gguf back.gguf && cmp model.gguf back.gguf
gg-convert --byte-order big big.gguf same.gguf && cmp big.gguf same.gguf
gg-inspect big.gguf | sed -n '/^format/p'
gg-inspect --json big.gguf | jq -c .byte_order
gg-inspect --hash model.gguf | sed 's/  .*gguf$//' >want
gg-inspect --hash big.gguf | sed 's/  .*gguf$//' | cmp - want
gg-inspect --diff model.gguf big.gguf; echo $?

# A model like any other.
gg-generate -q -m model.gguf -n 20 --seed 1 -p Once >want
gg-generate -q -m big.gguf -n 20 --seed 1 -p Once | cmp - want
gg-generate -q -m big.gguf --no-mmap -n 20 --seed 1 -p Once | cmp - want
echo 'Once upon' | gg-tokenize -m model.gguf >want
echo 'Once upon' | gg-tokenize -m big.gguf | cmp - want

# Shards, quantised on the way; keys are changed in the file's own order.
gg-convert --byte-order big --type Q4_K --split 1M model.gguf parts &&
    ls parts* && gg-convert --byte-order little parts-00001-of-*.gguf got.gguf
gg-convert --byte-order little --type Q4_K model.gguf want.gguf
cmp want.gguf got.gguf
gg-convert --set general.name='a name' big.gguf && gg-inspect -k general.name big.gguf
gg-convert --byte-order little big.gguf back.gguf
gg-convert --set general.name='a name' model.gguf && cmp model.gguf back.gguf

# Others are little-endian always; what is cut off is refused.
gg-convert --byte-order big --to safetensors model.gguf no.safetensors; echo $?
head -c 2000000 big.gguf >cut.gguf && gg-inspect cut.gguf; echo $?
gg-convert --byte-order middle model.gguf no.gguf; echo $?
ls
