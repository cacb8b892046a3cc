#!/usr/bin/env python3
"""Runs PyTorch's own tests of its C++ API against Rushlight, unmodified.

  pytorch_tests.py SOURCES --cxxflags "-isystem DIR ..." --library FILE [--expected FILE] [--only NAME.cpp]... [--table FILE]

SOURCES is a checkout of PyTorch, which is not part of this repository: the tests are SOURCES/test/cpp/api/*.cpp, each of
which becomes a program of its own. A file that does not compile is compiled again without the tests that the compiler
names, so that the others can be counted; it still is reported as a file that does not compile.

With --expected, the tests that do not pass are compared with the list in that document. The exit status is 0 if
they are the same, 1 if a test fails that is not listed, or a listed one passes.
"""
import argparse
import os
import pathlib
import re
import shlex
import subprocess
import sys

# The folder of the gmock headers in Debian's googletest package. One of the files needs them; libgtest-dev does not contain them.
GMOCK = "/usr/src/googletest/googlemock/include"
NEEDS_GPU = re.compile(r"_(Multi)?CUDA$")
START = re.compile(r"^TEST(?:_F)?\(\s*(\w+)\s*,\s*(\w+)\s*\)", re.M)
LISTED = re.compile(r"^\| `(\w+\.\w+)` \|", re.M)


class Test:
    """One TEST of a source file: its name, and its lines from `TEST` to the closing brace in the first column."""

    def __init__(self, text, match):
        self.name = f"{match[1]}.{match[2]}"
        end = re.compile(r"^\}|\{\}$", re.M).search(text, match.end())
        self.span = (match.start(), end.end())
        self.lines = range(text.count("\n", 0, match.start()) + 1, text.count("\n", 0, end.end()) + 2)


def command(words, seconds, **options):
    """Returns the exit status and the output of a program; the status is -9 after a timeout."""
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds,
                              env={**os.environ, "LC_ALL": "C"}, errors="replace", text=True, **options)
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired as stopped:
        return -9, (stopped.stdout or b"").decode(errors="replace")


