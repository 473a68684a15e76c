#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Compares the default symbols of our libibverbs.so.1 with those of the system's.

usage: check_symbols.py LIB [SYSTEM_LIB]

Name, version and type (FUNC, OBJECT) of each symbol are one check.  Symbols that only ours has fail too, but for those
that replace functions of the C library.  Ends with
"N passed, M failed".  Without a library of the system there is nothing to compare: exit status 77, "skipped".
"""
import glob
import os
import re
import subprocess
import sys

SYSTEM = ["/usr/lib/*/libibverbs.so.1", "/usr/lib64/libibverbs.so.1", "/usr/lib/libibverbs.so.1"]
SKIPPED = 77
SYMBOL = re.compile(r"^\s*\d+: \w+\s+\w+\s+(FUNC|OBJECT)\s+(?:GLOBAL|WEAK)\s+DEFAULT\s+(\w+)\s+(\S+)@@(\S+)")


def symbols(library):
    """{name: (version, type)} of the default symbols that a library defines."""
    text = subprocess.run(["readelf", "--dyn-syms", "-W", library], capture_output=True, text=True, check=True).stdout
    found = {}
    for line in text.splitlines():
        match = SYMBOL.match(line)
        if match and match.group(2) not in ("UND", "ABS") and not match.group(4).startswith("GLIBC_"):
            found[match.group(3)] = (match.group(4), match.group(1))
    return found


def main():
    """Prints each difference, and the counts."""
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    system = sys.argv[2:] or [path for pattern in SYSTEM for path in glob.glob(pattern)]
    if not system or not os.path.exists(system[0]):
        print("skipped: the system has no libibverbs.so.1")
        sys.exit(SKIPPED)
    ours, theirs = symbols(sys.argv[1]), symbols(system[0])
    failed = 0
    for name in sorted(ours.keys() | theirs.keys()):
        if ours.get(name) != theirs.get(name):
            failed += 1
            print(f"{name}: ours {ours.get(name)}, the system's {theirs.get(name)}")
    print(f"{len(ours.keys() | theirs.keys()) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


main()
