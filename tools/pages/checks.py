# SPDX-License-Identifier: MIT
"""docs/checks.md: what ./check --full found, on which machine, in which commit.

It is written from two things that only that run knows.  STAGES is a file with a line for each stage: name, passed, failed, seconds, and what was skipped and
why, with tabs between.  COMMIT is what was checked, in words.
"""
import datetime
import os
import pathlib
import platform
import re
import subprocess

TARGET = pathlib.Path(__file__).resolve().parents[2] / "docs/checks.md"
TOOLS = ("gcc", "clang", "meson", "ninja", "python3", "valgrind", "clang-tidy", "cppcheck", "tshark",
         "qemu-system-x86_64")

HEAD = """\
# What was checked last

`./check --full` writes this file at its end; nobody edits it.

**{verdict}**

| | |
| --- | --- |
"""


def read(path, pattern):
    """What @pattern finds in a file of the system."""
    try:
        found = re.search(pattern, pathlib.Path(path).read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:
        found = None
    return found[1] if found else "unknown"


def version(tool):
    """The first number with dots in what a program says of its version."""
    try:
        done = subprocess.run([tool, "--version"], capture_output=True, text=True, check=False)
    except OSError:
        return None
    found = re.search(r"\d+\.\d[\w.+~-]*", done.stdout)
    return found[0] if found else None


def machine():
    """(what, value) of the machine that this runs on."""
    system = read("/etc/os-release", r'^PRETTY_NAME="?([^"\n]*)')
    model = read("/proc/cpuinfo", r"^model name\s*: (.*)")
    memory = int(read("/proc/meminfo", r"^MemTotal:\s*(\d+)"))
    yield "system", f"{system}, {platform.system()} {platform.release()}"
    yield "processors", f"{os.cpu_count()}, {model}, {platform.machine()}"
    yield "memory", f"{memory / (1 << 20):.1f} GiB"
    yield "programs", ", ".join(f"{t} {v}" for t in TOOLS if (v := version(t)))


def rows_of(text):
    """(name, passed, failed, seconds, skipped) of each line."""
    for line in text.splitlines():
        name, passed, failed, seconds, skipped = line.split("\t")
        yield name, int(passed), int(failed), float(seconds), skipped.replace("|", "\\|")


def report(facts, rows):
    passed, failed, seconds = (sum(row[i] for row in rows) for i in (1, 2, 3))
    bad = [row[0] for row in rows if row[2]]
    verdict = f"Not all passed: {', '.join(bad)} failed." if bad else "All passed."
    if not rows:
        verdict = "Nothing was checked yet."
    if any(row[4] for row in rows):
        verdict += "  Something was skipped: see the table."
    lines = [HEAD.format(verdict=verdict)]
    lines += [f"| {what} | {value} |\n" for what, value in facts]
    lines += ["\n| stage | passed | failed | seconds | skipped |\n", "| --- | ---: | ---: | ---: | --- |\n"]
    lines += [f"| {name} | {p} | {f} | {s:.1f} | {why} |\n" for name, p, f, s, why in rows]
    lines.append(f"| **all** | {passed} | {failed} | {seconds:.1f} | |\n")
    return "".join(lines)


def self_test():
    """Yields a problem or None for each case."""
    facts = [("commit", "0123abc, with changes that are not committed")]
    good, bad = "gcc\t560\t0\t36.0\t\n", "tap\t59\t5\t17.0\t\n"
    skipped = "interop\t0\t0\t0.3\tno|kernel\n"
    wanted = [  # stages, what must be in the report, what must not
        (good, ["**All passed.**", "| gcc | 560 | 0 | 36.0 |", "0123abc, with changes"], ["skipped:"]),
        (good + bad, ["**Not all passed: tap failed.**", "| **all** | 619 | 5 | 53.0 |"], ["All passed"]),
        (good + skipped, ["All passed.  Something was skipped", "| 0.3 | no\\|kernel |"], ["Not all"]),
        ("", ["**Nothing was checked yet.**"], ["passed."]),
    ]
    for stages, there, absent in wanted:
        text = report(facts, list(rows_of(stages)))
        right = all(t in text for t in there) and not any(t in text for t in absent)
        yield None if right else f"MISSED in the report of {stages!r}:\n{text}"
    known = all(value and "unknown" not in value for what, value in machine() if what != "processors")
    yield None if known else f"MISSED: {list(machine())}"


def write(commit, stages):
    facts = [("date", datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")),
             ("commit", commit), *machine()]
    rows = list(rows_of(pathlib.Path(stages).read_text(encoding="utf-8")))
    TARGET.write_text(report(facts, rows), encoding="utf-8")
    print(f"written: {TARGET.relative_to(TARGET.parents[1])}")
