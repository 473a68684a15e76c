#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Does the book keep up with the program?

usage: check_book.py RDMALAB

Every row of the profile table has a section in book/rxe.md, in the order of the table, and every
section is about a row.  A scenario names chapters that exist, and every chapter is in the contents.
The explanations of words, and the chapters, name scenarios that exist.
The course (scenarios/course.txt) names scenarios that exist, each once, and `explain` sends nobody to
`scenarios STATUS` in vain.
What the sessions of the book print is checked by readme_session.py.
"""
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROW = re.compile(r"^[A-Z][A-Z0-9_]+$", re.MULTILINE)
SECTION = re.compile(r"^## ([A-Z][A-Z0-9_]+)$", re.MULTILINE)
SCENARIO = re.compile(r"scenarios/[a-z0-9-]+\.json")


def check_rows(rdmalab):
    """Yields what is wrong, or None for a row that is right."""
    table = subprocess.run([rdmalab, "explain", "profiles"], stdout=subprocess.PIPE, text=True,
                           check=True).stdout
    rows = ROW.findall(table)
    sections = SECTION.findall((ROOT / "book/rxe.md").read_text())
    for row in rows:
        yield None if row in sections else f"book/rxe.md: no section about {row}"
    for section in sections:
        yield None if section in rows else f"book/rxe.md: {section} is no row of the profile table"
    yield None if sections == rows else "book/rxe.md: the sections are not in the table's order"


def check_chapters():
    contents = (ROOT / "book/README.md").read_text()
    for path in sorted((ROOT / "book").glob("*.md")):
        if path.name != "README.md":
            yield None if f"({path.name})" in contents else f"book/README.md: {path.name} is missing"
    for path in sorted((ROOT / "scenarios").glob("*.json")):
        chapter = json.loads(path.read_text()).get("book")
        if chapter:
            yield None if (ROOT / chapter).exists() else f"{path.name}: there is no {chapter}"


def check_scenarios():
    for path in [ROOT / "src/cli/explain/explain.def", *sorted((ROOT / "book").glob("*.md"))]:
        for name in sorted(set(SCENARIO.findall(path.read_text()))):
            yield None if (ROOT / name).exists() else f"{path.name}: there is no {name}"


def check_course(rdmalab):
    lines = (ROOT / "scenarios/course.txt").read_text().splitlines()
    names = [line for line in lines if line and line[0] not in "#="]
    for name in names:
        yield None if (ROOT / f"scenarios/{name}.json").exists() else f"course.txt: there is no {name}"
        yield None if names.count(name) == 1 else f"course.txt: {name} stands there twice"
    yield None if 30 <= len(names) <= 45 else f"course.txt: {len(names)} scenarios are no course"
    for table in "wc_status", "async_event":
        words = subprocess.run([rdmalab, "explain", table], stdout=subprocess.PIPE, text=True, check=True).stdout
        for word in re.findall(r"^([A-Z][A-Z_]+) ", words, re.MULTILINE):
            page = subprocess.run([rdmalab, "explain", word], stdout=subprocess.PIPE, text=True, check=True).stdout
            if f"scenarios {word}" not in page:
                continue
            found = subprocess.run([rdmalab, "scenarios", word], stdout=subprocess.DEVNULL, check=False)
            yield None if found.returncode == 0 else f"explain {word}: no scenario shows it"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    found = [*check_rows(sys.argv[1]), *check_chapters(), *check_scenarios(), *check_course(sys.argv[1])]
    wrong = [problem for problem in found if problem]
    print(*wrong, f"{len(found) - len(wrong)} passed, {len(wrong)} failed", sep="\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
