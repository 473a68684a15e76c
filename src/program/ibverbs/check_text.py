#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Compares the texts and rates of our libibverbs.so.1 with those of the system's.

usage: check_text.py LIB [SYSTEM_LIB]

Each function with each value is one check.  Ends with "N passed, M failed".  Without a library of the system there is
nothing to compare: exit status 77, "skipped".
"""
import ctypes
import glob
import json
import os
import subprocess
import sys

SYSTEM = ["/usr/lib/*/libibverbs.so.1", "/usr/lib64/libibverbs.so.1", "/usr/lib/libibverbs.so.1"]
SKIPPED = 77
VALUES = range(-3, 64)
TEXTS = ["ibv_node_type_str", "ibv_port_state_str", "ibv_event_type_str", "ibv_wc_status_str"]
NUMBERS = ["ibv_rate_to_mult", "ibv_rate_to_mbps"]
MULTS = range(-3, 1000)
MBPS = [*range(-3, 100), *range(0, 1_300_000, 2500), 14062, 25781, 28125, 53125, 56250, 103125, 168750, 206250, 309375]


def answers(path):
    """{"function value": result} of the library at @path."""
    library = ctypes.CDLL(path)
    found = {}
    for name in TEXTS:
        function = getattr(library, name)
        function.restype = ctypes.c_char_p
        for value in VALUES:
            found[f"{name} {value}"] = function(value).decode()
    for name, values in [(name, VALUES) for name in NUMBERS] + [("mult_to_ibv_rate", MULTS), ("mbps_to_ibv_rate", MBPS)]:
        for value in values:
            found[f"{name} {value}"] = getattr(library, name)(value)
    return found


def ask(path):
    """answers(), in a process of its own: two libraries with one name do not share one well."""
    text = subprocess.run([sys.executable, __file__, "--answers", path], capture_output=True, text=True, check=True).stdout
    return json.loads(text)


def main():
    """Prints each difference, and the counts."""
    if len(sys.argv) == 3 and sys.argv[1] == "--answers":
        print(json.dumps(answers(sys.argv[2])))
        return
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    system = sys.argv[2:] or [path for pattern in SYSTEM for path in glob.glob(pattern)]
    if not system or not os.path.exists(system[0]):
        print("skipped: the system has no libibverbs.so.1")
        sys.exit(SKIPPED)
    ours, theirs = ask(os.path.abspath(sys.argv[1])), ask(system[0])
    failed = 0
    for name, value in theirs.items():
        if ours[name] != value:
            failed += 1
            print(f"{name}: ours {ours[name]!r}, the system's {value!r}")
    print(f"{len(theirs) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


main()
