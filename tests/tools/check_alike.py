#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""check_alike.py DIRECTORY SEEDS STRANGE-SEEDS RDMALAB... -- SCENARIO...: are all builds alike?

Runs each scenario with each build of rdmalab: the hash of its events, its capture and its timeline, which go to
DIRECTORY, must be the same, byte for byte.  Then the same for the hashes of random runs, for those
with frames from outside, too.  Shows I20.  Ends with "N passed, N failed".
"""
import os
import pathlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor


def made(binary, args, capture):
    """What the build makes of the arguments: what it prints, captures and draws; None if it fails."""
    files = {"--pcap": capture, "--timeline": capture.with_suffix(".html")} if capture else {}
    for file in files.values():
        file.unlink(missing_ok=True)
    run = subprocess.run([binary, *args, *(word for item in files.items() for word in item)],
                         capture_output=True, check=False)
    if run.returncode != 0 or not run.stdout or not all(file.exists() for file in files.values()):
        print(f"{binary} {' '.join(args)}: exit status {run.returncode}\n{(run.stdout + run.stderr).decode()}")
        return None
    return run.stdout, [file.read_bytes() for file in files.values()]


def judge(binaries, args, capture):
    """A line of the report, and whether all made the same."""
    first = made(binaries[0], args, capture)
    others = [b for b in binaries[1:] if made(b, args, capture) != first]
    text = f"{' '.join(args)}: {first[0].decode().strip() if first else ''}"
    return text + "".join(f"\n  FAILED: {b} is not like {binaries[0]}" for b in others), first and not others


def main():
    if "--" not in sys.argv or sys.argv.index("--") < 6:
        sys.exit(__doc__)
    end = sys.argv.index("--")
    directory, seeds, strange_seeds, *binaries = sys.argv[1:end]
    directory = pathlib.Path(directory)
    cases = [(["swarm", "--hash", "--seeds", seeds], None),
             (["swarm", "--hash", "--outside", "--seeds", strange_seeds], None)]
    cases += [(["run", s, "--hash"], directory / f"{os.path.basename(s)}.alike.pcapng")
              for s in sys.argv[end + 1:]]
    n_passed = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for text, passed in pool.map(lambda c: judge(binaries, *c), cases):
            print(text)
            n_passed += bool(passed)
    print(f"{n_passed} passed, {len(cases) - n_passed} failed")
    sys.exit(0 if n_passed == len(cases) else 1)


if __name__ == "__main__":
    main()
