#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Do the scenarios pass on hosts with the toy RNIC of tests/toy?

usage: check_toy.py RDMALAB_TOY

tests/toy/excluded.tsv names those that cannot, with the reason.  Each of them must fail: one that passes is no longer
an exception.  Each scenario is one check.  Ends with "N passed, N failed".
"""
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXCLUDED = ROOT / "tests/toy/excluded.tsv"
TIMEOUT_S = 120


def excluded():
    """{name of a scenario: the reason why it cannot pass}."""
    rows = [line.split("\t") for line in EXCLUDED.read_text().splitlines() if not line.startswith("#")]
    return {f"scenarios/{name}.json": why for name, why in rows}


def main():
    """Runs the scenarios and prints those whose outcome is not the expected one."""
    result = subprocess.run([sys.argv[1], "test", "scenarios", "--format", "json"], stdin=subprocess.DEVNULL,
                            capture_output=True, text=True, cwd=ROOT, timeout=TIMEOUT_S, check=False)
    if result.returncode not in (0, 1):
        sys.exit(f"exit status {result.returncode}\n{result.stdout[-1000:]}{result.stderr}\n0 passed, 1 failed")
    passed = {case["name"]: case["result"] == "ok" for case in json.loads(result.stdout)["cases"]}
    exceptions, failed = excluded(), 0
    for name in sorted(passed.keys() | exceptions.keys()):
        if name not in passed:
            print(f"{name}: excluded, but there is no such scenario")
        elif passed[name] and name in exceptions:
            print(f"{name} passes; excluded because {exceptions[name]}")
        elif not passed[name] and name not in exceptions:
            print(f"{name} fails")
        else:
            continue
        failed += 1
    print(f"{len(passed.keys() | exceptions.keys()) - failed} passed, {failed} failed")
    return failed > 0


sys.exit(main())
