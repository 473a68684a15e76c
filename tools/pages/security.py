# SPDX-License-Identifier: MIT
"""The table of attacks in book/security.md.

The rows are src/swarm/drills/rogue_attacks.def; the drill of a rogue guest is made from the same rows.  The text
around the table is the page's own.  It is a problem if the scenario or the file of a row does not exist, if the
scenario does not show the drop reason or status of its row, or if a drop reason, status or error is none.
"""
import re
import sys

from pages.page import STRING, Wrong, self_test_of

ROWS = "src/swarm/drills/rogue_attacks.def"
PAGE = "book/security.md"
BEGIN = f"<!-- tools/write_docs.py writes this table from {ROWS} -->\n"
END = "<!-- end of the table -->\n"
NAMES = {  # where the values of a kind of end are rows
    "OWN_DROP": "src/emu/facts/enum/drop.h",
    "DROP": "src/emu/facts/enum/drop.h",
    "ANSWER": "src/emu/facts/enum/drop.h",
    "STATUS": "src/emu/facts/enum/wc_status.h",
    "REFUSED": "include/rdmalab/status.def",
    "REQUEST": "src/emu/facts/refusals.def",
}
SHOWN = ("OWN_DROP", "DROP", "ANSWER", "STATUS", "REQUEST")  # a scenario must name these values
ENDS = {
    "OWN_DROP": "its adapter drops it: `{}`",
    "DROP": "the receiver drops it: `{}`",
    "ANSWER": "the peer of the victim drops the answer: `{}`",
    "STATUS": "its own request fails: `{}`",
    "REFUSED": "refused: `{}`",
    "REQUEST": "its device refuses it: `{}`",
    "NOTHING": "nothing happens to others",
    "SHARE": "it works, in turns",
    "OPEN": "**it works**",
}
ROW = re.compile(
    rf"^(?:ATTACK\((\w+), |TOLD\()(\w+), (\w+), {STRING}, {STRING}, {STRING}, {STRING}, {STRING}\)$", re.MULTILINE
)
ROW_BEGIN = re.compile(r"^(?:ATTACK|TOLD)\(", re.MULTILINE)
PART = re.compile(rf"^/\* (.+) \*/$|{ROW.pattern}", re.MULTILINE)
HEAD = "| a guest tries | end | stopped by | others pay | scenario |\n| --- | --- | --- | --- | --- |\n"


def rows_of(root):
    text = (root / ROWS).read_text()
    rows = [found.groups() for found in ROW.finditer(text)]
    if len(rows) != len(ROW_BEGIN.findall(text)):
        raise Wrong(f"{ROWS}: a row that is none")
    return rows


def title_of(name):
    """"962-spoof-check" -> "962\""""
    return name.split("-")[0]


def line_of(row):
    name, end, value, attack, check, file, cost, scenario = row
    if end not in ENDS:
        raise Wrong(f"{ROWS}: {end} is no end of an attack")
    mark = "" if name else " ¹"
    where = file.rsplit("/", 1)[1]
    return (
        f"| {attack}{mark} | {ENDS[end].format(value)} | {check} ([{where}](../{file})) | {cost} "
        f"| [{title_of(scenario)}](../scenarios/{scenario}.json) |\n"
    )


def table_of(root):
    rows_of(root)
    out, text = [], (root / ROWS).read_text()
    for found in PART.finditer(text):
        heading, *row = found.groups()
        if heading and not heading.startswith("SPDX"):
            out.append(f"\n### {heading}\n\n{HEAD}")
        elif not heading:
            out.append(line_of(row))
    return "".join(out)


def outputs(root):
    """{file: what has to be in it}"""
    page = (root / PAGE).read_text()
    if page.count(BEGIN) != 1 or page.count(END) != 1:
        raise Wrong(f"{PAGE} has no place for the table")
    before, rest = page.split(BEGIN)
    return {PAGE: before + BEGIN + table_of(root) + "\n" + END + rest.split(END)[1]}


