# SPDX-License-Identifier: MIT
"""Writes results as Markdown (for people) and lines of JSON (for programs)."""
import datetime
import json

import connections
import transcripts
import verbs_lines
from cases import CLIENTS, DATAGRAM_SIZES, MTUS, SIZES
from results import of_baseline, speeds

# What the lab must reach of the baseline, which itself differs by a tenth from run to run.  A single
# packet after which both sides wait for the other is no matter of rate: see README.md.
RATE_LEAST = 0.9
LATENCY_LEAST = 0.35

# The programs that have a table of their own, and its columns.
SIZES_OF = {"rc_pingpong": SIZES, "uc_pingpong": SIZES, "ud_pingpong": DATAGRAM_SIZES}

WHO = {"baseline": "rxe and rxe", "rxe": "rxe client, lab server", "lab": "lab client, rxe server"}


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    return lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows] + [""]


def verdict(result):
    return f"ok {result.seconds:.1f} s" if result.passed() else "**FAILED**"


def is_regular(case):
    return case.program in SIZES_OF and case.name() == "-".join([
        case.program, f"{case.client}_client", case.ip, f"{case.size}B", f"mtu{case.mtu}",
        f"loss{case.loss}"])


def matrix(results, sizes):
    """One row for each client, IP version, loss and path MTU; one column for each size."""
    rows = {}
    for r in results:
        c = r.case
        rows.setdefault((c.client, c.ip, c.loss, c.mtu), {})[c.size] = verdict(r)
    return table(["client", "GID", "loss", "path MTU"] + [f"{size} B" for size in sizes],
                 [[client, ip, f"{loss} %", mtu] + [cells.get(size, "not tried") for size in sizes]
                  for (client, ip, loss, mtu), cells in rows.items()])


def verbs_matrix(results):
    """One row for each client, IP version and loss; one column for each path MTU."""
    rows = {}
    for r in results:
        c = r.case
        rows.setdefault((c.client, c.ip, c.loss), {})[c.mtu] = verdict(r)
    return table(["client", "GID", "loss"] + [f"MTU {mtu}" for mtu in MTUS],
                 [[client, ip, f"{loss} %"] + [cells.get(mtu, "") for mtu in MTUS]
                  for (client, ip, loss), cells in rows.items()])


def ends(lines):
    """The statuses of completions, and what was refused, in their order; several equal ones once."""
    words = [line.partition("status=")[2].split()[0] if "status=" in line else line.partition(": ")[2]
             for line in lines if "status=" in line or line.startswith("refused")]
    return ", ".join(dict.fromkeys(words))


def failure_rows():
    """How what goes wrong ends at both sides where rxe talks to rxe: the table that all are held against."""
    expected = transcripts.read()
    for section in verbs_lines.failures():
        sides = expected[section.name]
        yield [section.name, ends(sides["a"]), ends(sides["b"])]


def verbs_text(results):
    return ["## verbs_peer", "",
            "Every operation in one pair of processes, judged by what rxe with rxe prints: see",
            "[verbs_peer.md](verbs_peer.md).", ""] + verbs_matrix(results) + [
            "How what goes wrong ends: the completions of side a, which asks, and of side b. A section is described",
            "in `tests/interop/verbs_failures.py` by its name.", ""] + table(
                ["section", "a", "b"], failure_rows())


def random_text(results):
    """How many random programs were the same as between rxe and rxe; the cases are many, and not one by one."""
    rows = {}
    for r in results:
        if not r.case.baseline:
            rows.setdefault((r.case.client, r.case.ip, r.case.profile, r.case.loss), []).append(r)
    return ["## Random programs", "",
            "Programs of `tests/interop/verbs_random.py`: the lab has printed what rxe has printed with rxe, to the",
            "digest of all memory. Where frames are lost they also come twice and late.", ""] + table(
                ["client", "GID", "profile of the lab", "loss", "programs", "result"],
                [[client, ip, profile, f"{loss} %", sum(len(r.case.seeds) for r in some),
                  "ok" if all(r.passed() for r in some) else "**FAILED**"]
                 for (client, ip, profile, loss), some in sorted(rows.items())])


def unmodified_text(results):
    """The programs of perftest, and of examples; one row for each, with all cases of the lab as client and as server."""
    rows = {}
    for r in results:
        if not r.case.baseline:
            rows.setdefault((r.case.program, r.case.loss), {}).setdefault(r.case.client, []).append(r)
    return ["## Unmodified programs", "",
            "One side on rxe, the other one on a host of the lab by `rdmalab exec`. What perftest says to have moved, the lab",
            "has seen; an example prints what it prints between two hosts of a lab.", ""] + table(
                ["program", "loss", *[WHO[client] for client in CLIENTS]],
                [[program, f"{loss} %", *[", ".join(f"{r.case.options} {verdict(r)}".strip() for r in by.get(client, []))
                                          for client in CLIENTS]]
                 for (program, loss), by in rows.items()])


