#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What the virtio-rdma RFC demands, and who shows it: writes book/rfc.md.

usage: write_rfc.py [--check | --self-test] [ROOT]

The rows are src/emu/facts/virtio_rdma/normative.def.  --check writes nothing and says what is wrong: a
page that is not current, a row that names no scenario or test that exists, a number that is there
twice.
"""
import pathlib
import re
import sys
import tempfile

ROWS = "src/emu/facts/virtio_rdma/normative.def"
PAGE = "book/rfc.md"
STRING = r'"((?:\\.|[^"\\])*)"'
ROW = re.compile(rf"^NORMATIVE\((\d+), (DEVICE|DRIVER), (MUST|MUST_NOT|SHOULD|SHOULD_NOT), "
                 rf"{STRING}, {STRING}, {STRING}, {STRING}\)$", re.MULTILINE)
ROW_BEGIN = re.compile(r"^NORMATIVE\(", re.MULTILINE)

HEAD = """\
# What the RFC demands

Every MUST and SHOULD of the RFC "Virtio RDMA" of February 2022, of devices and of drivers, in this
project's words; what is done here; and who shows it. `tools/write_rfc.py` writes this page from
`{rows}`; nobody edits it. What the text leaves open is on
[a page of its own](rfc-open.md).

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
        sys.exit(f"{ROWS}: a row that is none")
    return rows


def shows_of(row):
    return [name.strip() for name in row[6].split(";")]


def check_rows(root, rows):
    """Yields what is wrong, or None."""
    numbers = [row[0] for row in rows]
    for row in rows:
        yield None if numbers.count(row[0]) == 1 else f"number {row[0]} is there twice"
        for name in shows_of(row):
            path, _, function = name.partition(": ")
            file = root / path
            if not file.is_file():
                yield f"row {row[0]}: there is no {path}"
            elif path.endswith(".json"):
                yield None if path.startswith("scenarios/") else f"row {row[0]}: {path} is no scenario"
            else:
                known = re.search(rf"^static void {re.escape(function)}\(void \*\*state\)", file.read_text(),
                                  re.MULTILINE)
                yield None if function and known else f"row {row[0]}: {path} has no test {function!r}"


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


def complaints(root):
    rows = rows_of(root)
    yield from check_rows(root, rows)
    page = root / PAGE
    current = page.is_file() and page.read_text() == page_of(rows)
    yield None if current else f"{PAGE} is not current: tools/write_rfc.py writes it"


def self_test():
    """A row about a test that there is not, one about nothing, and a page that somebody edited."""
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        for path in (ROWS, PAGE, "scenarios/a.json", "tests/t.c"):
            (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / "scenarios/a.json").write_text("{}")
        (root / "tests/t.c").write_text("static void it_is(void **state)\n")
        row = 'NORMATIVE({}, DEVICE, MUST, "S", "be", "is", "{}")\n'
        (root / ROWS).write_text(row.format(1, "scenarios/a.json") + row.format(2, "tests/t.c: it_is"))
        (root / PAGE).write_text(page_of(rows_of(root)))
        assert not any(complaints(root))
        (root / PAGE).write_text("another")
        assert any(complaints(root))
        for bad in ("scenarios/b.json", "tests/t.c: it_is_not", "tests/t.c", "tests/t.c: it"):
            (root / ROWS).write_text(row.format(1, bad))
            (root / PAGE).write_text(page_of(rows_of(root)))
            assert any(complaints(root)), bad
        (root / ROWS).write_text(row.format(1, "scenarios/a.json") * 2)
        (root / PAGE).write_text(page_of(rows_of(root)))
        assert any(complaints(root))
    print("1 passed, 0 failed")


def main():
    args = sys.argv[1:]
    if args[:1] == ["--self-test"]:
        self_test()
        return 0
    check = args[:1] == ["--check"]
    root = pathlib.Path(args[-1] if args[check:] else pathlib.Path(__file__).resolve().parents[1])
    if not check:
        (root / PAGE).write_text(page_of(rows_of(root)))
    said = list(complaints(root))
    wrong = [what for what in said if what]
    for what in wrong:
        print(what)
    print(f"{len(said) - len(wrong)} passed, {len(wrong)} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
