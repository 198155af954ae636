#!/bin/sh
# release.sh VERSION SOURCE TARBALL SBOM [WORD...]: a release, in the folder release
#
# The folder gets the tarball, its bill of materials, the files that the scripts of
# release.d make of the tarball, and SHA256SUMS of them all. With WORDs, only the
# scripts with such a word in their names run; files of the same tarball that other
# scripts made before stay.
#
# A script is called as `SCRIPT VERSION TARBALL OUTDIR`, with absolute paths, and makes
# its files in OUTDIR, an empty folder, or makes none and ends with 77 after it has
# said why. $RELEASE is the folder that has the files of the scripts before it, and
# $SOURCE_DATE_EPOCH the time that files in packages have.
set -eu
version=$1 source=$(cd "$2" && pwd) tarball=$3 sbom=$4
shift 4
words=$*
export RELEASE="$PWD/release" LC_ALL=C TZ=UTC0
umask 022
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

mkdir -p "$RELEASE"
made=$RELEASE/$(basename "$tarball")
cmp -s "$tarball" "$made" || rm -rf "${RELEASE:?}"/*
rm -f "$RELEASE/SHA256SUMS"
cp "$tarball" "$sbom" "$RELEASE"
# All files of the tarball have the time of the commit.
NEWS=gg-$version/NEWS
mkdir "$work/tarball"
tar -xzf "$tarball" -C "$work/tarball" "$NEWS"
SOURCE_DATE_EPOCH=$(stat -c %Y "$work/tarball/$NEWS")
export SOURCE_DATE_EPOCH

wanted() {
    test -n "$words" || return 0
    for word in $words; do
        case $1 in *$word*) return 0 ;; esac
    done
    return 1
}
skipped=
for script in "$source"/build-aux/release.d/*.sh; do
    name=$(basename "$script" .sh)
    test -e "$script" && wanted "$name" || continue
    echo "== $name"
    out=$work/$name status=0
    mkdir "$out"
    sh "$script" "$version" "$made" "$out" || status=$?
    case $status in
    0) find "$out" -type f -exec mv -f {} "$RELEASE" \; ;;
    77) skipped="$skipped $name" ;;
    *)
        echo "release.sh: $name failed" >&2
        exit 1
        ;;
    esac
done
(cd "$RELEASE" && sha256sum -- * >"$work/SHA256SUMS")
mv "$work/SHA256SUMS" "$RELEASE"
chmod 644 "$RELEASE"/*
cat "$RELEASE/SHA256SUMS"
test -z "$skipped" || echo "release.sh: not made:$skipped" >&2