def connections_text(results):
    """The programs that connect by rdma_cm; one row for each of connections.py."""
    rows = {}
    for r in results:
        who = "baseline" if r.case.baseline else r.case.client
        rows.setdefault(r.case.options, {}).setdefault(who, []).append(r)
    return ["## Connections by rdma_cm", "",
            "Programs of Debian's rdmacm-utils and `examples/connection.c`: the rows of `tests/interop/connections.py`. They print what",
            "they print with rxe on both sides, and leave nothing on either side.", ""] + table(
                ["row", "server", "client", *WHO.values()],
                [[name, f"`{connections.BY_NAME[name].server}`", f"`{connections.BY_NAME[name].client}`",
                  *[", ".join(f"{r.case.ip} {verdict(r)}" for r in by.get(who, [])) for who in WHO]] for name, by in rows.items()])


LAB_ONLY = ["REG_MR", "invalidation of ordinary regions", "`rereg_mr`", "LAST_WQE_REACHED", "P_Keys other than 0xFFFF",
            "the privileged bit of a Q_Key", "RDMA_READ_WITH_INV", "end-to-end credits"]


def lab_only_text():
    return ["## Tested in the lab only", "",
            "What programs on rxe of Linux 6.1 cannot do is shown by scenarios and tests between hosts of a lab:", "",
            *[f"- {what}" for what in LAB_ONLY], ""]


def speed_rows(results):
    for kind, by in speeds(results).items():
        for who, attempts in by.items():
            usec = min(attempts.values())
            ratio = of_baseline(attempts, by.get("baseline", {}))
            yield {"between": WHO[who], "size": kind.size, "mtu": kind.mtu,
                   "completions": "by event" if "-e" in kind.options else "polled",
                   "usec_per_iteration": round(usec, 2), "messages_per_s": round(2e6 / usec),
                   "mbit_per_s": round(2 * kind.size * 8 / usec, 1),
                   "of_baseline": round(ratio, 2) if ratio else None,
                   "at_least": LATENCY_LEAST if kind.is_latency() else RATE_LEAST}


def json_lines(results):
    for r in results:
        yield json.dumps({**vars(r.case), "name": r.case.name(), "passed": r.passed(), "wrong": r.wrong,
                          "seconds": r.seconds, "usec_per_iteration": r.usec})
    for row in speed_rows(results):
        yield json.dumps({"speed": row})


def markdown(results, title, versions):
    passed = sum(r.passed() for r in results)
    regular = [r for r in results if is_regular(r.case)]
    verbs = [r for r in results if r.case.program == "verbs" and not r.case.executed]
    unmodified = [r for r in results if r.case.is_example() or r.case.is_perftest()]
    special = [r for r in results if not is_regular(r.case) and r not in unmodified and
               r.case.program not in ("speed", "verbs", "random", connections.PROGRAM)]
    connected = [r for r in results if r.case.is_connection()]
    random = [r for r in results if r.case.program == "random"]
    speed = list(speed_rows(results))
    lines = [
        "# Interoperation with Linux rxe", "",
        f"{datetime.date.today()}, written by `tests/interop/run --full`: {title} against rxe, in a virtual",
        f"machine without KVM. {versions}", "",
        f"{passed} of {len(results)} cases passed.", "",
    ]
    if regular:
        lines += ["## Every size and path MTU", "",
                  "The client is the original program on rxe, or rdmalab's; the server is the other one.",
                  "Times are those of the whole case.", ""]
    for program, sizes in SIZES_OF.items():
        its = [r for r in regular if r.case.program == program]
        if its:
            lines += [f"### ibv_{program}", ""] + matrix(its, sizes)
    if verbs:
        lines += verbs_text(verbs) + lab_only_text()
    if random:
        lines += random_text(random)
    if unmodified:
        lines += unmodified_text(unmodified)
    if connected:
        lines += connections_text(connected)
    if executed := [r for r in results if r.case.program == "verbs" and r.case.executed]:
        lines += ["verbs_peer on libibverbs, on both sides:", ""] + table(
            ["case", "result"], [[r.case.name(), verdict(r)] for r in executed])
    if special:
        lines += ["## Special cases", ""] + table(
            ["case", "result"], [[r.case.name(), verdict(r)] for r in special])
    if speed:
        lines += ["## Speed", "",
                  "The best of several runs of ibv_rc_pingpong; each iteration is two messages.", ""] + table(list(speed[0]), [row.values() for row in speed])
    failed = [r for r in results if not r.passed()]
    if failed:
        lines += ["## What failed", ""] + [f"- {r.case.name()}: {'; '.join(r.wrong)}" for r in failed]
        lines.append("")
    return "\n".join(lines)
