#!/bin/sh
# debian-symbols.sh LIBRARY VERSION RELEASED: the symbols file of a Debian package:
# what the library exports, each name with the version that it came with, which
# is VERSION where the list RELEASED has it not.
set -eu
cat <<H
libggml-gg.so.0 libggml-gg0 #MINVER#
* Build-Depends-Package: libggml-gg-dev
H
nm -D --defined-only "$1" | sed -n 's/.* [AT] //p' |
    sed 's/@@*/ /' | LC_ALL=C sort -u | while read -r name node; do
    name="$name@${node:-$name}"
    since=$(sed -n "s/^ $name //p" "$3")
    echo " $name ${since:-$2}"
done
