#!/bin/sh
# relative-path.sh FROM TO - the way from one absolute folder to another
tidy() { echo "$1/" | tr -s /; }
from=$(tidy "$1") to=$(tidy "$2")
while test -n "$from" && test "${from%%/*}/" = "${to%%/*}/"; do
    from=${from#*/} to=${to#*/}
done
path=$(echo "$from" | sed 's|[^/]*/|../|g')$to
echo "${path:-./}" | sed 's|/$||'
