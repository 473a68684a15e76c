#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What of verbs_lines.py a host of rdmalab does, and what it prints where it is not like rxe.

usage: verbs_lab.py lines MTU LOSS IP                  prints the file of the sections in which nothing may be missing
       verbs_lab.py random lines|a|b KIND              of random programs of that kind: the file, or what the side prints
       verbs_lab.py transcript SIDE PROFILE MTU LOSS   prints what SIDE prints then, if both hosts have that profile
"""
import sys

import random_judge
import transcripts
import verbs_lines
import verbs_random
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
        wanted = transcripts.wanted(table, section, side, {"a": profile, "b": profile})
        lines += [f"section {section}"] + [transcripts.special(line, mtu) for line in wanted]
    return "".join(line + "\n" for line in [*lines, "end"])


def main():
    what, *rest = sys.argv[1:]
    if what == "lines":
        mtu, loss, ip = int(rest[0]), int(rest[1]), rest[2]
        text = verbs_lines.file_of(To(mtu, loss, ip), certain(loss))
    elif what == "random":
        rows = random_judge.expected(rest[1])
        text = "".join(f"random_{seed} {a if rest[0] == 'a' else b}\n" for seed, a, b in rows)
        if rest[0] == "lines":
            text = verbs_random.file_of(seed for seed, _, _ in rows)
    else:
        side, profile, mtu, loss = *rest[:2], int(rest[2]), int(rest[3])
        text = expected(side, profile, mtu, loss)
    print(text, end="")


if __name__ == "__main__":
    main()
