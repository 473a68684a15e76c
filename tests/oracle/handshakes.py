#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""usage: handshakes.py [--every N] RDMALAB

Does `rdmalab check` read the messages of the connection manager as tshark does, and does the traffic fit them?

tests/oracle/connections has a file for each capture of two rxe devices of Linux 6.1: what the programs did, and
what the report must have.  Other captures are made by all scenarios of the lab in which somebody connects, but those with forged
frames: their PSNs are those of other frames, so that one is taken for the other.  In each the messages must be those that
tshark has, with its values; and the first request to a queue pair must have the PSN that the report gives its sender, unless
the report says that it has not.

With --every N the captures of each Nth scenario.  The last line is "N passed, N failed".
"""
import argparse
import concurrent.futures
import gzip
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import capture

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SCENARIOS = ROOT / "scenarios"
CONNECTS, FORGES = re.compile(r'"do": "(?:rdma_connect|dial)"'), re.compile(r'"do": "inject')
MESSAGES = {0x10: "REQ", 0x11: "MRA", 0x12: "REJ", 0x13: "REP", 0x14: "RTU", 0x15: "DREQ", 0x16: "DREP", 0x17: "SIDR_REQ",
            0x18: "SIDR_REP"}
REQ = {"cm.req": "comm_id", "cm.req.localqpn": "qpn", "cm.req.retrcount": "retry_cnt"}  # of the side that sends it
REQ_OF_PEER = {"cm.req.startpsn": "sq_psn", "cm.req.rnrretrcount": "rnr_retry", "cm.req.responderres": "max_rd_atomic",
               "cm.req.prim_localacktout": "timeout"}
REP = {"cm.rep": "comm_id", "cm.rep.localqpn": "qpn"}
REP_OF_PEER = {"cm.rep.startpsn": "sq_psn", "cm.rep.rnrretrcount": "rnr_retry", "cm.rep.respres": "max_rd_atomic"}
FIELDS = ["frame.number", "frame.interface_id", "infiniband.bth.opcode", "infiniband.bth.destqp", "infiniband.bth.psn", "infiniband.mad.attributeid",
          "infiniband.mad.transactionid", "infiniband.cm.rej.reason", "infiniband.cm.req.pppmtu", "ip.src", "ip.dst", "ipv6.src",
          "ipv6.dst", *(f"infiniband.{name}" for rows in (REQ, REQ_OF_PEER, REP, REP_OF_PEER) for name in rows)]
REQUESTS = {*range(0x00, 0x0D), 0x13, 0x14, 0x16, 0x17}  # opcodes of RC


class Judge:
    def __init__(self):
        self.passed = self.failed = 0

    def expect(self, what, mine, theirs):
        self.passed += mine == theirs
        self.failed += mine != theirs
        if mine != theirs:
            print(f"FAILED {what}: {mine!r}, not {theirs!r}")


def number(text):
    return int(text, 0) if text else None


def rows_of(path):
    """Returns the fields that tshark finds in each RoCEv2 frame; of a frame that was captured at both ends only the first sight.

    A frame that the network duplicates is seen once more at its receiver.
    """
    times, seen, rows = {}, set(), []
    for row in capture.tshark(str(path), FIELDS):
        row = {name.removeprefix("infiniband."): value for name, value in row.items()}
        if not row["bth.opcode"]:
            continue
        key = tuple(row[name] for name in ("ip.src", "ipv6.src", "bth.destqp", "bth.psn", "bth.opcode", "mad.transactionid"))
        at = key, row["frame.interface_id"]
        times[at] = times.get(at, 0) + 1
        sight = key, times[at]
        if path.suffix != ".pcapng" or sight not in seen:
            rows.append(row)
        seen.add(sight)
    return rows


def judge_messages(judge, name, report, rows):
    mine = sorted((m["frame"], m["message"]) for k in report["handshakes"] for m in k["messages"])
    theirs = [(int(r["frame.number"]), MESSAGES[number(r["mad.attributeid"])]) for r in rows if r["mad.attributeid"]]
    judge.expect(f"{name}: messages", mine, theirs)


def judge_values(judge, name, report, rows):
    by_frame = {int(r["frame.number"]): r for r in rows}
    for k in report["handshakes"]:
        for m in k["messages"]:
            row, side, what = by_frame[m["frame"]], m["side"], f"{name}: frame {m['frame']}"
            own, of_peer = {"REQ": (REQ, REQ_OF_PEER), "REP": (REP, REP_OF_PEER)}.get(m["message"], ({}, {}))
            for fields, of in ((own, k["sides"][side]), (of_peer, k["sides"][1 - side])):
                for field, member in fields.items():
                    judge.expect(f"{what}, {field}", of[member], number(row[field]))
            if m["message"] == "REQ":
                judge.expect(f"{what}, path MTU", k["mtu"], 128 << number(row["cm.req.pppmtu"]))
            if m["message"] == "REJ":
                judge.expect(f"{what}, reason", m["reason"], number(row["cm.rej.reason"]))


def judge_traffic(judge, name, report, rows):
    """The first request to each queue pair has the PSN that its sender was told, or the report says that it has not."""
    wrong = {f["frame"] for f in report["findings"] if f["finding"] == "WRONG_FIRST_PSN"}
    for k in report["handshakes"]:
        begin = min(m["frame"] for m in k["messages"])
        for side in (0, 1):
            sender, receiver = k["sides"][side], k["sides"][1 - side]
            first = next((r for r in rows if int(r["frame.number"]) > begin and number(r["bth.destqp"]) == receiver["qpn"] and
                          number(r["bth.opcode"]) in REQUESTS and (r["ip.src"] or r["ipv6.src"]) == sender["host"]), None)
            if first:
                judge.expect(f"{name}: {sender['host']} begins with PSN {sender['sq_psn']}", int(first["frame.number"]) not in wrong,
                             sender["sq_psn"] == number(first["bth.psn"]))


def judge_truth(judge, name, report, truth):
    judge.expect(f"{name}: states", [k["state"] for k in report["handshakes"]], truth["states"])
    judge.expect(f"{name}: findings", report["counts"], truth["counts"])


def made_by():
    """The scenarios whose captures are compared."""
    texts = {path: path.read_text() for path in sorted(SCENARIOS.glob("*.json"))}
    return [path for path, text in texts.items() if CONNECTS.search(text) and not FORGES.search(text)]


def read(rdmalab, name, path):
    """(@name, the report about capture @path, what tshark has of it)."""
    run = subprocess.run([rdmalab, "check", path, "--json"], capture_output=True, text=True, check=False)
    return name, json.loads(run.stdout), rows_of(path)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.removeprefix("usage: "))
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("rdmalab", type=pathlib.Path)
    args = parser.parse_args()
    rdmalab, judge = str(args.rdmalab.resolve()), Judge()
    with tempfile.TemporaryDirectory() as directory:
        files = {}
        truths = {path.stem: json.loads(path.read_text()) for path in sorted((HERE / "connections").glob("*.json"))}
        for name, truth in truths.items():
            files[name] = pathlib.Path(directory) / f"{name}.pcap"
            with gzip.open(ROOT / truth["capture"]) as source, open(files[name], "wb") as target:
                shutil.copyfileobj(source, target)
        for scenario in made_by()[::args.every]:
            path = files[scenario.stem] = pathlib.Path(directory) / f"{scenario.stem}.pcapng"
            run = subprocess.run([rdmalab, "run", scenario, "--pcap", path], capture_output=True, text=True, check=False)
            if run.returncode:
                capture.die(f"{scenario}: {run.stdout}{run.stderr}")
        with concurrent.futures.ThreadPoolExecutor() as pool:
            for name, report, rows in pool.map(lambda item: read(rdmalab, *item), files.items()):
                judge_messages(judge, name, report, rows)
                judge_values(judge, name, report, rows)
                judge_traffic(judge, name, report, rows)
                if name in truths:
                    judge_truth(judge, name, report, truths[name])
    print(f"{judge.passed} passed, {judge.failed} failed")
    return int(judge.failed > 0 or not judge.passed)


if __name__ == "__main__":
    sys.exit(main())
