# SPDX-License-Identifier: MIT
"""Who shows which behaviour: src/cli/explain/shown.def and book/conformance.md.

The behaviours are the rows of src/emu/facts/behaviours.def.  A scenario names those that it shows in
"shows".  A test is a function behind a comment that ends with them:

    /* An acknowledge that got lost makes a duplicate.  Shows B49, I1. */
    static void a_lost_ack_makes_a_duplicate(void **state)

in tests/unit, and in the script check behind lines that begin with a number sign.  What Linux rxe agrees
about is said by tests/interop/verbs_shown.py.  A name that does not exist is an error, of a rule or a
profile's trait too, and so is a trait that belongs to no behaviour.

It is also a problem if an operation, completion status, kind of acknowledge or asynchronous event is
asked for by no scenario: in what it expects, or as the op= of a request.  Words whose row says "never"
are left out, and those of NOT_SEEN.
"""
import importlib
import json
import pathlib
import re
import sys
from dataclasses import dataclass

from pages.page import STRING, Wrong, self_test_of

ROWS = "src/emu/facts/behaviours.def"
CITATIONS = "src/emu/facts/citations.def"
ENUMS = "src/emu/facts/enum"  # a header for each enumeration
SHOWN = "src/cli/explain/shown.def"
PAGE = "book/conformance.md"
RULES = "src/emu/facts/rules.def"
TRAITS = "src/emu/facts/profiles.def"
INTEROP = "tests/interop"

ROW = re.compile(rf"^BEHAVIOUR\((\w), (\d+), {STRING}, {STRING}, {STRING}, {STRING}\)$|"
                 rf"^BEHAVIOUR_GROUP\({STRING}\)$", re.MULTILINE)
RULE = re.compile(r"^RULE\((\w+), ", re.MULTILINE)
TRAIT = re.compile(r"^TRAIT\((\w+), ", re.MULTILINE)
ROW_BEGIN = re.compile(r"^BEHAVIOUR", re.MULTILINE)
CITE = re.compile(r'^CITE\((\w+), "([^"]+)", (\w+)', re.MULTILINE)
BRACKET = re.compile(r"\[(\w+) ([^\]]*)\]")

GAP = r"\s+(?:[*#]\s+)?"  # a comment may go on in the next line
MENTION = re.compile(rf"\bShows{GAP}[BIL]\d")
NAMES = rf"\bShows{GAP}(?P<names>[BIL]\d+(?:,{GAP}[BIL]\d+)*)\."
C_TEST = re.compile(rf"{NAMES}(?:\s*|\s\*\s*)\*/\nstatic void (?P<test>\w+)\(void \*\*state\)\n")
SH_TEST = re.compile(rf"{NAMES}\n(?P<test>\w+)\(\) ")

WORD_TABLES = ("SEND_OPCODE", "WC_OPCODE", "WC_STATUS", "SYNDROME", "ASYNC_EVENT")
WORD_TABLE = r"#define ENUM_%s\(X\)((?:.*\\\n)*.*\n)"
WORD_ROW = re.compile(rf"X\(\w+, (\w+), \w+,[\s\\]*{STRING}")
NOT_SEEN = {
    "NAK_RESERVED": "no responder here sends one",
}

PAGE_HEAD = """\
# What is shown

What a faithful implementation must show, and which scenario or test shows it here.
`tools/write_docs.py` writes this page; nobody edits it. B is a behaviour that can be seen; I
is an invariant, which holds after every event. `explain` knows them too:

```text
$ rdmalab explain B74
B74   behaviour
  A READ or WRITE of no bytes succeeds whatever its R_Key is, with immediate data too.
  sources   [IBTA1 C9-88]
...
```

{shown} of {total} are shown; of the others it says _nothing yet_. Where a row says several things,
each that is named shows at least one of them. `(unverified)` is a section that nobody has held
against the text.

**rules**: the names by which a trace, a completion or `explain` says that one of them objected.
**profiles**: where a host with `profile=rxe` does otherwise, or may; `explain profiles` says how.
**who agrees**: what nobody here wrote, and agrees about at least a part of the row. _rxe_: these
[sections](../tests/interop/verbs_shown.py) end with Linux rxe as rxe with rxe ends, in each direction, but
for the profiles' differences. _text_: a specification, a manual page or source that is public says
it. _Scapy_ computes the ICRC of every frame of every scenario again; _tshark_ reads it, and sees the
opcode, the PSN and the queue pair that the trace tells of.
"""
AGREE = {"I19": ["Scapy", "tshark"]}
PUBLIC = re.compile(r"\(3\)|Linux:|source of rxe|rxe quotes")  # what can be read, without a number in brackets
SHOWN_HEAD = """\
/* SPDX-License-Identifier: MIT */
/* The scenarios and tests that show each behaviour.  Written by tools/write_docs.py; do not edit. */
"""


