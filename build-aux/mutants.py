#!/usr/bin/env python3
"""mutants.py - do the tests notice? Changes a line of the sources and asks them

    mutants.py SOURCE BUILD N SEED [FILE...]

SOURCE is the tree, BUILD a configured build of it. N changes are drawn by SEED
from all that the files have (folders stand for their C files; by default all of
lib but kernels and CUDA). Each is made in a copy of the tree, with a build of
its own; the tests of the file's module run first, and all others where those
see nothing. Results are lines of BUILD/mutants/results; what is there is not
run again. Changes that alter nothing anybody could see are struck by lines of
build-aux/mutants.equal, each with a reason. The status is 1 where one lived.
"""

import os
import random
import re
import shutil
import subprocess
import sys

LEFT_OUT = ("lib/cpu/", "lib/cuda/", "lib/mpi/")
SECONDS = 300  # of one test: one that hangs has noticed
SPACE = 8 << 20  # KiB of memory of a test

# ---- what can be changed ---------------------------------------------------

SWAPS = {
    "<": ["<=", ">"],
    "<=": ["<", ">"],
    ">": [">=", "<"],
    ">=": [">", "<"],
    "==": ["!="],
    "!=": ["=="],
    "&&": ["||"],
    "||": ["&&"],
    "+": ["-"],
    "-": ["+"],
    "true": ["false"],
    "false": ["true"],
}
OPERATOR = re.compile(
    r"(?<= )(<=|>=|==|!=|&&|\|\||<|>|\+|-)(?= )|\b(true|false)\b"
)
NUMBER = re.compile(r"(?<![\w.])(\d+)(?![\w.])")
CONDITION = re.compile(r"\b(if|while) \((.+)\)( \{)?$")
STATEMENT = re.compile(r"^\s+(?:[\w>.\[\]*-]+ (?:[-+*|&]?=) .*|\w+\(.*\)|break|continue|\w[\w>.\[\]-]*(?:\+\+|--));$")


def blank(text):
    """The text without comments and literals, as long as before."""

    def spaces(m):
        return re.sub(r"[^\n]", " ", m.group(0))

    return re.sub(
        r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'',
        spaces, text, flags=re.S)


def changes_of_line(line, code):
    """(what, new line) of each change; code is the line without literals."""
    for m in OPERATOR.finditer(code):
        for new in SWAPS[m.group(0)]:
            yield (f"{m.group(0)} to {new}",
                   line[:m.start()] + new + line[m.end():])
    for m in NUMBER.finditer(code):
        new = str(int(m.group(1)) + 1)
        yield f"{m.group(1)} to {new}", line[:m.start()] + new + line[m.end():]
    m = CONDITION.search(code)
    if m and m.group(2).count("(") == m.group(2).count(")"):
        yield ("negated",
               line[:m.start(2)] + "!(" + line[m.start(2):m.end(2)] + ")" +
               line[m.end(2):])
    if STATEMENT.match(code) and "assert" not in code:
        yield "dropped", re.match(r"\s*", line).group(0) + ";"


def changes_of_file(source, name):
    with open(os.path.join(source, name), encoding="utf-8") as f:
        text = f.read()
    lines, codes = text.split("\n"), blank(text).split("\n")
    inside = False  # a function
    for i, (line, code) in enumerate(zip(lines, codes)):
        if code.startswith(("{", "}")):
            inside = code.startswith("{")
        if not inside or code.lstrip().startswith("#") or "assert(" in code:
            continue
        for k, (what, new) in enumerate(changes_of_line(line, code)):
            yield {"file": name, "line": i, "old": line, "new": new,
                   "what": what, "k": k}


def files_of(source, names):
    for name in names:
        path = os.path.join(source, name)
        if os.path.isfile(path):
            yield name
            continue
        for folder, _, found in sorted(os.walk(path)):
            for f in sorted(found):
                full = os.path.relpath(os.path.join(folder, f), source)
                if f.endswith(".c") and not full.startswith(LEFT_OUT):
                    yield full


# ---- the copy --------------------------------------------------------------


def run(command, folder, seconds=None):
    """Status and output; status -1: it took too long."""
    try:
        done = subprocess.run(command, cwd=folder, shell=True, text=True,
                              errors="replace", timeout=seconds,
                              stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
                              stderr=subprocess.STDOUT)
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired:
        return -1, ""