class File:
    def __init__(self, path, settings):
        self.path, self.settings = path, settings
        self.text = path.read_text()
        self.tests = [Test(self.text, match) for match in START.finditer(self.text)]
        self.results = {}  # name of a test -> "" if it passed, else the failure
        self.compiles = False

    def compile(self, source, target):
        flags = ["-std=c++17", "-O0", f"-I{self.settings.build}/include", *self.settings.flags]
        return command([self.settings.cxx, *flags, "-c", str(source), "-o", str(target)], 1800)

    def compile_rest(self, log, target):
        """Removes the tests in which the compiler reports errors until the others compile or no test is named."""
        text, source, left = self.text, self.path, list(self.tests)
        while True:
            complaints = re.findall(rf"^(?:In file included from |\s+from )?{re.escape(str(source))}:(\d+).*?\n(?:.*?error: (.*))?", log, re.M)
            lines = {int(line) for line, _ in complaints}
            named = [test for test in left if lines.intersection(test.lines)]
            if not named:
                return False
            for test in named:
                error = re.search(rf"{re.escape(str(source))}:(?:{'|'.join(map(str, test.lines))}):\d+: error: (.*)", log)
                error = error or re.search(r"error: (.*)", log)
                self.results[test.name] = "does not compile: " + error[1]
                start, end = test.span
                text = text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]
                left.remove(test)
            source = self.settings.build / self.path.name
            source.write_text(text)
            status, log = self.compile(source, target)
            if status == 0:
                return True

    def run(self, program):
        """Runs the tests of a program. A crash or a timeout is the result of the test in which it happened; the others run again."""
        folder = self.settings.build / "empty"
        folder.mkdir(exist_ok=True)
        waiting = [test.name for test in self.tests if test.name not in self.results and not NEEDS_GPU.search(test.name)]
        while waiting:
            _, log = command([program, "--gtest_color=no", "--gtest_filter=" + ":".join(waiting)], 600, cwd=folder)
            runs = re.split(r"^\[ RUN      \] ", log, flags=re.M)[1:]
            for output in runs:
                name = output.split("\n", 1)[0]
                if f"[       OK ] {name}" in output:
                    self.results[name] = ""
                elif f"[  FAILED  ] {name}" in output:
                    lines = output.split("\n", 1)[1].split("[  FAILED  ]")[0].strip().splitlines()
                    self.results[name] = "fails: " + " ".join(line.strip() for line in lines[:8])
                else:
                    self.results[name] = "crashes: " + " ".join(output.splitlines()[-3:])
            if not runs:
                break
            waiting = [name for name in waiting if name not in self.results]
        for name in waiting:
            self.results[name] = "is not in the program"

    def measure(self, common):
        target, program = self.settings.build / (self.path.stem + ".o"), self.settings.build / self.path.stem
        status, log = self.compile(self.path, target)
        self.compiles = status == 0
        if not self.compiles and not self.compile_rest(log, target):
            error = re.search(r"error: (.*)", log)
            self.results = {test.name: "does not compile: " + (error[1] if error else log[-200:]) for test in self.tests}
            return
        folder = self.settings.build / "lib"
        status, log = command([self.settings.cxx, target, *common, "-o", program, f"-L{folder}", f"-Wl,-rpath,{folder}", "-lrushlight",
                               "-lgtest_main", "-lgtest", "-lpthread"], 600)
        if status != 0:
            undefined = re.search(r"undefined reference to (.*)", log)
            self.results = {test.name: "does not link: " + (undefined[1] if undefined else log[-200:]) for test in self.tests}
            return
        self.run(program)

    def counted(self):
        return {test.name: self.results.get(test.name, "was not run") for test in self.tests if not NEEDS_GPU.search(test.name)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", type=pathlib.Path)
    parser.add_argument("--cxx", default="c++")
    parser.add_argument("--cxxflags", default="")
    parser.add_argument("--library", type=pathlib.Path, required=True, help="librushlight.so")
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/pytorch-cpp-tests"))
    parser.add_argument("--expected", type=pathlib.Path, help="a document that lists the tests that do not pass")
    parser.add_argument("--only", action="append", default=[], help="the name of a file; may be repeated")
    parser.add_argument("--table", type=pathlib.Path, help="writes the counts and what does not pass as Markdown")
    settings = parser.parse_args()
    settings.sources, settings.build, settings.library = (
        path.absolute() for path in (settings.sources, settings.build, settings.library))
    settings.flags = [*shlex.split(settings.cxxflags), "-isystem", GMOCK]
    folder = settings.sources / "test/cpp/api"
    if not folder.is_dir():
        sys.exit(f"{folder} is not there: SOURCES must be a checkout of PyTorch")
    (settings.build / "lib").mkdir(parents=True, exist_ok=True)
    # The tests include <test/...>. The checkout itself is not searched: it has headers of the names that Rushlight provides.
    (settings.build / "include").mkdir(exist_ok=True)
    links = [("lib/librushlight.so", settings.library), ("lib/librushlight.so.0", settings.library)]
    for name, target in [*links, ("include/test", settings.sources / "test")]:
        link = settings.build / name
        link.unlink(missing_ok=True)
        link.symlink_to(target)

    support = File(folder / "support.cpp", settings)
    status, log = support.compile(support.path, settings.build / "support.o")
    if status != 0:
        sys.exit(f"{support.path} does not compile:\n{log}")
    files = [File(path, settings) for path in sorted(folder.glob("*.cpp")) if not settings.only or path.name in settings.only]
    files = [file for file in files if file.counted()]
    if not files:
        sys.exit("no file of that name has tests for the CPU")

    rows, failures = [], {}
    for file in files:
        file.measure([settings.build / "support.o"])
        counted = file.counted()
        passed = sum(not why for why in counted.values())
        failures.update((name, why) for name, why in counted.items() if why)
        print(f"{file.path.name:24} {passed:4} of {len(counted):4}{'' if file.compiles else '  (does not compile as it stands)'}", flush=True)
        for name, why in counted.items():
            if why:
                print(f"    {name} {why[:400]}")
        rows.append((file.path.name, len(counted), passed, "yes" if file.compiles else "in part" if passed else "no"))
    tests, passed = sum(row[1] for row in rows), sum(row[2] for row in rows)
    print(f"{passed} of {tests} tests pass; {sum(row[3] == 'yes' for row in rows)} of {len(rows)} files compile as they stand")

    if settings.table:
        lines = ["| file | tests | pass | compiles |", "|---|---|---|---|"]
        lines += [f"| {name} | {count} | {good} | {compiles} |" for name, count, good, compiles in rows]
        lines += [f"| total | {tests} | {passed} | |", "", "| test | why it does not pass |", "|---|---|"]
        lines += [f"| `{name}` | {why} |" for name, why in failures.items()]
        settings.table.write_text("\n".join(lines) + "\n")
    if not settings.expected:
        return 0 if not failures else 1
    listed = set(LISTED.findall(settings.expected.read_text()))
    ran = {name for file in files for name in file.counted()}
    surprises = [f"{name} does not pass and is not listed" for name in failures if name not in listed]
    surprises += [f"{name} is listed and passes" for name in sorted(listed & ran) if name not in failures]
    print("\n".join(surprises) if surprises else f"What does not pass is what {settings.expected} lists")
    return 1 if surprises else 0


if __name__ == "__main__":
    sys.exit(main())
