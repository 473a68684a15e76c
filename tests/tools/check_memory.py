#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Memory that is short: whatever allocation fails, nothing is lost without a word.

usage: check_memory.py [--every N] RDMALAB

Runs each command of COMMANDS again and again, and each time another allocation of the C library
fails (fail_malloc.c), or that one and all after it.  Then it runs scenarios with less and less
memory for the lab.  Each run must either do all that the undisturbed run did, with the same output
and the same files, or end with status 1 and say that memory is short.  A command has at most
RUNS_MAX such runs, spread over its allocations; --every N takes every N-th of them.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

from program import ROOT, TIMEOUT_S, Tally

RUNS_MAX = 120
SHORT = ("out of memory", "not enough memory", "Cannot allocate memory", "memory of the lab is full")
PAGE = 4096

SCENARIOS = ["01-first-send", "06-lost-middle", "26-unreliable-link"]
OUTPUTS = ["--events", "e.ndjson", "--pcap", "f.pcapng", "--ladder", "l.svg", "--timeline", "t.html", "--hash"]


def scenario(name):
    return str(ROOT / "scenarios" / f"{name}.json")


COMMANDS = [["run", scenario(name), *OUTPUTS] for name in SCENARIOS] + [
    ["run", scenario("06-lost-middle"), "--ladder", "-"],
    ["convert", scenario("06-lost-middle"), "x.lab"],
    ["test", scenario("01-first-send"), "--format", "tap", "--junit", "j.xml"],
    ["-c", "host h1 h2; link h1 h2; ping h1 h2; show; show events last 5; why; export ladder -"],
    ["-c", "host h1 h2; link h1 h2; ping h1 h2; export pcapng f.pcapng; export events e.ndjson; "
           "export ladder l.svg; session save s.json; expect count(eth_tx, host==h1) == 1"],
    ["-c", "host h1 h2; link h1 h2; refused reason=err_timeout { ping h1 10.0.0.9 }; export pcapng f.pcapng"],
    ["-c", "scenario seed=5; host h1"],
    ["show", "../trace.ndjson"],
    ["show", "../trace.ndjson", "why"],
    ["show", "../trace.ndjson", "count", "tx, host==h1"],
    ["show", "../trace.ndjson", "--ladder", "l.svg"],
    ["show", "../trace.ndjson", "--timeline", "t.html"],
]

tally = Tally()
expect = tally.expect


def run(command, directory, **environment):
    """(exit status, output, errors, {file: bytes})"""
    for old in pathlib.Path(directory).iterdir():
        old.unlink()
    done = subprocess.run([RDMALAB, *command], cwd=directory, capture_output=True, check=False,
                          env=os.environ | environment, timeout=TIMEOUT_S,
                          stdin=subprocess.DEVNULL)
    files = {f.name: f.read_bytes() for f in pathlib.Path(directory).iterdir()}
    return done.returncode, done.stdout, done.stderr.decode(errors="replace"), files


def is_honest(got, whole):
    """Is it all there, or is it said what is missing?"""
    if got[0] == 1:
        return any(word in got[2] + got[1].decode(errors="replace") for word in SHORT)
    return got[0] == 0 and got[1] == whole[1] and got[3] == whole[3]


def show(got, whole):
    missing = [name for name in whole[3] if got[3].get(name) != whole[3][name]]
    return f"status {got[0]}, output as it should be: {got[1] == whole[1]}, " \
           f"files that differ: {missing}\n{got[2]}"


def check_command(command, shim, scratch, every):
    count_file = str(scratch / "count")
    work = scratch / "work"
    preload = {"LD_PRELOAD": str(shim)}
    whole = run(command, work, **preload, FAIL_MALLOC_COUNT=count_file)
    expect(whole[0] == 0, f"{' '.join(command)}: status {whole[0]}", whole[2])
    n = int(pathlib.Path(count_file).read_text(encoding="ascii"))
    step = max(1, n // RUNS_MAX) * every
    for at in range(1, n + 1, step):
        for mode in ("", "+"):
            got = run(command, work, **preload, FAIL_MALLOC=f"{at}{mode}")
            expect(is_honest(got, whole) or
                   (command[0] == "test" and got[0] == 0 and set(got[3]) == set(whole[3])),
                   f"LD_PRELOAD={shim.name} FAIL_MALLOC={at}{mode} rdmalab {' '.join(command)}",
                   show(got, whole))


def check_lab(name, scratch, every):
    """From hardly anything to enough, so that each growth of the arena fails once."""
    work = scratch / "work"
    command = ["run", scenario(name), *OUTPUTS]
    whole = run(command, work)
    pages, step = 16, 8 * every
    while True:
        got = run([*command, "--memory", str(pages * PAGE)], work)
        expect(is_honest(got, whole), f"rdmalab {' '.join(command)} --memory {pages * PAGE}",
               show(got, whole))
        if got[0] == 0 or pages > 1 << 20:
            break
        pages += max(step, pages // 64)


def main():
    global RDMALAB
    parser = argparse.ArgumentParser()
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("rdmalab")
    args = parser.parse_args()
    RDMALAB = str(pathlib.Path(args.rdmalab).resolve())
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        (scratch / "work").mkdir()
        shim = scratch / "fail_malloc.so"
        subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", str(shim),
                        str(ROOT / "tests/tools/fail_malloc.c")], check=True)
        run(["run", scenario("06-lost-middle"), "--events", "../trace.ndjson"], scratch / "work")
        for command in COMMANDS:
            check_command(command, shim, scratch, args.every)
        for scenario_name in SCENARIOS:
            check_lab(scenario_name, scratch, args.every)
    return tally.end()


sys.exit(main())
