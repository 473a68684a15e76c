#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes the C source with the lessons of the tour.

usage: embed.py [--quiz] LESSON... SOURCE

--quiz: the files are topics of the quiz.
"""
import pathlib
import sys

PER_LINE = 16


def value(byte):
    """A char that the compiler need not convert, whether char has a sign or not."""
    return str(byte) if byte < 128 else f"'\\x{byte:02x}'"


lines = ['/* Written by embed.py. */', '#include "cli/tour/tour.h"', '']
rows = []
quiz = sys.argv[1] == "--quiz"
table = "quiz_builtins" if quiz else "tour_builtins"
folder = "tours/quiz" if quiz else "tours"
for i, argument in enumerate(sys.argv[1 + quiz:-1]):
    lesson = pathlib.Path(argument)
    data = lesson.read_bytes() + b"\0"
    lines.append(f"static const char text_{i}[] = {{")
    lines += ["    " + " ".join(f"{value(byte)}," for byte in data[at:at + PER_LINE]) for at in range(0, len(data), PER_LINE)]
    lines.append("};")
    rows.append(f'    {{"{lesson.stem if quiz else lesson.stem.partition("-")[2]}", "{folder}/{lesson.name}", text_{i}}},')
lines += [f"const struct tour_builtin {table}[] = {{", *rows, "};",
          f"const size_t n_{table} = sizeof({table}) / sizeof({table}[0]);", ""]
pathlib.Path(sys.argv[-1]).write_text("\n".join(lines), "utf-8")
