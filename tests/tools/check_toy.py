#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Do the scenarios pass on hosts with the toy RNIC of tests/toy?

usage: check_toy.py RDMALAB_TOY

tests/toy/excluded.tsv names those that cannot, with the reason.  Each of them must fail: one that passes is no longer
an exception.  In addition, random drills of the kinds that do not look at virtqueues must pass.  Each scenario and
each drill is one check.  Ends with "N passed, N failed".
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXCLUDED = ROOT / "tests/toy/excluded.tsv"
TIMEOUT_S = 120
DRILLS = ("messages", "peers", "keys", "frames", "wires")
SEEDS = "1..200"


def excluded():
    """{name of a scenario: the reason why it cannot pass}."""
    rows = [line.split("\t") for line in EXCLUDED.read_text().splitlines() if not line.startswith("#")]
    return {f"scenarios/{name}.json": why for name, why in rows}


def run_drills(program):
    """Returns the numbers of drills that passed and failed, and prints what the failed ones say."""
    passed = failed = 0
    for kind in DRILLS:
        with tempfile.TemporaryDirectory() as scratch:  # a drill that goes wrong leaves its script
            text = subprocess.run([program, "swarm", "--no-shrink", "--drill", kind, "--seeds", SEEDS],
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd=scratch,
                                  timeout=TIMEOUT_S, check=False).stdout
        last = re.search(r"^(\d+) passed, (\d+) failed, 0 skipped$", text, re.MULTILINE)
        passed += int(last[1]) if last else 0
        failed += int(last[2]) if last else 1
        if not last or int(last[2]) > 0:
            print(f"drills of {kind}:\n{text[-2000:]}")
    return passed, failed


def main():
    """Runs the scenarios and the drills, and prints those whose outcome is not the expected one."""
    program = str(pathlib.Path(sys.argv[1]).resolve())
    result = subprocess.run([program, "test", "scenarios", "--format", "json"], stdin=subprocess.DEVNULL,
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
    drills_passed, drills_failed = run_drills(program)
    n = len(passed.keys() | exceptions.keys()) + drills_passed + drills_failed
    failed += drills_failed
    print(f"{n - failed} passed, {failed} failed")
    return failed > 0


sys.exit(main())
