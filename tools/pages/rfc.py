# SPDX-License-Identifier: MIT
"""What the virtio-rdma RFC demands, and who shows it: book/rfc.md.

The rows are src/emu/facts/virtio_rdma/normative.def.  It is a problem if a row names no scenario or
test that exists, or has a number that is there twice.
"""
import pathlib
import re
import sys

from pages.page import STRING, Wrong, self_test_of

ROWS = "src/emu/facts/virtio_rdma/normative.def"
PAGE = "book/rfc.md"
ROW = re.compile(rf"^NORMATIVE\((\d+), (DEVICE|DRIVER), (MUST|MUST_NOT|SHOULD|SHOULD_NOT), "
                 rf"{STRING}, {STRING}, {STRING}, {STRING}\)$", re.MULTILINE)
ROW_BEGIN = re.compile(r"^NORMATIVE\(", re.MULTILINE)

HEAD = """\
# What the RFC demands

Every MUST and SHOULD of the RFC "Virtio RDMA" of February 2022, of devices and of drivers, in this
project's words; what is done here; and who shows it. `tools/write_docs.py` writes this page from
`{rows}`; nobody edits it. What the text leaves open is on
[a page of its own](rfc-open.md), and what the driver of a real kernel lacks in it
[in a chapter](virtio-rdma-in-linux.md).

{device} are for the device, {driver} for the driver. What the device refuses has a name:

```text
$ rdmalab explain MEM_MGT_EXTENSIONS
MEM_MGT_EXTENSIONS   reason to refuse a control request 42
  fast registration needs the capability MEM_MGT_EXTENSIONS, bit 21 of device_cap_flags
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
    return [name.strip() for name in row[6].split(";")]


def problems_of(root, shown):
    """Yields a problem or None for each of @shown, which are numbers of rows and the names of those that show them."""
    numbers = [number for number, _ in shown]
    for row, names in shown:
        yield None if numbers.count(row) == 1 else f"number {row} is there twice"
        for name in names:
            path, _, function = name.partition(": ")
            file = root / path
            if not file.is_file():
                yield f"row {row}: there is no {path}"
            elif path.endswith(".json"):
                yield None if path.startswith("scenarios/") else f"row {row}: {path} is no scenario"
            else:
                known = re.search(rf"^static void {re.escape(function)}\(void \*\*state\)", file.read_text(),
                                  re.MULTILINE)
                yield None if function and known else f"row {row}: {path} has no test {function!r}"


def problems(root):
    """Yields a problem or None for each row."""
    yield from problems_of(root, [(row[0], shows_of(row)) for row in rows_of(root)])


def link(name):
    path, _, function = name.partition(": ")
    return f"[`{function}`](../{path})" if function else f"[{pathlib.Path(path).stem}](../{path})"


def page_of(rows):
    out = [HEAD.format(rows=ROWS, device=sum(row[1] == "DEVICE" for row in rows),
                       driver=sum(row[1] == "DRIVER" for row in rows))]
    section = None
    for row in rows:
        number, who, strength, title, text, done, _ = row
        if title != section:
            section = title
            out.append(f"\n## {title}\n\n| | who | demand | here | shown by |\n| --- | --- | --- | --- | --- |\n")
        verb = strength.replace("_", " ")
        shown = ", ".join(link(name) for name in shows_of(row))
        out.append(f"| {number} | {who.lower()} | **{verb}** {text} | {done} | {shown} |\n")
    return "".join(out)


def outputs(root):
    """{file: what has to be in it}"""
    return {PAGE: page_of(rows_of(root))}


PLANTED_ROW = 'NORMATIVE({}, DEVICE, MUST, "S", "be", "is", "{}")\n'
PLANT = {
    ROWS: PLANTED_ROW.format(1, "scenarios/a.json") + PLANTED_ROW.format(2, "tests/t.c: it_is"),
    "scenarios/a.json": "{}",
    "tests/t.c": "static void it_is(void **state)\n",
}
PLANTS = [  # what is changed -> what must be said about it
    ({PAGE: "another"}, "rfc.md is not current"),
    ({ROWS: PLANTED_ROW.format(1, "scenarios/b.json")}, "row 1: there is no scenarios/b.json"),
    ({ROWS: PLANTED_ROW.format(1, "tests/t.c: it_is_not")}, "tests/t.c has no test 'it_is_not'"),
    ({ROWS: PLANTED_ROW.format(1, "tests/t.c")}, "tests/t.c has no test ''"),
    ({ROWS: PLANTED_ROW.format(1, "tests/t.c: it")}, "tests/t.c has no test 'it'"),
    ({ROWS: PLANTED_ROW.format(1, "scenarios/a.json") * 2}, "number 1 is there twice"),
    ({ROWS: "NORMATIVE(1,\n"}, "a row that is none"),
]


def self_test():
    yield from self_test_of(sys.modules[__name__], PLANT, PLANTS)
