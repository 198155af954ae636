#!/bin/sh
# dist-tar.sh FOLDER SOURCE [links]: the folder as a tar archive that is the same byte for
# byte whoever makes it, wherever and whenever: files in order, with the time of
# the commit, of nobody, and no stricter umask than ours. Symbolic links become the
# files that they name, unless there is a third word. By GNU tar, in its own
# format: its ustar has other bytes from version 1.35 on. Another tar makes an
# archive, too.
set -eu
folder=$1 source=$2 follow=h
test "${3-}" != links || follow=
time=${SOURCE_DATE_EPOCH-$(git -C "$source" log -1 --format=%ct 2>/dev/null ||
    stat -c %Y "$source/NEWS")}
if tar --version 2>/dev/null | grep -q 'GNU tar'; then
    exec tar --format=gnu --sort=name --mtime="@$time" --owner=0 --group=0 \
        --numeric-owner --mode=u+rwX,go+rX,go-w -c${follow}f - "$folder"
fi
exec tar -c${follow}f - "$folder"
