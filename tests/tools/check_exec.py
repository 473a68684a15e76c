#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Programs that somebody else wrote, unmodified, on hosts of a lab.

usage: check_exec.py RDMALAB

The programs are those of Debian's ibverbs-utils and perftest, our examples, and tests/program, built beside RDMALAB; so
is our libibverbs.so.1.  Without Debian's, or in a build without the library, prints "skipped: REASON" and exits with 77.
Each function check_NAME in exec_checks/ is one check, or a few.  No check depends on how fast the machine is.
"""
import importlib
import pathlib
import pkgutil
import shutil
import sys
import tempfile
import traceback

import exec_checks
from on_hosts import LIBRARY
from program import Program, Tally

SUBJECTS = [importlib.import_module(f"exec_checks.{module.name}") for module in pkgutil.iter_modules(exec_checks.__path__)]
CHECKS = [value for subject in SUBJECTS for name, value in vars(subject).items() if name.startswith("check_")]


def alone(check):
    """Makes @check in a directory of its own, and returns its tally."""
    tally = Tally()
    with tempfile.TemporaryDirectory() as directory:
        rdmalab = Program(pathlib.Path(sys.argv[1]).resolve(), directory)
        try:
            check(rdmalab, tally)
        except Exception:  # the others go on
            tally.expect(False, check.__name__, traceback.format_exc())
        rdmalab.end()
    return tally


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    library = pathlib.Path(sys.argv[1]).resolve().parent / LIBRARY
    missing = [program for program in ("ibv_rc_pingpong", "ibv_devinfo", "ib_send_bw") if not shutil.which(program)]
    if missing or not library.exists():
        print(f"skipped: there is no {', '.join(missing) or library}")
        return 77
    tally = Tally()
    for check in CHECKS:  # one by one: many programs use their usual TCP port
        part = alone(check)
        tally.passed += part.passed
        tally.failed += part.failed
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