def make_copy(source, build, work):
    """A tree and a build of it, which is finished if it was begun."""
    tree = os.path.join(work, "tree")
    os.makedirs(tree, exist_ok=True)
    names = subprocess.run(["git", "ls-files"], cwd=source, text=True,
                           check=True, stdout=subprocess.PIPE).stdout.split()
    for name in names:
        put_file(os.path.join(source, name), os.path.join(tree, name))
    copy = os.path.join(tree, "build")
    options = run("./config.status --config", build)[1].strip()
    if not os.path.exists(os.path.join(copy, "Makefile")):
        os.makedirs(copy, exist_ok=True)
        must("../autogen.sh", tree)
        must(f"../configure -q {options} --disable-werror"
             " --with-kernels=native", copy)
    must("make -s && make -s -C tests check TESTS=", copy)
    return tree, copy


def must(command, folder):
    status, out = run(command, folder)
    if status != 0:
        sys.exit(f"mutants: {command}: status {status}\n{out[-3000:]}")


def put_file(source, to):
    """Copies what differs, so that make sees only that."""
    with open(source, "rb") as f:
        data = f.read()
    if os.path.exists(to):
        with open(to, "rb") as f:
            if f.read() == data:
                return
    os.makedirs(os.path.dirname(to), exist_ok=True)
    with open(to, "wb") as f:
        f.write(data)
    shutil.copymode(source, to)


# ---- tests -----------------------------------------------------------------


def tests_of(copy):
    out = run("make -s -C tests all-list", copy)[1]
    return out.split()


def own_tests(name, tests):
    """Those of the file's module or tool."""
    parts = name.split("/")
    if parts[0] == "lib":
        return [t for t in tests if t.startswith(parts[1] + "/")]
    tool = parts[1].replace("gg-", "")
    return [t for t in tests if t.startswith(f"cli/{tool}")]


def notice(tests, copy):
    """The first test that fails, of which nothing else is built."""
    for test in tests:
        program = "" if test.endswith((".sh", ".test")) else test
        status, _ = run(
            f"ulimit -v {SPACE}; make -s -C tests check-TESTS TESTS='{test}'"
            f" check_PROGRAMS='{program or 'make_model'}'"
            " check_SCRIPTS= check_LTLIBRARIES=", copy, SECONDS)
        if status != 0:
            return test
    return None


def judge(change, copy, tests):
    target = "lib" if change["file"].startswith("lib/") else "bin"
    status, _ = run("make -s -C " + target, copy)
    if status != 0:
        return "does not compile"
    own = own_tests(change["file"], tests)
    killer = notice(own, copy) or notice(
        [t for t in tests if t not in own], copy)
    return f"noticed by {killer}" if killer else "LIVED"


# ---- one after the other ---------------------------------------------------


def key_of(c):
    return f"{c['file']}\t{c['old'].strip()}\t{c['what']}"


def read_lines(path):
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as f:
        rows = [r.rstrip("\n").rsplit("\t", 1) for r in f
                if r.strip() and not r.startswith("#")]
    return dict(r for r in rows if len(r) == 2)


def try_change(change, source, tree, copy, tests):
    path = os.path.join(tree, change["file"])
    with open(os.path.join(source, change["file"]), encoding="utf-8") as f:
        text = f.read()
    lines = text.split("\n")
    lines[change["line"]] = change["new"]
    try:
        with open(path, "w", encoding="utf-8") as f:
            f.write("\n".join(lines))
        return judge(change, copy, tests)
    finally:
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)


def main():
    source, build, n, seed = sys.argv[1:5]
    names = list(files_of(source, sys.argv[5:] or ["lib"]))
    work = os.path.join(build, "mutants")
    os.makedirs(work, exist_ok=True)
    struck = read_lines(os.path.join(source, "build-aux/mutants.equal"))
    path = os.path.join(work, "results")
    known = read_lines(path)
    all_changes = [c for f in names for c in changes_of_file(source, f)]
    drawn = random.Random(int(seed)).sample(all_changes,
                                            min(int(n), len(all_changes)))
    tree, copy = make_copy(source, build, work)
    tests = tests_of(copy)
    counts = {}
    for c in drawn:
        key = key_of(c)
        result = "struck: " + struck[key] if key in struck else known.get(key)
        if result is None:
            result = try_change(c, source, tree, copy, tests)
            with open(path, "a", encoding="utf-8") as f:
                f.write(f"{key}\t{result}\n")
        kind = result.split(" ")[0].rstrip(":")
        counts[kind] = counts.get(kind, 0) + 1
        print(f"{c['file']}:{c['line'] + 1}: {c['what']}: {result}\n"
              f"    {c['old'].strip()}", flush=True)
    print(f"{len(drawn)} of {len(all_changes)} changes: " +
          ", ".join(f"{v} {k}" for k, v in sorted(counts.items())))
    return 1 if counts.get("LIVED") else 0


if __name__ == "__main__":
    sys.exit(main())
