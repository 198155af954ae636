# --newline ends a text, and messages begin a line where they follow a text in the
# same file; without either the bytes are those of the text.
test -f "$GG_MODEL" || { echo "no demo model" >&2 && exit 77; }
echo 'root ::= "a" | "b\n"' >grammar
printf 'root ::= "ab"\n' >ab
printf 'root ::= "b\\n"\n' >line
gg-generate -p x --grammar ab | od -An -c
gg-generate -p x --grammar ab --newline | od -An -c
gg-generate -p x --grammar line --newline | od -An -c
gg-generate -p x -n 0 --newline | od -An -c
gg-generate -p x --grammar ab --newline -o out && od -An -c out
for i in 1 2; do printf '%s: ' $i; gg-generate -p x --grammar ab --newline; done
printf 'one\ntwo\n' | gg-generate --lines --grammar ab --newline
printf 'ab' | gg-tokenize | gg-tokenize -d --newline | od -An -c
: | gg-tokenize -d --newline | od -An -c
printf 'a\nb\n' | gg-tokenize --lines | gg-tokenize -d --lines --newline

echo "-- one stream for both"
gg-generate -p x --grammar ab -v 2>&1 | sed -n 's/^.*gg-generate: prefill.*/prefill/p; /^ab/p'
gg-generate -p x --grammar ab -v >all 2>&1
sed -n 's/^gg-generate: prefill.*/prefill/p; /^ab/p' all
gg-generate -p x --grammar ab -v --newline 2>&1 | grep -A 1 '^ab' | cut -d : -f 1,2
gg-generate -p x --grammar ab -v 2>err | od -An -c
printf 'ab' | gg-tokenize | gg-tokenize -d -v 2>&1 | sed 's|: /.*/|: |'
