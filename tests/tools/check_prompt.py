#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Is docs/prompt.md true as far as names go?

usage: check_prompt.py

Each row R1 to R45 stands there once and in order, with a state: works, partly, not yet, later.  What works is shown by
something, and each file that is named exists, with the function or the table that is named behind it.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROW = re.compile(r"^\| (R\d+) \| (.+?) \| (works|partly|not yet|later)(?:: [^|]+)? \| (.*)\|$", re.MULTILINE)
SHOWN = re.compile(r"`((?:tests|scenarios|book)/[\w./-]+)(?:: (\w+))?`")
N_ROWS = 45


def has_test(text, name):
    return re.search(rf"^(?:static void|def) {name}\(|^{name} = \[", text, re.MULTILINE) is not None


def check_rows(text):
    rows = ROW.findall(text)
    names = [row[0] for row in rows]
    yield None if names == [f"R{n}" for n in range(1, N_ROWS + 1)] else f"the rows are {' '.join(names)}"
    for name, _, state, shown in rows:
        found = SHOWN.findall(shown)
        if state == "works":
            yield None if found else f"{name}: nothing shows that it works"
        if state in ("not yet", "later"):
            yield f"{name}: {found[0][0]} shows what is not there" if found else None


def check_names(text):
    for path, name in sorted(set(SHOWN.findall(text))):
        file = ROOT / path
        yield None if file.exists() else f"there is no {path}"
        if name and file.exists():
            yield None if has_test(file.read_text(), name) else f"{path} has no {name}"


def main():
    if len(sys.argv) != 1:
        sys.exit(__doc__)
    text = (ROOT / "docs/prompt.md").read_text()
    found = [*check_rows(text), *check_names(text)]
    wrong = [problem for problem in found if problem]
    print(*(f"docs/prompt.md: {problem}" for problem in wrong), f"{len(found) - len(wrong)} passed, {len(wrong)} failed", sep="\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
