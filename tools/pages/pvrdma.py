# SPDX-License-Identifier: MIT
"""What QEMU's document says of its PVRDMA device, and who shows it: book/pvrdma.md.

The rows are src/emu/facts/pvrdma/statements.def.  It is a problem if a row names no scenario or test
that exists, has a number that is there twice, or says neither who shows it nor why nobody does.
"""
import re
import sys

from pages.page import STRING, Wrong, self_test_of
from pages.rfc import link, problems_of

ROWS = "src/emu/facts/pvrdma/statements.def"
PAGE = "book/pvrdma.md"
ROW = re.compile(rf"^STATEMENT\((\d+), {STRING}, {STRING}, {STRING}, {STRING}\)$", re.MULTILINE)
ROW_BEGIN = re.compile(r"^STATEMENT\(", re.MULTILINE)
NOT_HERE = "not here: "

HEAD = """\
# PVRDMA, statement by statement

What the document pvrdma.txt of QEMU says of its PVRDMA device, section by section, in this project's words; how it is
here; and who shows it. QEMU removed the device in 2024; the one of the lab is another implementation of the same interface.
`tools/write_docs.py` writes this page from `{rows}`; nobody edits it. The chapter [Two devices, one adapter](two-devices.md)
shows the device at work.

{n} statements, {absent} of them about what a lab does not have. A word of the device is explained like any other:

```text
$ rdmalab explain uar
uar
  User access region: a page of doorbells of a PVRDMA device. A write of 32 bits, handle and bit,
...
```
"""


def rows_of(root):
    text = (root / ROWS).read_text()
    rows = ROW.findall(text)
    if len(rows) != len(ROW_BEGIN.findall(text)):
        raise Wrong(f"{ROWS}: a row that is none")
    return rows


def shows_of(row):
    return [name.strip() for name in row[4].split(";") if name.strip()]


def problems(root):
    """Yields a problem or None for each row."""
    rows = rows_of(root)
    for row in rows:
        shown = bool(shows_of(row))
        yield None if shown != row[3].startswith(NOT_HERE) else f"row {row[0]}: say who shows it, or why nobody does"
    yield from problems_of(root, [(row[0], shows_of(row)) for row in rows])


def outputs(root):
    """{file: what has to be in it}"""
    rows, section = rows_of(root), None
    out = [HEAD.format(rows=ROWS, n=len(rows), absent=sum(row[3].startswith(NOT_HERE) for row in rows))]
    for number, title, text, here, *_ in rows:
        row = next(r for r in rows if r[0] == number)
        if title != section:
            section = title
            out.append(f"\n## {title}\n\n| | statement | here | shown by |\n| --- | --- | --- | --- |\n")
        out.append(f"| {number} | {text} | {here} | {', '.join(map(link, shows_of(row)))} |\n")
    return {PAGE: "".join(out)}


PLANTED_ROW = 'STATEMENT({}, "S", "it is", "as it is", "{}")\n'
PLANT = {
    ROWS: PLANTED_ROW.format(1, "scenarios/a.json") + PLANTED_ROW.format(2, "tests/t.c: it_is")
          + 'STATEMENT(3, "S", "it is", "not here: why", "")\n',
    "scenarios/a.json": "{}",
    "tests/t.c": "static void it_is(void **state)\n",
}
PLANTS = [  # what is changed -> what must be said about it
    ({PAGE: "another"}, "pvrdma.md is not current"),
    ({ROWS: PLANTED_ROW.format(1, "scenarios/b.json")}, "row 1: there is no scenarios/b.json"),
    ({ROWS: PLANTED_ROW.format(1, "tests/t.c: it_is_not")}, "tests/t.c has no test 'it_is_not'"),
    ({ROWS: PLANTED_ROW.format(1, "scenarios/a.json") * 2}, "number 1 is there twice"),
    ({ROWS: PLANTED_ROW.format(1, "")}, "row 1: say who shows it"),
    ({ROWS: 'STATEMENT(1, "S", "it is", "not here: why", "scenarios/a.json")\n'}, "row 1: say who shows it"),
    ({ROWS: "STATEMENT(1,\n"}, "a row that is none"),
]


def self_test():
    yield from self_test_of(sys.modules[__name__], PLANT, PLANTS)
