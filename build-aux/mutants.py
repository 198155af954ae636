#!/usr/bin/env python3
"""mutants.py - do the tests notice? Changes a line of the sources and asks them

    mutants.py SOURCE BUILD N SEED [FILE...] [--own]

SOURCE is the tree, BUILD a configured build of it. N changes are drawn by SEED,
as many from each FILE as from the next: a file, a pattern of files, or a folder
(its C files). Without any they come from lib but for kernels, CUDA and MPI.

Each change is made in a copy of the tree, with a build of its own. All of them
meet the tests of their module first; those that these do not notice meet all
others, one after the other, until one fails. Results are lines of
BUILD/mutants/results, and what is there is not run again, but for what lived:
the module's tests are asked again, since they may have learned it. Changes that
nobody could see are struck by lines of build-aux/mutants.equal, each with a
reason. --own asks no tests but the module's. The status is 1 where one lived.
"""

import glob
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

LEFT_OUT = ("lib/cpu/", "lib/cuda/", "lib/mpi/")
SECONDS = 300  # of a test whose time is not known: one that hangs has noticed
SPACE = 8 << 20  # KiB of memory of a test
# Tests of what a file of bin/common does have one of these words in their name.
WORDS = {"outside": "sandbox"}

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
    r"(?<= )(<=|>=|==|!=|&&|\|\||<|>|\+|-)(?= |$)|\b(true|false)\b"
)
NUMBER = re.compile(r"(?<![\w.])(\d+)(?![\w.])")
CONDITION = re.compile(r"\b(if|while) \((.+)\)( \{)?$")
UNTOUCHED = re.compile(r"^\s*#|assert\(", re.I)
STATEMENT = re.compile(
    r"^\s+(?:[\w>.\[\]*-]+ (?:[-+*|&]?=) .*|\w+\(.*\)|break|continue"
    r"|\w[\w>.\[\]-]*(?:\+\+|--));$")


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
    if STATEMENT.match(code):
        yield "dropped", re.match(r"\s*", line).group(0) + ";"


def changes_of_file(source, name):
    with open(os.path.join(source, name), encoding="utf-8") as f:
        text = f.read()
    lines, codes = text.split("\n"), blank(text).split("\n")
    inside = False  # a function
    met = {}
    for i, (line, code) in enumerate(zip(lines, codes)):
        if code.startswith(("{", "}")):
            inside = code.startswith("{")
        if not inside or UNTOUCHED.search(code):
            continue
        for what, new in changes_of_line(line, code):
            # The same change of an equal line has its number.
            n = met[line.strip(), what] = met.get((line.strip(), what), 0) + 1
            yield {"file": name, "line": i, "old": line, "new": new,
                   "what": what if n == 1 else f"{what}, {n}"}


def files_of(source, name):
    """Of a file's name, a pattern or a folder."""
    found = glob.glob(os.path.join(source, name))
    if not found:
        sys.exit(f"mutants: {name}: no such file")
    for path in sorted(found):
        if os.path.isfile(path):
            yield os.path.relpath(path, source)
        for folder, _, files in sorted(os.walk(path)):
            for f in sorted(files):
                full = os.path.relpath(os.path.join(folder, f), source)
                if f.endswith(".c") and not full.startswith(LEFT_OUT):
                    yield full


def draw(source, names, n, seed):
    """n changes, as many of each name as of the next; and how many there are."""
    heaps = [[c for f in files_of(source, name) if f.endswith((".c", ".h"))
              for c in changes_of_file(source, f)] for name in names]
    chance, total = random.Random(seed), sum(map(len, heaps))
    for heap in heaps:
        chance.shuffle(heap)
    drawn = []
    while len(drawn) < n and any(heaps):
        drawn += [heap.pop() for heap in heaps if heap]
    return drawn[:n], total


# ---- the copy --------------------------------------------------------------


def run(command, folder, seconds=None):
    """Status and output; status -1: it took too long, and is ended with all
    that it started."""
    p = subprocess.Popen(command, cwd=folder, shell=True, text=True,
                         errors="replace", start_new_session=True,
                         stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
                         stderr=subprocess.STDOUT)
    try:
        out = p.communicate(timeout=seconds)[0]
        return p.returncode, out
    except subprocess.TimeoutExpired:
        return -1, ""
    finally:
        if p.returncode is None:
            os.killpg(p.pid, signal.SIGKILL)
            p.communicate()


def must(command, folder):
    status, out = run(command, folder)
    if status != 0:
        sys.exit(f"mutants: {command}: status {status}\n{out[-3000:]}")
    return out


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


def make_copy(source, build, work):
    """A tree with a build, both as far as they must be made anew."""
    tree = os.path.join(work, "tree")
    names = must("git ls-files --cached --others --exclude-standard", source)
    for name in names.split("\n"):
        if os.path.isfile(os.path.join(source, name)):
            put_file(os.path.join(source, name), os.path.join(tree, name))
    copy = os.path.join(tree, "build")
    if not os.path.exists(os.path.join(copy, "Makefile")):
        os.makedirs(copy, exist_ok=True)
        options = must("./config.status --config", build).strip()
        must("./autogen.sh", tree)
        must(f"../configure -q {options} --disable-werror"
             " --with-kernels=native", copy)
    must("make -s -C tests Makefile", copy)
    make_library(copy)
    return tree, copy


