#!/bin/sh
# sbom.sh VERSION SOURCE NAME=VERSION...: a bill of materials in SPDX 2.3, as JSON:
# the package, and each library that this build was configured with. $GG_LINK is how
# they are linked: DYNAMIC_LINK, or STATIC_LINK.
set -eu
version=$1 source=$2
shift 2
time=${SOURCE_DATE_EPOCH-$(git -C "$source" log -1 --format=%ct 2>/dev/null ||
    stat -c %Y "$source/NEWS")}

# NAME LICENCE WHERE WHAT-FOR
known='zlib Zlib https://zlib.net CRC-32, compressed text
jansson MIT https://github.com/akheron/jansson JSON
hwloc BSD-3-Clause https://www.open-mpi.org/projects/hwloc nodes of memory
nettle LGPL-3.0-or-later%20OR%20GPL-2.0-or-later https://www.lysator.liu.se/~nisse/nettle hashes
libpng libpng-2.0 http://www.libpng.org/pub/png pictures
libjpeg IJG%20AND%20BSD-3-Clause https://libjpeg-turbo.org JPEG images
libwebp BSD-3-Clause https://developers.google.com/speed/webp WebP images
sndfile LGPL-2.1-or-later https://libsndfile.github.io/libsndfile sounds
soxr LGPL-2.1-or-later https://sourceforge.net/projects/soxr rates of sounds
libcurl curl https://curl.se downloads
openssl Apache-2.0 https://www.openssl.org connections that are secret
c-ares MIT https://c-ares.org addresses of servers
libevent BSD-3-Clause https://libevent.org HTTP
libedit BSD-3-Clause https://www.thrysoee.dk/editline line editing
libbsd BSD-3-Clause https://libbsd.freedesktop.org line editing
libmd BSD-3-Clause https://www.hadrons.org/software/libmd line editing
ncurses MIT https://invisible-island.net/ncurses terminals
glibc LGPL-2.1-or-later https://www.gnu.org/software/libc the C library
readline GPL-3.0-or-later https://tiswww.case.edu/php/chet/readline/rltop.html line editing
cuda LicenseRef-NVIDIA-CUDA-EULA https://developer.nvidia.com/cuda-toolkit the module for NVIDIA GPUs'

# package ID NAME VERSION LICENCE WHERE WHAT-FOR
package() {
    cat <<P
    {
      "SPDXID": "SPDXRef-$1",
      "name": "$2",
      "versionInfo": "$3",
      "downloadLocation": "$5",
      "filesAnalyzed": false,
      "licenseConcluded": "$4",
      "licenseDeclared": "$4",
      "copyrightText": "NOASSERTION",
      "summary": "$6"
    }
P
}
packages() {
    package gg gg "$version" MIT NOASSERTION \
        'Tools and a library for inference of language models'
    for library; do
        name=${library%%=*}
        printf '%s\n' "$known" | while read -r known_name licence where what; do
            test "$known_name" != "$name" || {
                echo '    ,'
                package "$name" "$name" "${library#*=}" \
                    "$(printf '%s' "$licence" | sed 's/%20/ /g')" "$where" "$what"
            }
        done
    done
}
relations() {
    cat <<R
    {
      "spdxElementId": "SPDXRef-DOCUMENT",
      "relationshipType": "DESCRIBES",
      "relatedSpdxElement": "SPDXRef-gg"
    }
R
    for library; do
        cat <<R
    ,
    {
      "spdxElementId": "SPDXRef-gg",
      "relationshipType": "${GG_LINK-DYNAMIC_LINK}",
      "relatedSpdxElement": "SPDXRef-${library%%=*}"
    }
R
    done
}
# A text of a licence that SPDX's list does not have.
licences() {
    case " $* " in *' cuda='*) cat <<L
  "hasExtractedLicensingInfos": [
    {
      "licenseId": "LicenseRef-NVIDIA-CUDA-EULA",
      "name": "NVIDIA CUDA Toolkit End User License Agreement",
      "extractedText": "https://docs.nvidia.com/cuda/eula"
    }
  ],
L
    ;; esac
}

body=$(packages "$@" && relations "$@")
cat <<D
{
  "spdxVersion": "SPDX-2.3",
  "dataLicense": "CC0-1.0",
  "SPDXID": "SPDXRef-DOCUMENT",
  "name": "gg-$version",
  "documentNamespace": "https://spdx.org/spdxdocs/gg-$version-$(
    printf '%s' "$body" | cksum | tr ' ' '-')",
  "creationInfo": {
    "created": "$(date -u -d "@$time" +%Y-%m-%dT%H:%M:%SZ)",
    "creators": ["Tool: gg-$version build-aux/sbom.sh"]
  },
$(licences "$@")
  "packages": [
$(packages "$@")
  ],
  "relationships": [
$(relations "$@")
  ]
}
D
