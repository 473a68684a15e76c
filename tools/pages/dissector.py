# SPDX-License-Identifier: MIT
"""The dissector for Wireshark: data/o2iblnd.lua.

Its tables are the rows of src/emu/facts/lnet_fields.h and the enumerations of the messages; its code is tools/pages/o2iblnd.lua.
It is a problem if the rows of a part do not cover each of its bytes once, or a message has no part that exists.
"""
import re
import sys

from pages.page import STRING, Wrong, self_test_of

ROWS = "src/emu/facts/lnet_fields.h"
CODE = "tools/pages/o2iblnd.lua"
PAGE = "data/o2iblnd.lua"
ENUMS = {"MESSAGES": ("src/emu/facts/enum/lnet_msg.h", "LNET_MSG"), "OPS": ("src/emu/facts/enum/lnet_op.h", "LNET_OP"),
         "WHYS": ("src/emu/facts/enum/lnet_why.h", "LNET_WHY")}
MARK = "--@rows@\n"

LIST = re.compile(r"^#define (LNET_\w+)\(\w+(?:, \w+)*\)((?:.*\\\n)*.*)$", re.MULTILINE)
FIELD = re.compile(rf"F\((\w+),\s*[\w.]+,\s*(\d+),\s*(\d+),\s*(\w+),\s*{STRING}\)")
NUMBER = re.compile(rf"N\((\w+),\s*(\d+),\s*(\d+),\s*(\w+),\s*{STRING}\)")
RESERVED = re.compile(r"R\((\d+),\s*(\d+)\)")
PART = re.compile(rf"X\((\w+),\s*(LNET_\w+),\s*\w+,\s*(\d+),\s*(SENDER|LITTLE),\s*{STRING}\)")
BODY = re.compile(r"X\((\w+),\s*(\w+),\s*u[\w.]*\)")


def lists_of(root):
    text = (root / ROWS).read_text()
    return {name: body.replace("\\\n", " ") for name, body in LIST.findall(text)}


def fields_of(body):
    """The rows of a part: name, offset, bytes, form, title; and the offsets and bytes of reserved ones."""
    rows = [*FIELD.findall(body), *NUMBER.findall(body)]
    return ([(name, int(at), int(n), form, title) for name, at, n, form, title in sorted(rows, key=lambda r: int(r[1]))],
            [(int(at), int(n)) for at, n in RESERVED.findall(body)])


def parts_of(root):
    lists = lists_of(root)
    if "LNET_PARTS" not in lists or "LNET_BODIES" not in lists:
        raise Wrong(f"{ROWS}: no list of parts or of bodies")
    parts = {}
    for name, rows, n, order, title in PART.findall(lists["LNET_PARTS"]):
        if rows not in lists:
            raise Wrong(f"{ROWS}: there is no {rows}")
        parts[name] = (*fields_of(lists[rows]), int(n), order == "LITTLE", title)
    return parts, bodies_of(parts, BODY.findall(lists["LNET_BODIES"]))


def bodies_of(parts, rows):
    """The parts of each message behind its head, with their offsets.  Each operation of the LNet header has the same bytes."""
    bodies, ends = [], {}
    for message, part in rows:
        at = ends.get(message, parts["HEAD"][2])
        bodies.append((message, part, at))
        ends[message] = at + (parts[part][2] if part in parts else 0) + (parts["PUT"][2] if part == "HDR" else 0)
    return bodies


def enum_of(root, table):
    path, prefix = ENUMS[table]
    row = re.compile(rf"X\({prefix},\s*(\w+),\s*(\w+),\s*{STRING}\)")
    return {name: int(value, 0) for name, value, _ in row.findall((root / path).read_text().replace("\\\n", " "))}


def problems(root):
    parts, bodies = parts_of(root)
    messages = enum_of(root, "MESSAGES")
    for name, (rows, reserved, n, _, _) in parts.items():
        covered = [0] * n
        for at, length in [*((row[1], row[2]) for row in rows), *reserved]:
            for byte in range(at, min(at + length, n)):
                covered[byte] += 1
        yield None if set(covered) == {1} else f"{ROWS}: the rows of {name} do not cover each byte once"
    for message, part, _ in bodies:
        yield None if message in messages and part in parts else f"{ROWS}: there is no message {message} or no part {part}"


def tables(root):
    parts, bodies = parts_of(root)
    out = []
    for table in ENUMS:
        rows = ", ".join(f'[{value:#x}] = "{name}"' if table == "MESSAGES" else f'[{value}] = "{name}"'
                         for name, value in enum_of(root, table).items())
        out.append(f"local {table} = {{{rows}}}\n")
    out.append("\n-- The parts of messages: offset, bytes, form and title of each field.\nlocal PARTS = {\n")
    for name, (rows, _, n, little, title) in parts.items():
        out.append(f'    {name} = {{title = "{title}", bytes = {n}, little = {str(little).lower()}, rows = {{\n')
        out += [f'        {{name = "{field}", at = {at}, bytes = {length}, form = "{form}", title = "{text}"}},\n'
                for field, at, length, form, text in rows]
        out.append("    }},\n")
    out.append("}\n\n-- The parts behind the head of each message, with their offsets.\nlocal BODIES = {\n")
    for message, value in enum_of(root, "MESSAGES").items():
        rows = ", ".join(f'{{"{part}", {at}}}' for name, part, at in bodies if name == message)
        out.append(f"    [{value:#x}] = {{{rows}}}, -- {message}\n")
    ops = ", ".join(f'[{value}] = "{name}"' for name, value in enum_of(root, "OPS").items() if name in parts)
    out.append(f"}}\nlocal PART_OF_OP = {{{ops}}}\n")
    return "".join(out)


def outputs(root):
    code = (root / CODE).read_text()
    if code.count(MARK) != 1:
        raise Wrong(f"{CODE}: it has to have one line {MARK.strip()}")
    return {PAGE: code.replace(MARK, tables(root))}


def self_test():
    rows = """#define LNET_HEAD_FIELDS(F, N, R) \\
    N(magic, 0, 4, HEX, "magic number") \\
    F(nid, src_nid, 4, 8, NID, "source NID") \\
    R(12, 4)
#define LNET_PARTS(X) \\
    X(HEAD, LNET_HEAD_FIELDS, lnet_msg, 16, SENDER, "o2iblnd")
#define LNET_BODIES(X) \\
    X(NOOP, HEAD, u)
"""
    plant = {ROWS: rows, CODE: f"before\n{MARK}behind\n",
             ENUMS["MESSAGES"][0]: 'X(LNET_MSG, NOOP, 0xd0, "returns credits")',
             ENUMS["OPS"][0]: 'X(LNET_OP, ACK, 0, "taken")', ENUMS["WHYS"][0]: 'X(LNET_WHY, FATAL, 3, "bad")'}
    plants = [
        ({PAGE: "older"}, "is not current"),
        ({CODE: "before\n"}, "one line"),
        ({ROWS: rows.replace("R(12, 4)", "R(12, 3)")}, "do not cover"),
        ({ROWS: rows.replace("src_nid, 4, 8", "src_nid, 3, 9")}, "do not cover"),
        ({ROWS: rows.replace("X(NOOP, HEAD", "X(NOOP, TAIL")}, "no part TAIL"),
        ({ROWS: rows.replace("X(HEAD, LNET_HEAD_FIELDS", "X(HEAD, LNET_TAIL_FIELDS")}, "no LNET_TAIL_FIELDS"),
    ]
    right = 'name = "nid", at = 4, bytes = 8, form = "NID"'
    return self_test_of(sys.modules[__name__], plant, plants, lambda written: right in written[PAGE])
