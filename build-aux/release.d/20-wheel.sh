#!/bin/sh
# 20-wheel.sh VERSION TARBALL OUTDIR: a wheel for each archive of static tools, so that
# `pip install` puts the tools into an environment. They need no C library, and any
# will do.
set -eu
. "$(dirname "$0")/tarball.inc"
need python3

made=0
for machine in x86_64 aarch64; do
    folder=gg-$version-linux-$machine
    archive=$RELEASE/$folder.tar.gz
    test -e "$archive" || continue
    tar -xzf "$archive" -C "$work"
    tags=manylinux_2_17_$machine.manylinux2014_$machine.musllinux_1_1_$machine
    python3 "$(dirname "$0")/wheel.py" "$work/$folder" "$version" "$tags" "$out"
    made=$((made + 1))
done
test $made != 0 || skip "there is no archive of static tools"
