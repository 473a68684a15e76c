#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Do the scenarios, and the lessons of the tour, pass on hosts with PVRDMA, and on those of which each second one has it?

usage: check_pvrdma.py RDMALAB

tests/pvrdma_excluded.tsv names those that cannot, with the reason.  Each scenario or lesson is one check for each of the two.
Ends with "N passed, N failed".
"""
import pathlib
import sys

import other_device


def main():
    """Runs the scenarios twice, and prints those whose outcome is not the expected one."""
    program = str(pathlib.Path(sys.argv[1]).resolve())
    exceptions = other_device.excluded(other_device.ROOT / "tests/pvrdma_excluded.tsv")
    passed = failed = 0
    for device in ("pvrdma", "mixed"):
        found = other_device.outcomes(program, "--device", device) | other_device.tours(program, "--device", device)
        right, wrong = other_device.judge(found, exceptions, whole=device == "pvrdma")
        passed += right
        failed += wrong
    print(f"{passed} passed, {failed} failed")
    return failed > 0


sys.exit(main())
