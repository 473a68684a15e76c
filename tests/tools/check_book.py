#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Does the book keep up with the program?

usage: check_book.py RDMALAB

Every row of the profile table has a section in book/rxe.md, in the order of the table, and every
section is about a row.  A scenario names chapters that exist, and every chapter is in the contents.
The explanations of words, and the chapters, name scenarios that exist.
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
    for path in [ROOT / "src/cli/tell/explain.def", *sorted((ROOT / "book").glob("*.md"))]:
        for name in sorted(set(SCENARIO.findall(path.read_text()))):
            yield None if (ROOT / name).exists() else f"{path.name}: there is no {name}"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    found = [*check_rows(sys.argv[1]), *check_chapters(), *check_scenarios()]
    wrong = [problem for problem in found if problem]
    print(*wrong, f"{len(found) - len(wrong)} passed, {len(wrong)} failed", sep="\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
