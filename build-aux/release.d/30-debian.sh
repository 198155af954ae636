#!/bin/sh
# 30-debian.sh VERSION TARBALL OUTDIR: the packages of debian/, built in a bare
# Debian 12, or $GG_SUITE, where lintian looks at them
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/tarball.inc"
. "$here/../roots.inc"
trap remove_roots EXIT
can_make_roots || skip 'root and mmdebstrap are needed'

# run WHAT COMMAND: in the package's folder; it is silent as long as it holds.
run() {
    echo "-- $1"
    inside debian "cd /root/gg-$version && $2" >"$work/log" 2>&1 || {
        tail -n 40 "$work/log" >&2
        exit 1
    }
}
make_root debian "${GG_SUITE-bookworm}" build-essential fakeroot lintian
cp -a "$tree" "$work/debian/root"
run 'what they are built with' \
    'apt-get -qq build-dep -y --no-install-recommends -P nocheck ./'
run 'packages' "DEB_BUILD_OPTIONS='noautodbgsym parallel=$(nproc)' \
    dpkg-buildpackage -Pnocheck -us -uc"
cp "$work"/debian/root/*.deb "$out"
run 'lintian' 'lintian --allow-root --fail-on error,warning ../gg_*.changes'
