#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""How long the prompt lets one wait: from the start to the prompt, and for TAB and hints in a large lab.

usage: measure_prompt.py RDMALAB [HOSTS]

Prints the median and the worst of several times, with what is asked: 5 ms to the prompt, 10 ms for a key with 1,000
hosts.  It judges nothing: a busy machine is no mistake.  Each time is from a key that was written to the terminal until
all that it puts on the screen has been read.
"""
import os
import pathlib
import re
import statistics
import sys
import tempfile
import time

import terminal

TIMES = 15
HOST = "host h{} ram=1m max_qp=2 max_cq=1 max_srq=1"
KEYS = [  # what is typed before, the keys, what comes
    ("destroy_qp h12.", "\t", r"> destroy_qp h12\.qp"),
    ("destroy_qp h17", "\t", r"> destroy_qp h17\.qp"),
    ("on h99", "\t\t", r"h999"),
    ("show h17.", "\t\t", r"h17\.qp"),
    ("until count(tx, host==h99", "\t\t", r"host==h999"),
    ("modify_qp h1.q", "p ", r"state=reset"),
]


def start_ns(path, directory):
    begun = time.monotonic_ns()
    t = terminal.Terminal(path, directory)
    ended = time.monotonic_ns()
    t.press("^D")
    t.close()
    return ended - begun


def bare_ns(directory):
    """The same without anything to start: what a terminal, a process and this program take by themselves."""
    return start_ns(str(pathlib.Path(directory) / "nothing"), directory)


def key_ns(t, typed, keys, comes):
    t.press(typed)
    t.expect(re.escape(typed.strip()))
    time.sleep(0.02)  # its own hint is there
    while t.read(0):
        pass
    t.screen.top = t.screen.row
    begun = time.monotonic_ns()
    t.press(keys)
    while not re.search(comes, t.new()):
        if not t.read(5):
            raise terminal.Failure(f"nothing came of {typed!r}: {t.new()!r}")
    ended = time.monotonic_ns()
    t.press("^C")
    t.expect(r"\n" + terminal.PROMPT + r"\Z")
    return ended - begun


def report(what, times, most_ms):
    ms = sorted(t / 1e6 for t in times)
    print(f"{what:44} median {statistics.median(ms):7.2f} ms   worst {ms[-1]:7.2f} ms   asked {most_ms} ms")


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__.split("\n")[2])
    path = str(pathlib.Path(sys.argv[1]).resolve())
    n_hosts = int(sys.argv[2]) if len(sys.argv) == 3 else 1000
    with tempfile.TemporaryDirectory() as directory:
        nothing = pathlib.Path(directory) / "nothing"
        nothing.write_text("#!/bin/sh\nprintf 't=0 #0> '\nread line\n")
        nothing.chmod(0o755)
        report("a shell script that prints a prompt", [bare_ns(directory) for _ in range(TIMES)], "-")
        report("start to prompt", [start_ns(path, directory) for _ in range(TIMES)], 5)
        t = terminal.Terminal(path, directory)
        lines = "\n".join(HOST.format(i + 1) for i in range(n_hosts))
        lines += "\non h1,h12,h17 { alloc_pd as pd; create_cq cqe=1 as cq; create_qp pd send_cq=cq recv_cq=cq as qp }\n"
        (pathlib.Path(directory) / "hosts.lab").write_text(lines)
        t.press("source hosts.lab; show h1.qp.type\r")
        t.expect(r"h1\.qp\.type = RC", terminal.PROMPT + r"\Z")
        for typed, keys, comes in KEYS:
            times = [key_ns(t, typed, keys, comes) for _ in range(TIMES)]
            report(f"{typed!r} {keys!r}, {n_hosts} hosts", times, 10)
        t.close()


if __name__ == "__main__":
    os.environ.setdefault("LC_ALL", "C.UTF-8")
    main()
