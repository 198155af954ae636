#!/bin/sh
# 10-archive.sh VERSION TARBALL OUTDIR: relocatable archives of static tools, for
# x86-64 and Arm of 64 bits: gg-VERSION-linux-MACHINE.tar.gz
#
# They are linked with the static libraries of Debian 12, whatever Debian this is, by
# the compiler of this machine, and so run without a C library, or with another one.
# For the machine that this is not, they are built by its cross compiler (Debian:
# gcc-aarch64-linux-gnu). $GG_MACHINES names those that are wanted.
set -eu
. "$(dirname "$0")/tarball.inc"
. "$(dirname "$0")/sysroot.inc"
need mmdebstrap apt-get dpkg-source pkg-config gzip

# The tools and what they show and read, in a folder that may lie anywhere.
build() {
    build=$work/build-$machine
    mkdir "$build" && cd "$build" &&
        configure_for ../gg-"$version"/configure --enable-static-programs \
            --prefix=/opt/gg --with-kernels=all \
            --with-jansson --with-nettle --with-libpng --with-libjpeg --with-libwebp \
            --with-libcurl --with-libevent --with-readline=libedit --without-hwloc \
            --without-libsndfile --without-libsoxr --without-mpi --without-cuda \
            CXX=false CFLAGS='-O2 -fPIE' LIBEDIT_CFLAGS="$(pkg-config --cflags libedit)" \
            LIBEDIT_LIBS="$(pkg-config --libs --static libedit) -lmd" &&
        make -s -j"$(nproc)" -C lib &&
        make -s -j"$(nproc)" -C bin source_place=/nonexistent build_place=/nonexistent
}
# One program that is all tools, and a link to it for each: alone, each would have the
# whole library in it. Tools share no name but these two.
one_program() {
    mkdir "$build/one" && cd "$build/one" || return
    for folder in "$build"/bin/gg-*/; do
        tool=$(basename "$folder")
        name=$(echo "$tool" | tr - _)
        echo "TOOL(\"$tool\", ${name}_main)"
        for object in "$folder"*.o; do
            "$triplet-objcopy" --redefine-sym main="${name}_main" \
                --redefine-sym cli_name="${name}_name" "$object" \
                "$name-$(basename "$object")" || return
        done
    done >tools.list
    value() { # VARIABLE: of the Makefile
        sed -n "s/^$1 = //p" "$build/bin/Makefile"
    }
    $cc -O2 -fPIE -Wall -Wextra -Werror -I. -c "$tree/build-aux/release.d/tools.c" &&
        "$build/libtool" --tag=CC --mode=link $cc -O2 $(value GG_HARDEN_LDFLAGS) \
            $(value GG_PIE_LDFLAGS) -o gg-tools ./*.o "$build/bin/libggcli.la" \
            "$build/lib/libggml.la" $(value JANSSON_LIBS) $(value LIBEVENT_LIBS) \
            $(value NETTLE_LIBS) $(value LIBCURL_LIBS) $(value LIBPNG_LIBS) \
            $(value EDITOR_LIBS) -lm
}
install_tools() {
    staged=$work/staged-$machine
    cd "$build" || return
    for part in bin man demo examples; do
        make -s -C $part DESTDIR="$staged" install source_place=/nonexistent \
            build_place=/nonexistent || return
    done
    folder=gg-$version-linux-$machine
    mv "$staged/opt/gg" "$work/$folder" && cd "$work/$folder" || return
    rm -rf share/man/man3
    for tool in bin/*; do
        ln -sf gg-tools "$tool" || return
    done
    "$triplet-strip" -o bin/gg-tools "$build/one/gg-tools" || return
    # Completions are written by tools that run here.
    if test -d share/bash-completion; then
        completions=$work/$folder/share
    elif test -n "${completions-}"; then
        for shell in bash-completion zsh fish; do
            cp -R "$completions/$shell" share || return
        done
    fi
}
describe() {
    mkdir licences && cp "$tree/LICENSE" . && cp "$tree/NEWS" share/doc/gg/ &&
        licences licences >"$work/libraries" && introduction >README &&
        GG_LINK=STATIC_LINK sh "$tree/build-aux/sbom.sh" "$version" "$tree" \
            $(cat "$work/libraries") >share/doc/gg/gg.spdx.json
}
introduction() {
    cat <<R
gg $version for Linux on $machine: tools that run language models from a shell

This folder may lie anywhere. In it,

    bin/gg-generate -p 'Once upon a time'

writes a story, with the model in share/gg. Put bin into the path, and the
pages of share/man into man's:

    PATH=\$PWD/bin:\$PATH MANPATH=\$PWD/share/man: ; export PATH MANPATH
    man gg

R
    cat "$tree/build-aux/release.d/static.txt" && cat <<R && sed 's/=/ /; s/^/    /' "$work/libraries"

The tarball gg-$version.tar.gz has the sources, and build-aux/release.d made this of
it, by $("$triplet-gcc" --version | head -n 1).
Libraries are of these versions of Debian's packages. Their licences are in the folder
licences, and a bill of materials is share/doc/gg/gg.spdx.json.

R
}
# A bare Debian has gzip, and no xz.
pack() {
    cd "$work" && sh "$tree/build-aux/dist-tar.sh" "$folder" "$tree" links |
        gzip -9n >"$out/$folder.tar.gz"
}

made=0
for wanted in ${GG_MACHINES-$(uname -m) x86_64 aarch64}; do
    case $wanted in x86_64 | aarch64) ;; *) continue ;; esac
    use_machine "$wanted"
    test ! -e "$work/build-$machine" || continue
    command -v "$triplet-gcc" >/dev/null || {
        echo "10-archive: $machine: there is no $triplet-gcc" >&2
        continue
    }
    log=$work/$machine.log
    (make_root) >"$log" 2>&1 || {
        tail -n 20 "$log" >&2
        skip "$machine: no static libraries could be had"
    }
    { build && one_program && install_tools && describe && pack; } >"$log" 2>&1 || {
        tail -n 20 "$log" >&2
        exit 1
    }
    echo "$folder"
    made=$((made + 1))
done
test $made != 0 || skip "there is no compiler"