@dataclass(frozen=True)
class Row:
    name: str
    about: str
    sources: str
    rules: list
    traits: list


def names_in(text):
    return text.split(", ") if text else []


def read_rows(root):
    """[(title, [Row, ...]), ...] of the table of behaviours."""
    text = (root / ROWS).read_text()
    groups = []
    for row in ROW.finditer(text):
        letter, number, about, sources, rules, traits, title = row.groups()
        if title is not None:
            groups.append((title, []))
        else:
            groups[-1][1].append(Row(letter + number, about, sources, names_in(rules), names_in(traits)))
    if len(ROW_BEGIN.findall(text)) != len(ROW.findall(text)):
        raise Wrong(f"{ROWS}: a row is not written as the others are")
    return groups


def order_of(name):
    return "ILB".index(name[0]), int(name[1:])


def from_scenarios(root):
    """Yields (file, behaviour, where)."""
    for path in sorted((root / "scenarios").glob("*.json")):
        name = path.relative_to(root).as_posix()
        for shown in json.loads(path.read_text()).get("shows", []):
            yield name, shown.upper(), name


def from_tests(root):
    for path in [*sorted((root / "tests/unit").rglob("*.c")), root / "check"]:
        if not path.exists():
            continue
        text = path.read_text()
        name = path.relative_to(root).as_posix()
        found = list((C_TEST if path.suffix == ".c" else SH_TEST).finditer(text))
        if len(found) != len(MENTION.findall(text)):
            raise Wrong(f'{name}: "Shows ..." that does not end the comment before a test')
        for match in found:
            for shown in re.findall(r"[BIL]\d+", match["names"]):
                yield name, shown, f"{name}: {match['test']}"


def read_shown(root, known):
    """{behaviour: [where, ...]}"""
    shown = {}
    for file, name, where in [*from_scenarios(root), *from_tests(root)]:
        if name not in known:
            raise Wrong(f"{file}: no behaviour is called {name}: {ROWS} has no such row")
        if where in shown.setdefault(name, []):
            raise Wrong(f"{file}: {name} is named twice")
        shown[name].append(where)
    return shown


def shown_def(shown):
    rows = [f'SHOWN({name[0]}, {name[1:]}, "{where}")\n'
            for name in sorted(shown, key=order_of) for where in shown[name]]
    return SHOWN_HEAD + "".join(rows)


def marked(sources, verified):
    """@sources, with a mark behind each number that nobody has verified."""
    def mark(bracket):
        document, numbers = bracket.groups()
        return "[" + document + " " + ", ".join(
            n if verified.get((document, n), True) else f"{n} (unverified)"
            for n in numbers.split(", ")) + "]"
    return BRACKET.sub(mark, sources)


def link(where):
    file, _, test = where.partition(": ")
    name = test or pathlib.PurePath(file).stem
    return f"[{name}](../{file})"


def plain(text):
    return text.replace("*", r"\*").replace("_", r"\_")


def who_agrees(row, verified, sections):
    """Who outside of this project says the same: ["rxe: rc\\_read", "text"]."""
    found = [f"rxe: {plain(', '.join(sections[row.name]))}"] if row.name in sections else []
    numbers = [(document, n) for document, ns in BRACKET.findall(row.sources) for n in ns.split(", ")]
    if any(verified.get(number) for number in numbers) or PUBLIC.search(BRACKET.sub("", row.sources)):
        found.append("text")
    return found + AGREE.get(row.name, [])


