# SPDX-License-Identifier: MIT
"""Judges the scenarios on another RDMA device than the usual one, or elsewhere: for check_toy.py, check_pvrdma.py, check_extensions.py
and check_shortcut.py.

A list names the scenarios that cannot pass, and why, one a line: name, TAB, reason.  Each of them must fail: one that passes is no
longer an exception.  A reason that ends with a name in parentheses is that of a refusal, and the failure must say it.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TIMEOUT_S = 120


def excluded(path):
    """{name of a scenario or lesson: the reason why it cannot pass}."""
    rows = [line.split("\t") for line in path.read_text().splitlines() if not line.startswith("#")]
    return {name if name.startswith("tours/") else f"scenarios/{name}.json": why for name, why in rows}


def outcomes(program, *options):
    """{name of a scenario: None if it passes, else the reason}."""
    command = [program, "test", "scenarios", "-j", "2", "--format", "json", *options]
    result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd=ROOT, timeout=TIMEOUT_S,
                            check=False)
    if result.returncode not in (0, 1):
        sys.exit(f"exit status {result.returncode}\n{result.stdout[-1000:]}{result.stderr}\n0 passed, 1 failed")
    return {case["name"]: None if case["result"] == "ok" else json.dumps(case)
            for case in json.loads(result.stdout)["cases"]}


def tours(program, *options):
    """{name of a lesson of the tour: None if it passes, else what is wrong}."""
    result = subprocess.run([program, "tour", "--check", *options], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                            cwd=ROOT, timeout=TIMEOUT_S, check=False)
    return {name: None if verdict == "ok" else result.stderr
            for verdict, name in re.findall(r"^(ok|FAIL) +(tours/\S+)", result.stdout, re.MULTILINE)}


def complaint(name, found, exceptions):
    """What is wrong with the outcome of a scenario, or None."""
    if name not in found:
        return "excluded, but there is no such scenario"
    why, failure = exceptions.get(name), found[name]
    if failure is None:
        return f"passes; excluded because {why}" if why else None
    if not why:
        return f"fails: {failure[:600]}"
    refusal = re.search(r"\((\w+)\)$", why)
    return f"does not fail for {refusal[1]}" if refusal and refusal[1] not in failure else None


def judge(found, exceptions, whole=True):
    """Returns the numbers of scenarios as expected and of others, and prints what is wrong.  Not @whole: exceptions are left out."""
    names = found.keys() | exceptions.keys() if whole else found.keys() - exceptions.keys()
    failed = 0
    for name in sorted(names):
        wrong = complaint(name, found, exceptions)
        if wrong:
            print(f"{name} {wrong}")
            failed += 1
    return len(names) - failed, failed


def run_drills(program, kinds, seeds, *options):
    """Returns the numbers of drills that passed and failed, and prints what the failed ones say."""
    passed = failed = 0
    for kind in kinds:
        with tempfile.TemporaryDirectory() as scratch:  # a drill that goes wrong leaves its script
            text = subprocess.run([program, "swarm", "--no-shrink", "--drill", kind, "--seeds", seeds, *options],
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd=scratch,
                                  timeout=TIMEOUT_S, check=False).stdout
        last = re.search(r"^(\d+) passed, (\d+) failed, 0 skipped$", text, re.MULTILINE)
        passed += int(last[1]) if last else 0
        failed += int(last[2]) if last else 1
        if not last or int(last[2]) > 0:
            print(f"drills of {kind}:\n{text[-2000:]}")
    return passed, failed
