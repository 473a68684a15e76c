# SPDX-License-Identifier: MIT
"""What the checks of programs on hosts of a lab have in common."""
import time

from program import tcp_ports

LIBRARY = "src/program/ibverbs/libibverbs.so.1"  # below the directory of rdmalab

WAIT_S = 30

# perftest measures the clock of its processor, and gives up if the machine is busy meanwhile.
CLOCK_REFUSED, CLOCK_TRIES = "Correlation coefficient", 5

# Another for each pair, so that checks can run at the same time.
ports = tcp_ports()


def exec_pair(rdmalab, server, client=None, *options, **more):
    for _ in range(CLOCK_TRIES):
        port = ["-p", str(next(ports))]
        done = rdmalab.run("exec", *options, "h1", "--", *server.split(), *port, ":", "h2", "--", *(client or server).split(),
                           *port, "localhost", **more)
        if CLOCK_REFUSED not in done.stdout + done.stderr:
            break
    return done


def text_of(done):
    return f"status {done.returncode}\n{done.stdout[-1500:]}{done.stderr[-1500:]}"


def wait_until(condition):
    """Returns when @condition() is true; after WAIT_S at the latest, and then what follows fails."""
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end and not condition():
        time.sleep(0.02)
