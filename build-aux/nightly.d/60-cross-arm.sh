#!/bin/sh
# 60-cross-arm.sh SOURCE: the kernels for Arm, by an emulator of that machine
set -eu
cd "$1"
test -f configure || ./autogen.sh
exec sh tests/cross-arm.sh
