# SPDX-License-Identifier: MIT
"""Wrong results of unmodified programs are found.  A part of selftest.py."""
import json
import pathlib
import tempfile
from dataclasses import replace

import unmodified
from cases import Case, perftest
from results import judge

SERVED = perftest("ib_send_bw", "rxe", size=2048, iterations=2)  # rxe sends two messages of two packets to the lab
ASKED = perftest("ib_read_lat", "lab", size=2048, iterations=2)
ATOMIC = perftest("ib_atomic_bw", "rxe", iterations=2)
EXAMPLE = Case("datagram", "lab", "ipv4", executed=True)
FRAMES = {"ib_send_bw": ("rx", "RC_SEND_FIRST", "RC_SEND_LAST"), "ib_atomic_bw": ("rx", "", "RC_FETCH_ADD"),
          "ib_read_lat": ("rx", "RC_RDMA_READ_RESPONSE_FIRST", "RC_RDMA_READ_RESPONSE_LAST")}
COMPLETIONS = {"ib_send_bw": ["RECV"], "ib_read_lat": ["RDMA_READ"], "ib_atomic_bw": []}


def trace(case):
    """What the lab has recorded of a run in which all is right, one packet twice."""
    way, first, last = FRAMES[case.program]
    opcodes = [opcode for _ in range(case.iterations) for opcode in (first, last) if opcode]
    size = 0 if case.program == "ib_atomic_bw" else 1024
    events = [{"ev": way, "host": "h1", "qpn": 2, "opcode": opcode, "psn": 7 + i, "bytes": size}
              for i, opcode in enumerate(opcodes)]
    events += [{"ev": "tx", "host": "h1", "qpn": 2, "opcode": "RC_ACKNOWLEDGE", "psn": 8, "bytes": 0}, events[0]]
    done = COMPLETIONS[case.program] * case.iterations
    return events + [{"ev": "cqe", "host": "h1", "op": op, "status": "SUCCESS"} for op in done]


def without(n):
    return lambda events: events[:n] + events[n + 1:]


def changed(n, **fields):
    return lambda events: events[:n] + [events[n] | fields] + events[n + 1:]


def more(**fields):
    return lambda events: events + [fields]


def same(events):
    return events


ROW = " #bytes #iterations\n {size}       {iterations}        12.00     11.50   0.1\n"
LOST = {"ev": "lost", "host": "h1"}
PLANTS = [  # case, what has happened to the trace, the row that the client prints, what must be said ("" for nothing)
    (SERVED, same, ROW, ""),
    (ASKED, same, ROW, ""),
    (ATOMIC, same, ROW, ""),
    (SERVED, same, ROW.replace("{iterations}", "1"), "did not print 2048 bytes and 2 iterations, but [(2048, 1)]"),
    (SERVED, same, "", "did not print 2048 bytes"),
    (SERVED, without(1), ROW, "received 1 messages with 3072 bytes instead of 2 with 4096"),
    (SERVED, changed(3, bytes=1000), ROW, "received 2 messages with 4072 bytes"),
    (SERVED, changed(3, host="rdl0"), ROW, "received 1 messages"),
    (SERVED, changed(3, psn=9), ROW, "received 2 messages with 3072 bytes"),
    (SERVED, changed(4, opcode="RC_SEND_ONLY", bytes=1), ROW, "sent 1 messages with 1 bytes instead of 0"),
    (SERVED, without(6), ROW, "the completions {'RECV': 1} instead of {'RECV': 2}"),
    (SERVED, changed(6, status="LOC_LEN_ERR"), ROW, "a completion with LOC_LEN_ERR"),
    (SERVED, more(**LOST), ROW, "1 frames were lost"),
    (replace(SERVED, loss=1), more(**LOST), ROW, ""),
    (replace(SERVED, loss=1), same, ROW, "0 frames were lost"),
    (ASKED, without(3), ROW, "received 1 messages"),
    (ASKED, without(6), ROW, "the completions {'RDMA_READ': 1} instead of"),
    (ATOMIC, without(1), ROW, "received 1 messages with 0 bytes instead of 2"),
    (ATOMIC, changed(1, opcode="RC_SEND_ONLY"), ROW, "received 1 messages"),
]

TRUTH = "sent to queue pair 3: hello\nclient: received 62 bytes\n"
EXAMPLES = [  # what the client prints, what it has printed between two hosts of a lab, what must be said
    ("client: received 62 bytes\nsent to queue pair 19: hello\n", TRUTH, ""),
    ("client: received 61 bytes\nsent to queue pair 3: hello\n", TRUTH, "the client did not print what"),
    ("sent to queue pair 3: hello\n", TRUTH, "the client did not print what"),
    ("", "", "the client has printed nothing"),
]


def found(case, texts, events=None, forgotten=0, truth=None):
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name) / case.name()
        directory.mkdir()
        (directory / "status").write_text("0 0 12")
        for role, text in texts.items():
            (directory / role).write_text(text)
            if truth:
                (directory.parent / "truth" / case.program).mkdir(parents=True, exist_ok=True)
                (directory.parent / "truth" / case.program / role).write_text(truth[role])
        if events is not None:
            lines = [json.dumps(line) + "\n" for line in [{"format": "rdmalab-trace", "forgotten": forgotten}, *events]]
            (directory / unmodified.TRACE).write_text("".join(lines))
        return "; ".join(judge(case, directory).wrong)


def missed():
    """Says for each plant what is wrong about how it was judged; "": nothing."""
    for case, happened, row, wanted in PLANTS:
        said = found(case, {"client": row.format(**vars(case))}, happened(trace(case)))
        yield "" if (wanted in said if wanted else not said) else f"{case.name()}: wanted '{wanted}', found '{said}'"
    for forgotten, events in (1, trace(SERVED)), (0, None):
        said = found(SERVED, {"client": ROW.format(**vars(SERVED))}, events, forgotten)
        yield "" if "the lab's trace is not whole" in said else f"a trace that is not whole: found '{said}'"
    for text, truth, wanted in EXAMPLES:
        said = found(EXAMPLE, {"client": text, "server": "x\n"}, truth={"client": truth, "server": "x\n"})
        yield "" if (wanted in said if wanted else not said) else f"example: wanted '{wanted}', found '{said}'"