def page(groups, shown, verified, sections, unnamed):
    total = sum(len(rows) for _, rows in groups)
    parts = [PAGE_HEAD.format(shown=len(shown), total=total)]
    for title, rows in groups:
        parts.append(f"\n## {title}\n\n| | what must hold | rules | profiles | shown by | who agrees |\n"
                     "| --- | --- | --- | --- | --- | --- |\n")
        for row in rows:
            about = plain(row.about)
            if row.sources:
                about += f" <sub>{marked(row.sources, verified).replace('_', chr(92) + '_')}</sub>"
            by = ", ".join(link(where) for where in shown.get(row.name, [])) or "_nothing yet_"
            parts.append(f"| {row.name} | {about} | {plain(', '.join(row.rules))} | {plain(', '.join(row.traits))} | "
                         f"{by} | {'; '.join(who_agrees(row, verified, sections))} |\n")
    if unnamed:
        parts.append("\n## Rules of none of these\n\nThey are about the form of what a driver hands to the device, "
                     f"or of a call: {plain(', '.join(unnamed))}.\n")
    return "".join(parts)


def words_asked_for(steps):
    """The words that what @steps expect, and the requests among them, name."""
    words = set()
    for step in steps:
        words.update(re.findall(r"\w+", f'{step.get("that", "")} {step.get("op", "")}'.upper()))
        words |= words_asked_for(step.get("steps", []))
    return words


def problems(root):
    """Yields a problem or None for each word that a scenario has to show."""
    text = "".join(path.read_text() for path in sorted((root / ENUMS).glob("*.h")))
    asked = set()
    for path in (root / "scenarios").glob("*.json"):
        asked |= words_asked_for(json.loads(path.read_text()).get("steps", []))
    for table in WORD_TABLES:
        rows = re.search(WORD_TABLE % table, text)
        words = WORD_ROW.findall(rows[1] if rows else "")
        if not words:
            yield f"ENUM_{table} of {ENUMS} has no rows that can be read"
        for word, about in words:
            if word in NOT_SEEN and word in asked:
                yield f"{word} is seen by now: NOT_SEEN of tools/pages/behaviours.py names it"
            elif word not in asked and word not in NOT_SEEN and "never" not in about:
                yield f"no scenario asks for {word}, of ENUM_{table} in {ENUMS}"
            else:
                yield None


def names_of(root, name, pattern):
    """The names of the rows of the table @name; none if there is no such table."""
    path = root / name
    return pattern.findall(path.read_text()) if path.exists() else []


def rules_of_none(root, groups):
    """The rules that no behaviour names.  Names that there are not, and traits without a behaviour, are wrong."""
    rows = [row for _, group in groups for row in group]
    rules, traits = names_of(root, RULES, RULE), names_of(root, TRAITS, TRAIT)
    for row in rows:
        for name, table, where in [(r, rules, RULES) for r in row.rules] + [(t, traits, TRAITS) for t in row.traits]:
            if name not in table:
                raise Wrong(f"{ROWS}: {row.name} names {name}, which is no row of {where}")
    for trait in traits:
        if not any(trait in row.traits for row in rows):
            raise Wrong(f"{TRAITS}: {trait} belongs to no row of {ROWS}")
    return [rule for rule in rules if rule != "NONE" and not any(rule in row.rules for row in rows)]


def rxe_sections(root, known):
    """{behaviour: [section of verbs_peer, ...]}"""
    if not (root / INTEROP).exists():
        return {}
    sys.path.insert(0, str(root / INTEROP))
    names = [section.name for section in importlib.import_module("verbs_lines").sections()]
    shown, wrong = importlib.import_module("verbs_shown").shown_by(names)
    wrong += [f"no behaviour is called {name}" for name in shown if name not in known]
    if wrong:
        raise Wrong(f"{INTEROP}/verbs_shown.py: {wrong[0]}")
    return shown


def outputs(root):
    """{file: what has to be in it}"""
    groups = read_rows(root)
    known = {row.name for _, rows in groups for row in rows}
    shown = read_shown(root, known)
    unnamed, sections = rules_of_none(root, groups), rxe_sections(root, known)
    verified = {(document, number): state == "VERIFIED"
                for document, number, state in CITE.findall((root / CITATIONS).read_text())}
    return {SHOWN: shown_def(shown), PAGE: page(groups, shown, verified, sections, unnamed)}


def planted(table, row):
    return f"#define ENUM_{table}(X) \\\n    {row}\n\n"


PLANTED_ENUMS = "".join(planted(t, 'X(W, UNUSED, 9, "never")')
                        for t in ("WC_OPCODE", "SYNDROME", "ASYNC_EVENT"))
