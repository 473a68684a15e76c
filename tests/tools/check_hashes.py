#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Compares the hashes of all scenarios and of random runs with those in tests/hashes.tsv.

usage: check_hashes.py [--update] RDMALAB

The file has a line for each scenario, with the hash of its events, and one for ten seeds of each kind of random run,
with a hash of their hashes.  A change of the engine that is meant to change nothing that happens leaves the file as it
is.  After one that is meant to, --update writes the hashes of today, and the change of the file says how far it reaches;
it is refused where the environment variable CI is set.  Each line is one check.  Ends with "N passed, N failed".
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORDED = ROOT / "tests/hashes.tsv"
TIMEOUT_S = 300
SEEDS = 100
SEEDS_OF_A_LINE = 10
RANDOM = [  # the name, what is typed beside it, and the last seed
    ("swarm", ["--no-shrink"], SEEDS),  # worlds, and drills of all kinds
    ("swarm --devices", ["--no-shrink"], SEEDS_OF_A_LINE),
    ("swarm --extensions", ["--no-shrink"], SEEDS_OF_A_LINE),
    ("swarm --machines", ["--no-shrink"], SEEDS_OF_A_LINE),
    ("swarm --outside", [], SEEDS_OF_A_LINE),
]
HASH = re.compile(r"^seed (\d+)(?:, a drill of (\w+))?: hash ([0-9a-f]{16})$", re.MULTILINE)


def ask(program, args, cwd):
    """Returns standard output.  Exit status 1 (a run failed) is accepted: only hashes are compared here."""
    result = subprocess.run([program, *args], stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd=cwd,
                            timeout=TIMEOUT_S, check=False)
    if result.returncode not in (0, 1):
        sys.exit(f"rdmalab {' '.join(args)}: exit status {result.returncode}\n{result.stdout[-1000:]}{result.stderr}")
    return result.stdout


def of_scenarios(program):
    """Name and hash of each scenario."""
    found = json.loads(ask(program, ["test", "scenarios", "--format", "json"], ROOT))
    return {case["name"]: case["hash"] for case in found["cases"]}


def of_random_runs(program, name, options, last):
    """Returns {line of the file: hash of its SEEDS_OF_A_LINE hashes} for one row of RANDOM."""
    lines = {}
    with tempfile.TemporaryDirectory() as scratch:  # a run that goes wrong leaves its script
        text = ask(program, [*name.split(), *options, "--hash", "--seeds", f"1..{last}"], scratch)
    for seed, kind, value in HASH.findall(text):
        first = int(seed) - (int(seed) - 1) % SEEDS_OF_A_LINE
        drill = f" --drill {kind}" if kind else ""
        line = f"{name}{drill} --seeds {first}..{first + SEEDS_OF_A_LINE - 1}"
        lines.setdefault(line, []).append((int(seed), value))
    for line, seeds in lines.items():
        if len(seeds) != SEEDS_OF_A_LINE:
            sys.exit(f"rdmalab {line}: {len(seeds)} hashes")
    return {line: digest(value for _, value in sorted(seeds)) for line, seeds in lines.items()}


def digest(hashes):
    return hashlib.sha256(" ".join(hashes).encode()).hexdigest()[:16]


def all_of(program):
    with concurrent.futures.ThreadPoolExecutor() as pool:
        parts = [pool.submit(of_scenarios, program)]
        parts += [pool.submit(of_random_runs, program, *row) for row in RANDOM]
        return {name: value for part in parts for name, value in part.result().items()}


def recorded():
    return dict(line.split("\t") for line in RECORDED.read_text().splitlines()) if RECORDED.exists() else {}


def differences(old, new):
    """Yields a message for each hash that is new, missing or different."""
    for name in sorted(old.keys() | new.keys()):
        if name not in new:
            yield f"{name}: it was recorded, and is not there"
        elif name not in old:
            yield f"{name}: it was not recorded"
        elif old[name] != new[name]:
            yield f"{name}: hash {new[name]}, recorded {old[name]}"


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n")[0])
    parser.add_argument("--update", action="store_true")
    parser.add_argument("program")
    args = parser.parse_args()
    if args.update and os.environ.get("CI"):
        sys.exit("check_hashes.py: --update is refused where CI is set")
    new = all_of(str(pathlib.Path(args.program).resolve()))
    if args.update:
        RECORDED.write_text("".join(f"{name}\t{value}\n" for name, value in new.items()))
        return
    old = recorded()
    wrong = list(differences(old, new))
    print("".join(f"{line}\n" for line in wrong), end="")
    if wrong:
        print("if this is what the change is meant to do: tests/tools/check_hashes.py --update RDMALAB")
    print(f"{len(old.keys() | new.keys()) - len(wrong)} passed, {len(wrong)} failed")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
