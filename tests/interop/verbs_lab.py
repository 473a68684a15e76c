#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What of verbs_lines.py a host of rdmalab does, and what it prints where it is not like rxe.

usage: verbs_lab.py lines MTU LOSS IP                  prints the file of the sections in which nothing may be missing
       verbs_lab.py transcript SIDE PROFILE MTU LOSS   prints what SIDE prints then, if both hosts have that profile
"""
import sys

import transcripts
import verbs_lines
from verbs_base import To

# Sections that wait for what the lab cannot do yet.  A line that it cannot do ends its program, so
# these are not asked for.
LATER = {}

CAN = [section.name for section in verbs_lines.sections() if section.name not in LATER]


def certain(loss):
    """The names of the sections that end the same way each time."""
    return [s.name for s in verbs_lines.sections() if s.name in CAN and loss in s.losses and not (loss and s.lossy)]


def expected(side, profile, mtu, loss):
    """What @side prints where both hosts of the lab have @profile."""
    table = transcripts.read()
    lines = []
    for section in certain(loss):
        wanted = transcripts.wanted(table, section, side, "ab" if profile == "iba" else "")
        lines += [f"section {section}"] + [transcripts.special(line, mtu) for line in wanted]
    return "".join(line + "\n" for line in [*lines, "end"])


def main():
    what, *rest = sys.argv[1:]
    if what == "lines":
        mtu, loss, ip = int(rest[0]), int(rest[1]), rest[2]
        text = verbs_lines.file_of(To(mtu, loss, ip), certain(loss))
    else:
        side, profile, mtu, loss = *rest[:2], int(rest[2]), int(rest[3])
        text = expected(side, profile, mtu, loss)
    print(text, end="")


if __name__ == "__main__":
    main()
