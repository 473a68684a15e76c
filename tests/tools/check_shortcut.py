#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Do programs see the same with a shortcut between guests of a machine?

usage: check_shortcut.py RDMALAB

Runs each scenario with its hosts as guests of one machine, once by frames and once by the shortcut.  One that passes by frames passes
by the shortcut, or is in tests/shortcut_excluded.tsv, with the reason.  Scenarios that fail by frames (they look at links, say) are
no checks.  The same for the lessons of the tour; those that fail by frames are in tests/guests_excluded.tsv.  Ends with "N passed, N failed".
"""
import pathlib
import sys

import other_device

LEAST = 250  # scenarios that pass by frames: fewer would say that the guests are made wrongly


def main():
    """Runs the scenarios twice, and prints those whose outcomes differ."""
    program = str(pathlib.Path(sys.argv[1]).resolve())
    exceptions = other_device.excluded(other_device.ROOT / "tests/shortcut_excluded.tsv")
    lessons = other_device.tours(program, "--guests", "frames")
    by_frames = other_device.outcomes(program, "--guests", "frames") | lessons
    by_shortcut = other_device.outcomes(program, "--guests", "shortcut") | other_device.tours(program, "--guests", "shortcut")
    compared = {name: by_shortcut[name] for name, failure in by_frames.items() if failure is None}
    passed, failed = other_device.judge(compared, exceptions)
    more = other_device.judge(lessons, other_device.excluded(other_device.ROOT / "tests/guests_excluded.tsv"))
    passed, failed = passed + more[0], failed + more[1]
    if len(compared) < LEAST:
        print(f"only {len(compared)} scenarios pass by frames")
        failed += 1
    print(f"{passed} passed, {failed} failed")
    return failed > 0


sys.exit(main())
