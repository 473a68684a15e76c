#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Do the scenarios, and the lessons of the tour, pass on hosts whose devices offer all extensions of virtio-rdma?

usage: check_extensions.py RDMALAB

tests/extensions_excluded.tsv names those that cannot, with the reason.  Ends with "N passed, N failed".
"""
import pathlib
import sys

import other_device


def main():
    """Runs the scenarios and lessons, and prints those whose outcome is not the expected one."""
    program = str(pathlib.Path(sys.argv[1]).resolve())
    exceptions = other_device.excluded(other_device.ROOT / "tests/extensions_excluded.tsv")
    options = ("--extensions", "all")
    found = other_device.outcomes(program, *options) | other_device.tours(program, *options)
    passed, failed = other_device.judge(found, exceptions)
    print(f"{passed} passed, {failed} failed")
    return failed > 0


sys.exit(main())
