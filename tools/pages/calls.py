# SPDX-License-Identifier: MIT
"""Calls of the kernel and of programs: book/calls.md.

The rows are src/cli/explain/calls.def.  It is a problem if a row has no call, if a call of the kernel or of a program
is there twice, or if a command of a row is none.
"""
import re
import sys

from pages.page import STRING, Wrong, self_test_of

ROWS = "src/cli/explain/calls.def"
COMMANDS = ("src/cli/lang/commands.def", "src/cli/lang/commands_verbs.def", "src/cli/lang/commands_cm.def")
PAGE = "book/calls.md"
CALL = re.compile(rf"^CALL\({STRING}, {STRING}, {STRING}, {STRING}\)$", re.MULTILINE)
STAGE = re.compile(rf"^STAGE\({STRING}, {STRING}, {STRING}, {STRING}\)$", re.MULTILINE)
PART = re.compile(r"^/\* (\w+) \*/$|^CALL\(", re.MULTILINE)
COMMAND = re.compile(r"^CMD\((\w+),", re.MULTILINE)
BEGIN = re.compile(r"^(?:CALL|STAGE)\(", re.MULTILINE)

HEAD = """\
# Calls of the kernel and of programs

What a driver in the kernel calls, what a program calls for the same, and the command of the lab. Who ports one to the
other meets two differences again and again: the kernel is called back where a program waits for an event and
acknowledges it, and the kernel's addresses are those that a device uses where those of a program are virtual.
`tools/write_docs.py` writes this page from `{rows}`; nobody edits it. `explain kernel-calls` and
`explain program-calls` print the same rows, and each call of the kernel has a page:

```text
$ rdmalab explain ib_get_dma_mr
ib_get_dma_mr   call of the kernel
  a program has no such call; here: get_dma_mr
  a region of all memory, for addresses that ib_dma_map_single() returns; a program registers what
  it uses
  see it: explain kernel-calls
```
"""


def rows_of(root):
    text = (root / ROWS).read_text()
    calls, stages = CALL.findall(text), STAGE.findall(text)
    if len(calls) + len(stages) != len(BEGIN.findall(text)):
        raise Wrong(f"{ROWS}: a row that is none")
    return calls, stages


def problems(root):
    """Yields a problem or None for each row of calls."""
    calls, _ = rows_of(root)
    commands = {name for path in COMMANDS for name in COMMAND.findall((root / path).read_text())}
    for column in (0, 1):
        names = [row[column] for row in calls if row[column]]
        for name in names:
            yield None if names.count(name) == 1 else f"{name} is there twice"
    for kernel, program, command, _ in calls:
        yield None if kernel or program else "a row has no call"
        yield None if not command or command in commands else f"there is no command {command}"


def code(names):
    return ", ".join(f"`{name.strip()}`" for name in names.split(",")) if names else ""


def parts_of(text):
    """The heading above each row of calls."""
    heading, out = "", []
    for found in PART.finditer(text):
        heading = found[1] or heading
        if not found[1]:
            out.append(heading)
    return out


def page_of(calls, stages, headings):
    out, last = [HEAD.format(rows=ROWS)], None
    for (kernel, program, command, text), heading in zip(calls, headings):
        if heading != last:
            out.append(f"\n## {heading}\n\n| kernel | program | here | |\n| --- | --- | --- | --- |\n")
            last = heading
        out.append(f"| {code(kernel)} | {code(program)} | {code(command)} | {text} |\n")
    out.append("\n## When a program needs them\n\n| | set up | use | take down |\n| --- | --- | --- | --- |\n")
    for subject, *stage in stages:
        out.append("| " + " | ".join([subject, *(code(names) for names in stage)]) + " |\n")
    return "".join(out)


def outputs(root):
    """{file: what has to be in it}"""
    calls, stages = rows_of(root)
    return {PAGE: page_of(calls, stages, parts_of((root / ROWS).read_text()))}


PLANTED = '/* Work */\nCALL("{}", "{}", "{}", "text")\nSTAGE("work", "a, b", "", "c")\n'
PLANT = {
    ROWS: PLANTED.format("ib_a", "ibv_a", "a"),
    **{path: "CMD(a, LOOK)\n" for path in COMMANDS},
}
PLANTS = [  # what is changed -> what must be said about it
    ({PAGE: "another"}, "calls.md is not current"),
    ({ROWS: PLANTED.format("ib_a", "ibv_a", "b")}, "there is no command b"),
    ({ROWS: PLANTED.format("", "", "a")}, "a row has no call"),
    ({ROWS: PLANTED.format("ib_a", "ibv_a", "a") + PLANTED.format("ib_a", "ibv_b", "a")}, "ib_a is there twice"),
    ({ROWS: "CALL(1,\n"}, "a row that is none"),
]


def self_test():
    yield from self_test_of(sys.modules[__name__], PLANT, PLANTS)
