#!/bin/sh
# Makes configure; needs autoconf, automake, libtool and pkg-config.
cd "$(dirname "$0")" && mkdir -p m4 && exec autoreconf --install --force
