#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Do the scenarios pass on hosts with PVRDMA, and on those of which each second one has it?

usage: check_pvrdma.py RDMALAB

tests/pvrdma_excluded.tsv names those that cannot, with the reason.  Each scenario is one check for each of the two.
Ends with "N passed, N failed".
"""
import pathlib
import sys

import other_device


def main():
    """Runs the scenarios twice, and prints those whose outcome is not the expected one."""
    program = str(pathlib.Path(sys.argv[1]).resolve())
    exceptions = other_device.excluded(other_device.ROOT / "tests/pvrdma_excluded.tsv")
    passed, failed = other_device.judge(other_device.outcomes(program, "--device", "pvrdma"), exceptions)
    mixed = other_device.judge(other_device.outcomes(program, "--device", "mixed"), exceptions, whole=False)
    print(f"{passed + mixed[0]} passed, {failed + mixed[1]} failed")
    return failed + mixed[1] > 0


sys.exit(main())