def make_library(copy):
    must(f"make -s -j{os.cpu_count()} -C lib", copy)


# ---- tests -----------------------------------------------------------------


class Tests:
    """Of the copy. What each took when it passed, or -1 where it fails without
    any change, is kept in the file `known`."""

    def __init__(self, copy, known):
        self.copy, self.known = copy, known
        self.stale = False  # the library has a change
        self.units = must("make -s -C tests unit-list", copy).split()
        self.all = must("make -s -C tests all-list", copy).split()
        self.seconds = {t: float(s) for t, s in read_lines(known).items()}

    def text(self, test):
        path = os.path.join(self.copy, "../tests", test)
        path += ".c" if test in self.units else ""
        with open(path, encoding="utf-8") as f:
            return f.read()

    def of_file(self, name):
        """Those of the file's module, its header or its tool: unit tests, the
        module's and the quickest first."""
        parts = name.split("/")
        stem = re.split(r"[_.]", parts[-1])[0]
        if parts[0] == "lib":
            own = [t for t in self.units if t.startswith(parts[1] + "/")]
        elif parts[1] == "common":
            stem = WORDS.get(stem, stem)
            own = [t for t in self.all if stem in t]
        else:
            tool = parts[1].replace("gg-", "")
            own = [t for t in self.all if t.startswith(f"cli/{tool}")]
        header = "/".join(parts[1:])[:-1] + "h"
        near = set(own)
        own += [t for t in self.units
                if t not in near and f'"{header}"' in self.text(t)]
        return sorted(own, key=lambda t: (t not in self.units, t not in near,
                                          self.seconds.get(t, 10), t))

    def fails(self, test, ahead=()):
        """Whether it does; a unit test is linked anew, with the objects ahead
        of the library's."""
        limit = 20 + 10 * self.seconds.get(test, SECONDS / 10)
        if test in self.units:
            objects = " ".join(ahead)
            status, out = run(
                f"rm -f {test}; make -s -C . {test} "
                f"LDADD='{objects} ../lib/libggcore.la'", self.copy + "/tests")
            if status != 0 and ahead:
                # What an object draws in has a name that the test has, too.
                make_library(self.copy)
                self.stale = True
                return self.fails(test)
            if status != 0:
                sys.exit(f"mutants: {test} cannot be made\n{out[-3000:]}")
            command = "./" + test
        else:
            runner = "$(SH_LOG_COMPILER)" if test.endswith(".sh") else "sh"
            command = f"{runner} $(srcdir)/{test}"
        status, out = run(f"ulimit -v {SPACE}; make -s one-test RUN='{command}'",
                          self.copy + "/tests", limit)
        if test not in self.units:
            return status != 0 and "Error 77" not in out
        return status != 0 or not passed(out)

    def ask(self, test, ahead=()):
        """Whether it passes. What it took then is noted: it can pass."""
        begin = time.time()
        good = not self.fails(test, ahead)
        if good and test not in self.seconds:
            self.set(test, round(time.time() - begin, 1))
        return good

    def set(self, test, seconds):
        self.seconds[test] = seconds
        note(self.known, test, seconds)


def passed(tap):
    lines = tap.split("\n")
    plans = [line for line in lines if line.startswith("1..")]
    return (len(plans) == 1 and
            not any(re.match(r"not ok(?!.*# TODO)|Bail out", line)
                    for line in lines) and
            int(plans[0][3:].split()[0]) ==
            sum(line.startswith(("ok", "not ok")) for line in lines))


# ---- one after the other ---------------------------------------------------


def read_lines(path):
    """What the first fields of each line say of its last; the last line counts."""
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as f:
        rows = [r.rstrip("\n").rsplit("\t", 1) for r in f
                if r.strip() and not r.startswith("#")]
    return dict(r for r in rows if len(r) == 2)


def note(path, key, value):
    with open(path, "a", encoding="utf-8") as f:
        f.write(f"{key}\t{value}\n")


def key_of(c):
    return f"{c['file']}\t{c['old'].strip()}\t{c['what']}"


