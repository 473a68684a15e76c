#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""usage: checked_captures.py RDMALAB [DIR] [-v]

Does `rdmalab check` find what was done to the traffic of two rxe devices, and nothing else?  DIR
(tests/oracle/captures) has captures from three places each, with a list of the frames that something happened to;
fault_judge.py says what must be found and what may be.  -v lists the faults that cannot be seen from a place.

The last line is "N passed, N failed".
"""
import gzip
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import capture
import fault_judge

CAPTURES = pathlib.Path(__file__).resolve().parent / "captures"


def found(path):
    """The capture at @path, or the packed one of this name."""
    packed = path.with_name(path.name + ".gz")
    return path if path.exists() or not packed.exists() else packed


def plain(path, directory):
    """The capture at @path, which may be packed, as a file that is not."""
    packed = found(path)
    if packed == path:
        return path
    unpacked = pathlib.Path(directory) / path.name
    with gzip.open(packed) as source, open(unpacked, "wb") as target:
        shutil.copyfileobj(source, target)
    return unpacked


def checked(program, path, *options):
    run = subprocess.run([program, "check", path, "--json", *options], capture_output=True, text=True, check=False)
    if run.returncode not in (0, 1):
        capture.die(f"rdmalab check {path} ended with {run.returncode}: {run.stderr.strip()}")
    return json.loads(run.stdout)


def main():
    args = [a for a in sys.argv[1:] if a != "-v"]
    if not 1 <= len(args) <= 2:
        sys.exit(__doc__)
    passed = failed = invisible = 0
    for path in sorted(pathlib.Path(args[1] if len(args) > 1 else CAPTURES).glob("*.json")):
        truth = json.loads(path.read_text())
        frames, reports = {}, {}
        with tempfile.TemporaryDirectory() as directory:
            for vantage in fault_judge.VANTAGES:
                file = path.with_name(f"{path.stem}-{vantage}.pcapng")
                frames[vantage] = [f for f in capture.read(plain(file, directory)) if f.is_roce()]
                reports[vantage] = checked(args[0], found(file))
        for what, wrong, unseen in fault_judge.judge(path.stem, truth, frames, reports):
            passed, failed, invisible = passed + (not wrong), failed + bool(wrong), invisible + unseen
            if wrong:
                print(f"FAILED {what}: {wrong}")
            elif unseen and "-v" in sys.argv:
                print(f"not to be seen: {what}")
    print(f"{invisible} faults are not to be seen from a place")
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0 or not passed)


if __name__ == "__main__":
    sys.exit(main())
