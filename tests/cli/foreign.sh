# Options that other programs call otherwise are answered with what to write.
try() {
    "$@" </dev/null
    echo "$? $*"
}
try gg-generate -dev cuda
try gg-generate -p a --ctx-size 100
try gg-generate -p a --predict=9
try gg-generate a -np 4
try gg-eval -ctk q8_0
try gg-generate --grammar-file x
try gg-sample -jf x
try gg-generate -r User:
try gg-generate -sys 'Be kind.'
try gg-generate --flash-attn on
try gg-tokenize --parse-special
try gg-eval --pooling mean
# What is no option of this tool by any name, or an option's argument.
try gg-sample -ngl 99
try gg-loop --ctx-size 9
try gg-inspect -- -ngl
try gg-inspect -
try gg-generate -p -ngl -m nonesuch
try gg-generate -f -np
try gg-loop 'exit 7' -ngl
# -n without a number is what it was.
try gg-generate -n gl
try gg-generate -n -1
