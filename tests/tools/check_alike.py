#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""check_alike.py [--timelines N] DIRECTORY SEEDS STRANGE-SEEDS RDMALAB... -- SCENARIO...: are all builds alike?

Runs each scenario with each build of rdmalab: the hash of its events and its capture, which goes to DIRECTORY, must
be the same, byte for byte, and the timeline of each Nth scenario (of all without --timelines).  Then the same for the hashes of random runs, for those
with frames from outside, too.  Shows I20.  Ends with "N passed, N failed".
"""
import os
import pathlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor


def made(binary, args, capture, timeline):
    """Returns the output, capture and picture of the build for the arguments, or None if it fails."""
    files = {"--pcap": capture} if capture else {}
    if timeline:
        files["--timeline"] = timeline
    for file in files.values():
        file.unlink(missing_ok=True)
    run = subprocess.run([binary, *args, *(word for item in files.items() for word in item)],
                         capture_output=True, check=False)
    if run.returncode != 0 or not run.stdout or not all(file.exists() for file in files.values()):
        print(f"{binary} {' '.join(args)}: exit status {run.returncode}\n{(run.stdout + run.stderr).decode()}")
        return None
    return run.stdout, [file.read_bytes() for file in files.values()]


def judge(binaries, args, capture, timeline):
    """A line of the report, and whether all made the same."""
    first = made(binaries[0], args, capture, timeline)
    others = [b for b in binaries[1:] if made(b, args, capture, timeline) != first]
    text = f"{' '.join(args)}: {first[0].decode().strip() if first else ''}"
    return text + "".join(f"\n  FAILED: {b} is not like {binaries[0]}" for b in others), first and not others


def main():
    if "--" not in sys.argv or sys.argv.index("--") < 6:
        sys.exit(__doc__)
    every = 1
    if sys.argv[1] == "--timelines":
        every = int(sys.argv[2])
        del sys.argv[1:3]
    end = sys.argv.index("--")
    directory, seeds, strange_seeds, *binaries = sys.argv[1:end]
    directory = pathlib.Path(directory)
    cases = [(["swarm", "--hash", "--seeds", seeds], None, None),
             (["swarm", "--hash", "--outside", "--seeds", strange_seeds], None, None)]
    for i, s in enumerate(sys.argv[end + 1:]):
        file = directory / f"{os.path.basename(s)}.alike"
        cases.append((["run", s, "--hash"], f := pathlib.Path(f"{file}.pcapng"), f.with_suffix(".html") if i % every == 0 else None))
    n_passed = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for text, passed in pool.map(lambda c: judge(binaries, *c), cases):
            print(text)
            n_passed += bool(passed)
    print(f"{n_passed} passed, {len(cases) - n_passed} failed")
    sys.exit(0 if n_passed == len(cases) else 1)


if __name__ == "__main__":
    main()