PLANTED_HEADER = f"{ENUMS}/planted.h"
PLANT = {
    ROWS: 'BEHAVIOUR_GROUP("G")\nBEHAVIOUR(I, 1, "one", "", "", "")\n'
          'BEHAVIOUR(B, 2, "a_b", "[D 1, 2]; d", "R_A", "T_A")\n',
    RULES: 'RULE(NONE, 0, "")\nRULE(R_A, 1, "")\nRULE(R_B, 2, "")\n',
    TRAITS: "TRAIT(T_A, 1, 0,\n",
    CITATIONS: 'CITE(D, "1", UNVERIFIED, "")\nCITE(D, "2", VERIFIED, "")\n',
    PLANTED_HEADER: PLANTED_ENUMS +
           '#define ENUM_WC_STATUS(X) \\\n    X(W, OK, 0, "done") \\\n    X(W, NO, 1, \\\n      "never")\n\n'
           '#define ENUM_SEND_OPCODE(X) \\\n    X(O, READ, 4, "it reads")\n\nX(W, ELSE, 2, "no row")\n',
    "scenarios/01-s.json": '{"shows": ["b2"], "steps": [{"steps": [{"op": "read"}]}, {"that": "a == OK"}]}',
    "tests/unit/t.c": "/* So.  Shows I1,\n * B2. */\nstatic void t_t(void **state)\n{\n}\n",
    "check": "# So.  Shows I1.\nf_f() {\n}\n",
}
PLANTS = [  # what is changed -> what must be said about it
    ({"scenarios/02-s.json": '{"shows": ["B3"]}'}, "scenarios/02-s.json: no behaviour is called B3"),
    ({"scenarios/02-s.json": '{"shows": ["B2", "B2"]}'}, "B2 is named twice"),
    ({"tests/unit/u.c": "/* Shows B2. */\nint x;\n"}, "tests/unit/u.c: \"Shows"),
    ({"tests/unit/u.c": "/* Shows B2, and more. */\nstatic void t(void **state)\n"}, "u.c: \"Shows"),
    ({"tests/unit/u.c": "/* Shows B1. */\nstatic void t(void **state)\n"}, "called B1"),
    ({ROWS: 'BEHAVIOUR(B, 1,\n    "one", "", "", "")\n'}, "a row is not written"),
    ({RULES: 'RULE(R_B, 2, "")\n'}, "B2 names R_A"),
    ({TRAITS: "TRAIT(T_A, 1, 0,\nTRAIT(T_B, 1, 0,\n"}, "T_B belongs to no row"),
    ({"scenarios/02-s.json": '{"shows": ["I1"]}'}, "shown.def is not current"),
    ({CITATIONS: 'CITE(D, "1", VERIFIED, "")\n'}, "conformance.md is not current"),
    ({PAGE: "edited\n"}, "conformance.md is not current"),
    ({"scenarios/01-s.json": '{"shows": ["B2"], "steps": [{"op": "read"}]}'}, "asks for OK"),
    ({"scenarios/01-s.json": '{"shows": ["B2"], "steps": [{"that": "a == OK"}]}'}, "asks for READ"),
    ({"scenarios/02-s.json": '{"steps": [{"that": "a == NAK_RESERVED"}]}',
      PLANTED_HEADER: planted("SYNDROME", 'X(A, NAK_RESERVED, 1, "it")')}, "is seen by now"),
    ({PLANTED_HEADER: PLANTED_ENUMS}, "ENUM_SEND_OPCODE of src/emu/facts/enum has no rows"),
]
PLANTED_SHOWN = SHOWN_HEAD + """\
SHOWN(I, 1, "tests/unit/t.c: t_t")
SHOWN(I, 1, "check: f_f")
SHOWN(B, 2, "scenarios/01-s.json")
SHOWN(B, 2, "tests/unit/t.c: t_t")
"""
PLANTED_ROW = (r"| B2 | a\_b <sub>[D 1 (unverified), 2]; d</sub> | R\_A | T\_A | [01-s](../scenarios/01-s.json), "
               "[t_t](../tests/unit/t.c) | text |\n")


def plant_is_written(written):
    return written[SHOWN] == PLANTED_SHOWN and PLANTED_ROW in written[PAGE]


def self_test():
    yield from self_test_of(sys.modules[__name__], PLANT, PLANTS, plant_is_written)
