#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Programs that somebody else wrote, unmodified, on hosts of a lab.

usage: check_exec.py RDMALAB [NAME...]

The programs are those of Debian's ibverbs-utils and perftest, our examples, and tests/program, built beside RDMALAB; so
is our libibverbs.so.1.  Without Debian's, or in a build without the library, prints "skipped: REASON" and exits with 77.
Each function check_NAME in exec_checks/ is one check, or a few; the names select some.  No check depends on how fast the
machine is.
"""
import importlib
import pathlib
import pkgutil
import sys

import exec_checks
from on_hosts import checks_of, reason_to_skip, run_together

CHECKS = checks_of(*(importlib.import_module(f"exec_checks.{module.name}") for module in pkgutil.iter_modules(exec_checks.__path__)))

# Those that take longest, so they start first.
LONGEST = ["waiting", "not_started", "pairs", "makers", "own_program", "ends", "virtual_timeout", "hostile"]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    path, names = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:] or LONGEST + [name for name in CHECKS if name not in LONGEST]
    unknown = [name for name in names if name not in CHECKS]
    if unknown:
        sys.exit(f"no check has the name {', '.join(unknown)}; there are {', '.join(sorted(CHECKS))}")
    reason = reason_to_skip(path, ("ibv_rc_pingpong", "ibv_devinfo", "ib_send_bw"))
    if reason:
        print(f"skipped: {reason}")
        return 77
    return run_together(path, [CHECKS[name] for name in names])


if __name__ == "__main__":
    sys.exit(main())
