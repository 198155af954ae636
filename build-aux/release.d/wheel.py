"""wheel.py FOLDER VERSION TAGS OUT: a wheel of an archive's tools.

FOLDER is an unpacked archive. `pip install` of the wheel puts its tools into the
environment's bin, and pages, completions and the demo model into its share. TAGS are
those of platforms, with dots between them; OUT is the folder that gets the wheel. Its
files have the time $SOURCE_DATE_EPOCH, and nothing in it tells where it was made.
"""
import base64
import hashlib
import os
import pathlib
import sys
import time
import zipfile

NAME = "gg_tools"
LACKS = pathlib.Path(__file__).with_name("static.txt")
# A tool is a script that starts the one program with all tools: a wheel has no links.
SCRIPT = """#!/bin/sh
real=$(readlink -f "$0") && exec "${real%/*}/gg-tools" TOOL "$@"
"""
METADATA = """Metadata-Version: 2.1
Name: gg-tools
Version: VERSION
Summary: Tools for running language models from a shell
License: MIT
Platform: Linux
Requires-Python: >=3.7
Description-Content-Type: text/plain

gg runs large language models from GGUF files, and from Hugging Face folders, with
small Unix tools that each do one stage: gg-tokenize, gg-eval, gg-sample, gg-generate
and others. `man gg` is the introduction.

"""
WHEEL = """Wheel-Version: 1.0
Generator: gg build-aux/release.d/wheel.py
Root-Is-Purelib: false
"""


def digest(data):
    sum_ = hashlib.sha256(data).digest()
    return "sha256=" + base64.urlsafe_b64encode(sum_).rstrip(b"=").decode()


class Wheel:
    def __init__(self, path, version):
        when = int(os.environ["SOURCE_DATE_EPOCH"])
        self.time = time.gmtime(max(when, 315532800))[:6]
        self.zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9)
        self.info = f"{NAME}-{version}.dist-info"
        self.data = f"{NAME}-{version}.data"
        self.record = []

    def add(self, name, data, mode=0o644):
        item = zipfile.ZipInfo(name, self.time)
        item.compress_type = zipfile.ZIP_DEFLATED
        item.create_system = 3
        item.external_attr = (0o100000 | mode) << 16
        self.zip.writestr(item, data)
        self.record.append(f"{name},{digest(data)},{len(data)}\n")

    def close(self):
        record = f"{self.info}/RECORD"
        lines = "".join(self.record) + f"{record},,\n"
        self.add(record, lines.encode())
        self.zip.close()


def add_tools(wheel, folder):
    for path in sorted((folder / "bin").iterdir()):
        data = path.read_bytes()
        if path.is_symlink():
            data = SCRIPT.replace("TOOL", path.name).encode()
        wheel.add(f"{wheel.data}/scripts/{path.name}", data, 0o755)


def add_share(wheel, folder):
    for path in sorted((folder / "share").rglob("*")):
        if path.is_file():
            name = path.relative_to(folder).as_posix()
            mode = 0o755 if os.access(path, os.X_OK) else 0o644
            wheel.add(f"{wheel.data}/data/{name}", path.read_bytes(), mode)


def main(folder, version, tags, out):
    folder = pathlib.Path(folder)
    path = pathlib.Path(out) / f"{NAME}-{version}-py3-none-{tags}.whl"
    wheel = Wheel(path, version)
    add_tools(wheel, folder)
    add_share(wheel, folder)
    for name in ["LICENSE"] + sorted(
        p.relative_to(folder).as_posix() for p in (folder / "licences").iterdir()
    ):
        wheel.add(f"{wheel.info}/licenses/{name}", (folder / name).read_bytes())
    about = METADATA.replace("VERSION", version) + LACKS.read_text()
    wheel.add(f"{wheel.info}/METADATA", about.encode())
    tag_lines = "".join(f"Tag: py3-none-{tag}\n" for tag in tags.split("."))
    wheel.add(f"{wheel.info}/WHEEL", (WHEEL + tag_lines).encode())
    wheel.close()
    print(path.name)


main(*sys.argv[1:])
