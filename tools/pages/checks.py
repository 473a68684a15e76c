# SPDX-License-Identifier: MIT
"""The page docs/checks.md: when, where and on which commit each stage of ./check --full ended how.

tools/green.py keeps the records of the stages, and writes and reads the page by this module.
"""
import os
import pathlib
import platform
import re
import subprocess

PROGRAMS = ("gcc-12", "clang-14", "meson", "ninja-build", "python3", "valgrind", "clang-tidy-14", "cppcheck", "tshark",
            "qemu-system-x86")

HEAD = """\
# What was checked last

`./check --full` writes this file; nobody edits it.  Each row is the last run of a stage, or of a part of one.  `inputs`
is a hash of the files and settings that the stage depends on.  `./check --full` repeats a stage only if its inputs have
changed since it passed, or if something failed or was skipped.

**{verdict}**

| machine | |
| --- | --- |
"""
COLUMNS = ("stage", "passed", "failed", "seconds", "state", "commit", "UTC", "machine", "inputs", "skipped")
ROW = re.compile(r"^\| " + r" \| ".join([r"([\w:-]+)", r"(\d+)", r"(\d+)", r"([\d.]+)", r"(?:green|failed|changed|skipped)",
                                        r"([\da-f]+(?: with changes)?)", r"([\d: -]+)", r"(m\d+)", r"([\da-f]+)",
                                        r"(.*?)"]) + r" ?\|$", re.MULTILINE)
MACHINE = re.compile(r"^\| (m\d+) \| (.*) \|$", re.MULTILINE)


def read(path, pattern):
    """What @pattern finds in a file of the system."""
    try:
        found = re.search(pattern, pathlib.Path(path).read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:
        found = None
    return found[1] if found else "unknown"


def versions():
    """(package, its version) of the PROGRAMS that are installed."""
    command = ["dpkg-query", "-W", "-f=${Package}\t${Version}\t${db:Status-Status}\n", *PROGRAMS]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return []
    rows = (line.split("\t") for line in done.stdout.splitlines())
    return [(package, version) for package, version, status in rows if status == "installed"]


def machine():
    """(what, value) of the machine that this runs on."""
    system = read("/etc/os-release", r'^PRETTY_NAME="?([^"\n]*)')
    model = read("/proc/cpuinfo", r"^model name\s*: (.*)")
    memory = int(read("/proc/meminfo", r"^MemTotal:\s*(\d+)"))
    yield "system", f"{system}, {platform.system()} {platform.release()}"
    yield "processors", f"{os.cpu_count()}, {model}, {platform.machine()}"
    yield "memory", f"{memory / (1 << 20):.1f} GiB"
    yield "programs", ", ".join(f"{package} {version}" for package, version in versions()) or "unknown"


def list_of(rows, state):
    return ", ".join(row[0] for row in rows if row[-1] == state)


def verdict_of(rows):
    """One sentence for each state but green; @rows as for report()."""
    texts = {"failed": "Not all passed: {} failed.", "skipped": "Something was skipped in {}: see the table.",
             "changed": "Not repeated, although the inputs have changed since: {}.", "missing": "{} has never run."}
    said = [text.format(names) for state, text in texts.items() if (names := list_of(rows, state))]
    return "  ".join(said) or ("All passed." if rows else "Nothing was checked yet.")


def report(rows):
    """The page.  A row: name, inputs, commit, passed, failed, seconds, date, machine, skipped, state."""
    machines = list(dict.fromkeys(row[7] for row in rows if row[7]))
    lines = [HEAD.format(verdict=verdict_of(rows))]
    lines += [f"| m{i} | {machine} |\n" for i, machine in enumerate(machines, 1)]
    lines += ["\n| ", " | ".join(COLUMNS), " |\n", "| --- | ---: | ---: | ---: |" + " --- |" * 6 + "\n"]
    for name, inputs, commit, passed, failed, seconds, date, machine, skipped, state in rows:
        where = f"m{machines.index(machine) + 1}" if machine else ""
        head, _, changes = commit.partition(" ")
        columns = [name, passed, failed, f"{seconds:.1f}", state, f"{head[:12]} {changes}".strip(), date, where, inputs,
                   skipped.replace("|", "\\|")]
        lines.append("| " + " | ".join(str(c) for c in columns) + " |\n")
    passed, failed, seconds = (sum(row[i] for row in rows) for i in (3, 4, 5))
    lines.append(f"| **all** | {passed} | {failed} | {seconds:.1f} |" + " |" * 6 + "\n")
    return "".join(lines)


def read_page(text):
    """The columns of each row of a page, but for its state."""
    machines = dict(MACHINE.findall(text))
    for name, passed, failed, seconds, commit, date, machine, inputs, skipped in ROW.findall(text):
        yield [name, inputs, commit, passed, failed, seconds, date, machines.get(machine, ""),
               skipped.replace("\\|", "|")]


def self_test():
    """Yields a problem or None for each case."""
    place = ("0123456789abcdef", "0123456789ab", "2026-01-02 03:04", "2, a processor")

    def row(name, passed, failed, skipped, state):
        inputs, commit, date, where = place
        return name, inputs, commit, passed, failed, 36.0, date, where, skipped, state

    good, bad = row("gcc", 560, 0, "", "green"), row("tap", 59, 5, "", "failed")
    skipped, old = row("interop:rxe", 7, 0, "no|kernel", "skipped"), row("style", 7, 0, "", "changed")
    missing = ("fresh", "", "", 0, 0, 0.0, "", "", "", "missing")
    wanted = [  # rows, what must be in the report, what must not
        ([good], ["**All passed.**", "| gcc | 560 | 0 | 36.0 | green | 0123456789ab |", "| m1 | 2, a processor |"],
         ["skipped in"]),
        ([good, bad], ["**Not all passed: tap failed.**", "| **all** | 619 | 5 | 72.0 |"], ["All passed"]),
        ([good, skipped], ["**Something was skipped in interop:rxe", "| no\\|kernel |"], ["All passed"]),
        ([good, old], ["changed since: style."], ["All passed"]),
        ([good, missing], ["**fresh has never run.**"], ["All passed"]),
        ([], ["**Nothing was checked yet.**"], ["passed."]),
    ]
    for rows, there, absent in wanted:
        text = report(rows)
        told = all(t in text for t in there) and not any(t in text for t in absent)
        read = [record[0] for record in read_page(text)] == [r[0] for r in rows if r is not missing]
        yield None if told and read else f"MISSED in the report:\n{text}"
    back = list(read_page(report([skipped])))
    yield None if back == [[str(v) for v in skipped[:-1]]] else f"MISSED: {back}"
    known = all(value and "unknown" not in value for what, value in machine() if what != "processors")
    yield None if known else f"MISSED: {list(machine())}"
