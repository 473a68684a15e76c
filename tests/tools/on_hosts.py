# SPDX-License-Identifier: MIT
"""What the checks of programs on hosts of a lab have in common.

A check is a function check_NAME(rdmalab, tally, ...).  Checks spend most of their time waiting, so several run at the same
time.  Each has a directory of its own.  It takes each TCP port from @ports, and uses no preexec_fn: Python must not run code
between fork and exec if it has threads.
"""
import concurrent.futures
import io
import itertools
import os
import shutil
import socket
import tempfile
import time
import traceback

from program import Program, Tally

LIBRARY = "src/program/ibverbs/libibverbs.so.1"  # below the directory of rdmalab

AT_ONCE = 4
WAIT_S = 30

# perftest measures the clock of its processor, and gives up if the machine is busy meanwhile.
CLOCK_REFUSED, CLOCK_TRIES = "Correlation coefficient", 5


def nobody_uses(port):
    with socket.socket() as s:
        try:
            s.bind(("", port))
        except OSError:
            return False
    return True


# TCP ports, another one for each use, also by threads: free ones below those that Linux gives to clients.  Checks of another
# process begin with another port.
ports = filter(nobody_uses, itertools.count(10000 + os.getpid() * 128 % 22000))


def exec_pair(rdmalab, server, client=None, *options, **more):
    for _ in range(CLOCK_TRIES):
        port = ["-p", str(next(ports))]
        done = rdmalab.run("exec", *options, "h1", "--", *server.split(), *port, ":", "h2", "--", *(client or server).split(),
                           *port, "localhost", **more)
        if CLOCK_REFUSED not in done.stdout + done.stderr:
            break
    return done


def reason_to_skip(path, programs):
    """Returns why no program can run on a host of the rdmalab at @path; "" if all @programs and the library are there."""
    missing = [program for program in programs if not shutil.which(program)]
    library = path.parent / LIBRARY
    return "" if not missing and library.exists() else f"there is no {', '.join(missing) or library}"


def checks_of(*modules):
    """{NAME: function} of all functions check_NAME of the modules."""
    checks = {}
    for module in modules:
        for name, value in vars(module).items():
            if name.startswith("check_"):
                assert name not in checks, f"two checks have the name {name}"
                checks[name] = value
    return {name.removeprefix("check_"): value for name, value in checks.items()}


def run_alone(path, check, *args):
    """Runs @check in a directory of its own.  Returns its tally, which keeps its output."""
    tally = Tally(io.StringIO())
    with tempfile.TemporaryDirectory() as directory:
        rdmalab = Program(path, directory)
        try:
            check(rdmalab, tally, *args)
        except Exception:  # the others go on
            tally.expect(False, check.__name__, traceback.format_exc())
        rdmalab.end()
    if tally.failed:
        print(f"these failed in {check.__name__}", file=tally.output)
    return tally


def run_together(path, checks, *args):
    """Runs the @checks with @args, and starts them in their order.  Returns the exit status.

    The failures of a check are printed together, when it has ended.
    """
    total = Tally()
    pool = concurrent.futures.ThreadPoolExecutor(AT_ONCE)
    try:
        for run in concurrent.futures.as_completed([pool.submit(run_alone, path, check, *args) for check in checks]):
            tally = run.result()
            total.passed += tally.passed
            total.failed += tally.failed
            print(tally.output.getvalue(), end="", flush=True)
    finally:
        pool.shutdown(cancel_futures=True)  # after ^C
    return total.end()


def text_of(done):
    return f"status {done.returncode}\n{done.stdout[-1500:]}{done.stderr[-1500:]}"


def wait_until(condition):
    """Returns when @condition() is true; after WAIT_S at the latest, and then what follows fails."""
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end and not condition():
        time.sleep(0.02)