def names_of(root, path):
    """The names of the rows of an enumeration."""
    row = r"\b(?:X\((?:\w+, )?|REFUSAL\()(\w+), (?:\d+, )?(?:[A-Z_]+, )?\""
    return set(re.findall(row, (root / path).read_text()))


def problems(root):
    """Yields a problem or None for each row."""
    for _, end, value, attack, _, file, _, scenario in rows_of(root):
        shows = root / f"scenarios/{scenario}.json"
        if end in NAMES:
            yield None if value in names_of(root, NAMES[end]) else f"{value} is not in {NAMES[end]}"
        else:
            yield None if value == "NONE" else f"'{attack}' has a value"
        yield None if (root / file).exists() else f"there is no {file}"
        if not shows.exists():
            yield f"there is no scenario {scenario}"
        else:
            told = end not in SHOWN or value.lower() in shows.read_text().lower()
            yield None if told else f"scenario {scenario} does not show {value}"


PLANTED = '/* Frames */\nATTACK({}, {}, {}, "a", "b", "{}", "c", "{}")\nTOLD(OPEN, NONE, "d", "e", "src/f.c", "g", "1-a")\n'
RIGHT = PLANTED.format("x", "DROP", "SHORT", "src/f.c", "1-a")
PLANT = {
    ROWS: RIGHT,
    PAGE: f"# Security\n\n{BEGIN}{END}\nmore\n",
    "src/f.c": "",
    "src/emu/facts/enum/drop.h": 'X(DROP, SHORT, 1, "text") X(DROP, LONG, 2, "text")\n',
    "src/emu/facts/enum/wc_status.h": 'X(WCS, SUCCESS, 0, "text")\n',
    "src/emu/facts/refusals.def": 'REFUSAL(PD_LIMIT, 12, NO_ROOM, "", " more")\n',
    "include/rdmalab/status.def": 'X(ERR_INVAL, "text", "more")\n',
    "scenarios/1-a.json": "count(drop, reason==SHORT)",
}
PLANTS = [  # what is changed -> what must be said about it
    ({ROWS: RIGHT.replace('"d"', '"another"')}, "security.md is not current"),
    ({ROWS: PLANTED.format("x", "DROP", "LONG", "src/f.c", "1-a")}, "scenario 1-a does not show LONG"),
    ({ROWS: PLANTED.format("x", "DROP", "WIDE", "src/f.c", "1-a")}, "WIDE is not in src/emu/facts/enum/drop.h"),
    ({ROWS: PLANTED.format("x", "REFUSED", "ERR_X", "src/f.c", "1-a")}, "ERR_X is not in include/rdmalab/status.def"),
    ({ROWS: PLANTED.format("x", "REQUEST", "NO_ROOM", "src/f.c", "1-a")}, "NO_ROOM is not in src/emu/facts/refusals.def"),
    ({ROWS: PLANTED.format("x", "REQUEST", "PD_LIMIT", "src/f.c", "1-a")}, "scenario 1-a does not show PD_LIMIT"),
    ({ROWS: PLANTED.format("x", "DROP", "SHORT", "src/g.c", "1-a")}, "there is no src/g.c"),
    ({ROWS: PLANTED.format("x", "DROP", "SHORT", "src/f.c", "2-b")}, "there is no scenario 2-b"),
    ({ROWS: PLANTED.format("x", "SHARE", "SHORT", "src/f.c", "1-a")}, "'a' has a value"),
    ({ROWS: PLANTED.format("x", "MAYBE", "NONE", "src/f.c", "1-a")}, "MAYBE is no end of an attack"),
    ({ROWS: "ATTACK(1,\n"}, "a row that is none"),
    ({PAGE: "# Security\n"}, "has no place for the table"),
]


def self_test():
    yield from self_test_of(sys.modules[__name__], PLANT, PLANTS)
