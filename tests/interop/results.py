# SPDX-License-Identifier: MIT
"""Judges what the programs printed in the virtual machine."""
import re
from dataclasses import dataclass, replace

import cases
import connections
import random_judge
import transcripts
import unmodified
import verbs_likes

ADDRESS = re.compile(r"(local|remote) address: +LID 0x0000, QPN 0x([0-9a-f]{6}), "
                     r"PSN 0x([0-9a-f]{6})[,:] GID (\S+)")  # UD has a colon
BYTES = re.compile(r"(\d+) bytes in ([\d.]+) seconds = [\d.]+ Mbit/sec")
ITERATIONS = re.compile(r"(\d+) iters in ([\d.]+) seconds = ([\d.]+) usec/iter")
PINGED = re.compile(r"\b3 (?:packets )?received")
GID = {"ipv4": "::ffff:", "ipv6": "fe80::"}
KERNEL_COMPLAINT = re.compile(r"BUG|Oops|WARNING|Call Trace|rcu_.*stall|general protection")


@dataclass
class Result:
    case: object
    wrong: list  # why it failed; empty: it passed
    text: dict  # what "server" and "client" printed; "lost": what else counts lost frames
    seconds: float = 0
    usec: float = 0  # for one iteration, as the client saw it

    def passed(self):
        return not self.wrong


def booted(console):
    """Did the virtual machine come as far as its first program?"""
    return "vm-init: Linux " in console


def read(path):
    return path.read_text(errors="replace") if path.exists() else ""


def wrong_status(status):
    for role, value in zip(("server", "client"), status):
        if value == "143":
            yield f"the {role} did not end in time"
        elif value == "not":
            yield "the server was never ready"
        elif value != "0":
            yield f"the {role} ended with status {value}"


def addresses(text):
    """{"local": (QPN, PSN, GID), "remote": ...} as a program printed them."""
    return {side: (int(qpn, 16), int(psn, 16), gid) for side, qpn, psn, gid in ADDRESS.findall(text)}


def wrong_pingpong(case, text):
    """The complaints about the output of both programs, which must look like rdma-core's."""
    seen = {}
    for role in ("server", "client"):
        total = BYTES.search(text[role])
        iterations = ITERATIONS.search(text[role])
        seen[role] = addresses(text[role])
        if not total or int(total[1]) != 2 * case.size * case.iterations:
            yield f"the {role} did not print {2 * case.size * case.iterations} bytes"
        if not iterations or int(iterations[1]) != case.iterations:
            yield f"the {role} did not print {case.iterations} iters"
        if "invalid data" in text[role]:
            yield f"the {role} received wrong data"
        if len(seen[role]) != 2:
            yield f"the {role} did not print both addresses"
            return
        if not seen[role]["local"][2].startswith(GID[case.ip]):
            yield f"the {role} used GID {seen[role]['local'][2]}"
        if case.first_psn >= 0 and seen[role]["local"][1] != case.first_psn:
            yield f"the {role} did not start at PSN {case.first_psn:#x}"
    for one, other in (("server", "client"), ("client", "server")):
        if seen[one]["remote"] != seen[other]["local"]:
            yield f"the {one} was told another address than the {other} has"


def wrong_output(case, text, can, likes):
    if case.program == "verbs":
        yield from transcripts.wrong(case, {"a": text["server"], "b": text["client"]}, can, likes)
    elif case.program != "ping":
        yield from wrong_pingpong(case, text)
    elif not PINGED.search(text["client"]):
        yield "not every ping was answered"


def judge(case, directory, can=None, likes=None):
    """@can: the sections of verbs_lines.py that the case consists of; None: all.  @likes: what each side of
    verbs_peer is like (verbs_likes.py); None: rxe of Linux 6.1.
    """
    text = {name: read(directory / name) for name in ("server", "client", "lost")}
    status = read(directory / "status").replace("not run", "not").split()
    if len(status) != 3:
        return Result(case, ["the virtual machine did not come to it"], text)
    wrong = list(wrong_status(status[:2]))
    if case.program == "random":
        truth = directory.parent / cases.random_truth(case).name()
        wrong += random_judge.wrong(case, text, {role: read(truth / role) for role in ("server", "client")})
        return Result(case, wrong, text, int(status[2]) / 100)
    if case.is_connection():
        text["leaked"] = read(directory / "leaked")
        truth = directory.parent / cases.connection_truth(case).name()
        wrong += connections.wrong(case, text, directory, {role: read(truth / role) for role in ("server", "client")})
        return Result(case, wrong, text, int(status[2]) / 100)
    if case.is_example() or case.is_perftest():
        if not wrong:
            wrong += unmodified.wrong(case, text, directory)
        return Result(case, wrong, text, int(status[2]) / 100)
    if not wrong or case.program == "verbs":  # whose transcript tells where it ended
        wrong += wrong_output(case, text, can, likes or verbs_likes.RXE)
    usec = 0
    if not wrong and case.program not in ("ping", "verbs"):
        usec = float(ITERATIONS.search(text["client"])[3])
    return Result(case, wrong, text, int(status[2]) / 100, usec)


def kernel_complaints(directory):
    return [line for line in read(directory / "dmesg").splitlines() if KERNEL_COMPLAINT.search(line)]


def speeds(results):
    """{a case of the kind: {"baseline" | "rxe" | "lab" (the client): {attempt: usec/iter}}}"""
    measured = {}
    for r in results:
        if r.case.program == "speed" and r.passed():
            who = "baseline" if r.case.baseline else r.case.client
            kind = replace(r.case, client="rxe", baseline=False, attempt=0)
            measured.setdefault(kind, {}).setdefault(who, {})[r.case.attempt] = r.usec
    return measured


def of_baseline(usec, baseline):
    """The best of several, each beside its own baseline: whatever else the machine does can make one slower, or the
    other, but hardly one of them each time.  None: nothing was measured beside it.
    """
    return max((baseline[a] / usec[a] for a in usec if a in baseline), default=None)
