#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Do the scenarios pass on hosts with the toy RNIC of tests/toy?

usage: check_toy.py RDMALAB_TOY

tests/toy/excluded.tsv names those that cannot, with the reason.  In addition, random drills of the kinds that do not
look at virtqueues must pass.  Each scenario and each drill is one check.  Ends with "N passed, N failed".
"""
import pathlib
import sys

import other_device

DRILLS = ("messages", "peers", "keys", "frames", "wires")
SEEDS = "1..200"


def main():
    """Runs the scenarios and the drills, and prints those whose outcome is not the expected one."""
    program = str(pathlib.Path(sys.argv[1]).resolve())
    exceptions = other_device.excluded(other_device.ROOT / "tests/toy/excluded.tsv")
    passed, failed = other_device.judge(other_device.outcomes(program), exceptions)
    drills_passed, drills_failed = other_device.run_drills(program, DRILLS, SEEDS)
    print(f"{passed + drills_passed} passed, {failed + drills_failed} failed")
    return failed + drills_failed > 0


sys.exit(main())