class Mutants:
    def __init__(self, source, build, drawn):
        self.source, self.drawn = source, drawn
        self.work = os.path.join(build, "mutants")
        os.makedirs(self.work, exist_ok=True)
        self.path = os.path.join(self.work, "results")
        self.results = read_lines(self.path)
        self.struck = read_lines(
            os.path.join(source, "build-aux/mutants.equal"))
        self.tree, self.copy = make_copy(source, build, self.work)
        self.helped = False
        self.tests = Tests(self.copy, os.path.join(self.work, "times"))

    def write(self, change, mutated):
        """The file with the change, or as it is."""
        name = change["file"]
        with open(os.path.join(self.source, name), encoding="utf-8") as f:
            lines = f.read().split("\n")
        if mutated:
            lines[change["line"]] = change["new"]
        with open(os.path.join(self.tree, name), "w", encoding="utf-8") as f:
            f.write("\n".join(lines))

    def build_part(self, name):
        """What unit tests want of a changed file: its objects, which need not
        go through the library's archive, or the tools' common part. None
        where it does not compile."""
        if not name.startswith("lib/"):
            part = "libggcli.la" if "/common/" in name else ""
            return [] if run("make -s " + part, self.copy + "/bin")[0] == 0 \
                else None
        lo = [os.path.relpath(p, self.copy + "/lib")
              .replace(".deps/", "").replace(".Plo", ".lo")
              for p in glob.glob(self.copy + "/lib/**/.deps/*.Plo",
                                 recursive=True) if mentions(p, name)]
        if run("make -s " + " ".join(lo), self.copy + "/lib")[0] != 0:
            return None
        return [f"../lib/{os.path.dirname(x)}/{pic_object(self.copy, x)}"
                for x in lo]

    def build_helpers(self):
        """Programs of tests/ that scripts run, once and without any change."""
        if self.helped:
            return
        names = must("make -s -C tests helper-list", self.copy).split()
        must(f"make -s -j{os.cpu_count()} -C tests " + " ".join(
            n for n in names if n not in self.tests.units), self.copy)
        self.helped = True

    def build_all(self, name):
        make_library(self.copy)
        self.tests.stale = True
        must(f"make -s -j{os.cpu_count()} -C bin", self.copy)
        return []

    def notice(self, change, tests, build):
        """The first test that fails, or None; one that has never passed must
        do so without the change."""
        if self.tests.stale:
            self.write(change, False)
            make_library(self.copy)
            self.tests.stale = False
        self.write(change, True)
        ahead = build(change["file"])
        if ahead is None:
            return "does not compile"
        for t in tests:
            if self.tests.seconds.get(t, 0) < 0 or self.tests.ask(t, ahead):
                continue
            if t not in self.tests.seconds:
                self.write(change, False)
                if not self.tests.ask(t, build(change["file"])):
                    self.tests.set(t, -1)
                    print(f"{t} fails without any change, and is not asked",
                          flush=True)
                self.write(change, True)
                ahead = build(change["file"])
            if self.tests.seconds[t] >= 0:
                return f"noticed by {t}"
        return None

    def ask_own(self, change):
        """What the tests of the module say: None if nothing."""
        own = self.tests.of_file(change["file"])
        units = [t for t in own if t in self.tests.units]
        scripts = [t for t in own if t not in units]
        if scripts:
            self.build_helpers()
        return (self.notice(change, units, self.build_part) or scripts and
                self.notice(change, scripts, self.build_all) or None)

    def ask_others(self, change):
        own = self.tests.of_file(change["file"])
        self.build_helpers()
        return self.notice(change, [t for t in self.tests.all if t not in own],
                           self.build_all) or "LIVED"

    def try_one(self, change, ask):
        begin = time.time()
        try:
            result = ask(change)
        finally:
            self.write(change, False)
        if result:
            self.results[key_of(change)] = result
            note(self.path, key_of(change), result)
        print(f"{place(change)}: {result or 'not noticed by its module'}"
              f" ({time.time() - begin:.0f} s)", flush=True)
        return result

    def all(self, own_only):
        """Counts of what became of them."""
        for c in self.drawn:
            if key_of(c) in self.struck:
                self.results[key_of(c)] = "struck: " + self.struck[key_of(c)]
            elif self.results.get(key_of(c), "LIVED") == "LIVED":
                self.try_one(c, self.ask_own)
        for c in self.drawn:
            if key_of(c) not in self.results and not own_only:
                self.try_one(c, self.ask_others)
        counts = {}
        for c in self.drawn:
            kind = self.results.get(key_of(c), "LIVED").split(" ")[0].rstrip(":")
            counts[kind] = counts.get(kind, 0) + 1
            if kind == "LIVED":
                print(f"{place(c)}: LIVED\n    {c['old'].strip()}")
        return counts


def mentions(path, name):
    with open(path, encoding="utf-8") as f:
        return re.search(rf"[ /]{re.escape(name)}[ :\n]", f.read())


def pic_object(copy, lo):
    with open(f"{copy}/lib/{lo}", encoding="utf-8") as f:
        return re.search(r"pic_object='(.*)'", f.read()).group(1)


def place(c):
    return f"{c['file']}:{c['line'] + 1}: {c['what']}"


def main():
    own_only = "--own" in sys.argv
    source, build, n, seed, *names = [a for a in sys.argv[1:] if a != "--own"]
    drawn, total = draw(source, names or ["lib"], int(n), int(seed))
    os.nice(5)
    counts = Mutants(source, build, drawn).all(own_only)
    print(f"{len(drawn)} of {total} changes: " +
          ", ".join(f"{v} {k}" for k, v in sorted(counts.items())))
    return 1 if counts.get("LIVED") else 0


if __name__ == "__main__":
    sys.exit(main())
