# SPDX-License-Identifier: MIT
"""Transcripts of verbs_peer: what rxe with rxe has printed, as a table of expectations, and whether
others print the same.

verbs.expected has each section once, for every path MTU: {mtu+1} stands for a number of bytes.
"""
import pathlib
import re
from collections import Counter

import verbs_likes
import verbs_lines

EXPECTED = pathlib.Path(__file__).with_name("verbs.expected")
LINE = re.compile(r"(section|check|digest|refused) |\w+: qp=|end$")
HEAD = """\
# What verbs_peer prints where two rxe devices talk to each other: written by run --stand-in --record.
# Behind each section the lines of side a, then those of side b.
"""


def sizes(mtu):
    """{number of bytes: how it is written}"""
    return {3 * mtu + 1: "{3*mtu+1}",
            **{mtu + more: f"{{mtu{more:+d}}}" if more else "{mtu}" for more in (-1, 0, 1, 5, 39, 40)}}


def general(line, mtu):
    """@line of a transcript as it is for every path MTU."""
    return re.sub(r"(?<=byte_len=)\d+", lambda m: sizes(mtu).get(int(m[0]), m[0]), line)


def special(line, mtu):
    for number, written in sizes(mtu).items():
        line = line.replace(f"byte_len={written}", f"byte_len={number}")
    return line


def sections_of(text):
    """{section: its lines} of what a side printed, and whether it came to the end."""
    found, lines = {}, []
    ended = False
    for line in text.splitlines():
        if not LINE.match(line):
            continue
        ended = line == "end"
        if line.startswith("section "):
            lines = found.setdefault(line.split()[1], [])
        elif not ended:
            lines.append(line)
    return found, ended


def read():
    """{section: {"a": lines, "b": lines}}, still general."""
    table = {}
    for line in EXPECTED.read_text().splitlines():
        if line.startswith("section "):
            section = table.setdefault(line.split()[1], {"a": [], "b": []})
        elif line and not line.startswith("#"):
            section[line[0]].append(line[3:])
    return table


def wanted(table, section, side, likes):
    """What @side prints in @section, as @table says; what the sides are like (verbs_likes.py): @likes."""
    return verbs_likes.lines(section, side, table[section][side], likes)


def record(transcripts):
    """Writes the table from (case, {"a": text, "b": text}) of rxe with rxe without loss, which must agree."""
    table = {}
    for case, text in transcripts:
        for side in "a", "b":
            found, ended = sections_of(text[side])
            if not ended:
                raise ValueError(f"{case.name()}: {side} did not come to its end")
            for section, lines in found.items():
                lines = [general(line, case.mtu) for line in lines]
                known = table.setdefault(section, {}).setdefault(side, lines)
                if known != lines:
                    raise ValueError(f"{case.name()}: {section}: {side}: {difference(known, lines)}")
    text = HEAD
    for section, sides in table.items():
        text += f"section {section}\n"
        text += "".join(f"{side}: {line}\n" for side in ("a", "b") for line in sides[side])
    EXPECTED.write_text(text)


def difference(wanted, found):
    for i, line in enumerate(wanted):
        if i >= len(found):
            return f"'{line}' is missing"
        if found[i] != line:
            return f"'{found[i]}' instead of '{line}'"
    return f"'{found[len(wanted)]}' is too much"


def wrong_lossy(wanted, found, ordered):
    """Messages may be missing; those that are there are right, and there once."""
    more = Counter(found) - Counter(wanted)
    if more:
        return f"'{next(iter(more))}' is wrong, or there twice"
    if wanted and not found:
        return "nothing has arrived"
    if ordered and found != [line for line in wanted if line in found]:
        return "what has arrived is not in order"
    return ""


def wrong_section(section, side, wanted, found, loss):
    if section.lossy and loss and side == "b":
        return wrong_lossy(wanted, found, ordered=section.name.startswith("uc_"))
    return "" if wanted == found else difference(wanted, found)


def wrong(case, text, chosen, likes):
    """The complaints about both transcripts, at most one for each section of each side.  Only the sections
    @chosen were asked for; None: all.  @likes: what each side is like.
    """
    table = read()
    known = {s.name: s for s in verbs_lines.sections()}
    for side in "a", "b":
        found, ended = sections_of(text[side])
        if not ended:
            yield f"{side} did not come to its end, but to {list(found)[-1] if found else 'nothing'}"
        for name, section in known.items():
            if case.loss not in section.losses or (chosen is not None and name not in chosen):
                continue
            if name not in found:
                if ended:
                    yield f"{side} has left out {name}"
                continue
            if name not in table:
                yield f"nobody knows what to expect of {name}: run --stand-in --record"
                continue
            lines = [special(line, case.mtu) for line in wanted(table, name, side, likes)]
            if what := wrong_section(section, side, lines, found[name], case.loss):
                yield f"{name}: {side}: {what}"
        yield from (f"{side} has done {name}, which nobody asked for" for name in found
                    if name not in known or (chosen is not None and name not in chosen))
