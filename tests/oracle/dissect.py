#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""dissect.py FILE.pcapng [--events FILE.ndjson]: what does tshark make of the frames?

No frame may be malformed, every frame to UDP port 4791 must be read as RoCEv2, and a VLAN must be read in exactly
the frames that have a tag.  With --events,
the n-th "tx" event of a host must have the opcode, destination QPN, PSN and length that tshark reads in the
n-th frame that left the host's port, and the n-th event of a frame that no host received (it was "lost",
or a port without a link dropped it) those of the n-th frame of the interface "wire.lost".  Exit status: 0 if all agree
and there is at least one frame, 1 if not, 2 if nothing could be checked.
"""
import argparse
import json
import sys
from collections import defaultdict

import capture

LOST = "wire.lost"
NO_HOST = "none"

FIELDS = ["frame.number", "udp.dstport", "_ws.malformed", "_ws.expert.group", "vlan.id", "vlan.priority",
          "infiniband.bth.opcode", "infiniband.bth.destqp", "infiniband.bth.psn"]

# The "malformed" group of Wireshark's expert information, PI_MALFORMED in epan/proto.h.
GROUP_MALFORMED = 0x07000000

RELIABLE = ["SEND_FIRST", "SEND_MIDDLE", "SEND_LAST", "SEND_LAST_WITH_IMM", "SEND_ONLY",
            "SEND_ONLY_WITH_IMM", "RDMA_WRITE_FIRST", "RDMA_WRITE_MIDDLE", "RDMA_WRITE_LAST",
            "RDMA_WRITE_LAST_WITH_IMM", "RDMA_WRITE_ONLY", "RDMA_WRITE_ONLY_WITH_IMM",
            "RDMA_READ_REQUEST", "RDMA_READ_RESPONSE_FIRST", "RDMA_READ_RESPONSE_MIDDLE",
            "RDMA_READ_RESPONSE_LAST", "RDMA_READ_RESPONSE_ONLY", "ACKNOWLEDGE",
            "ATOMIC_ACKNOWLEDGE", "COMPARE_SWAP", "FETCH_ADD", None,
            "SEND_LAST_WITH_INVALIDATE", "SEND_ONLY_WITH_INVALIDATE"]
OPCODES = {f"RC_{name}": code for code, name in enumerate(RELIABLE) if name}
OPCODES |= {f"UC_{name}": 0x20 + code for code, name in enumerate(RELIABLE[:12])}
OPCODES |= {"UD_SEND_ONLY": 0x64, "UD_SEND_ONLY_WITH_IMM": 0x65, "CNP": 0x81, "RC_FLUSH": 0x1C, "RC_ATOMIC_WRITE": 0x1D}
NOT_ROCE = {"ECHO_REQUEST", "ECHO_REPLY"}  # what events call the frames of a ping


def malformed(row):
    groups = [int(g, 0) for g in row["_ws.expert.group"].split(",") if g]
    return bool(row["_ws.malformed"]) or GROUP_MALFORMED in groups


def check_dissection(frames, rows):
    """The complaints about frames by themselves."""
    for frame, row in zip(frames, rows):
        if frame.damaged():
            continue
        if malformed(row):
            yield f"frame {frame.number}: malformed"
        elif frame.is_roce() and not row["infiniband.bth.opcode"]:
            yield f"frame {frame.number}: not read as RoCEv2"
        tag = (int(row["vlan.id"], 0), int(row["vlan.priority"], 0)) if row["vlan.id"] else None
        if tag != frame.vlan():
            yield f"frame {frame.number}: VLAN and priority {tag}, not {frame.vlan()}"


def host_of(interface):
    """Ports are named host, host.port or host:port."""
    return interface.replace(":", ".").split(".")[0]


def describe(opcode, psn, qpn):
    name = next((n for n, code in OPCODES.items() if code == opcode), f"opcode {opcode:#x}")
    return f"{name} psn={psn}" + (f" to QPN {qpn}" if qpn is not None else "")


def compare(where, events, pairs):
    """Complaints where @events and the (frame, tshark's row) @pairs differ, in order."""
    for i, (event, (frame, row)) in enumerate(zip(events, pairs), 1):
        qpn = event.get("dest_qpn")
        want = describe(OPCODES.get(event["opcode"], event["opcode"]), event["psn"], qpn)
        got = describe(int(row["infiniband.bth.opcode"], 0), int(row["infiniband.bth.psn"], 0),
                       None if qpn is None else int(row["infiniband.bth.destqp"], 0))
        if want != got:
            yield f"{where}: event {i} says {want}, frame {frame.number} is {got}"
            return  # the rest would only repeat it
        if not frame.damaged() and event.get("wire_bytes", len(frame.data)) != len(frame.data):
            yield f"{where}: event {i} says {event['wire_bytes']} bytes, frame {frame.number} has {len(frame.data)}"
            return
    if len(events) != len(pairs):
        yield f"{where}: {len(events)} events, {len(pairs)} frames"


def check_events(frames, rows, path):
    """The complaints about frames that contradict the events in the file @path."""
    sent, lost, n_others = defaultdict(list), [], 0
    with open(path, encoding="utf-8") as f:
        for line in f:  # the first is a header, which has no "ev"
            event = json.loads(line)
            if event.get("ev") == "tx" and event.get("copied"):
                continue  # the shortcut of a machine: there is no frame
            if event.get("ev") == "tx":
                sent[str(event.get("host", ""))].append(event)
            elif event.get("ev") == "lost" or (event.get("ev") == "drop" and
                                               event.get("host") == NO_HOST):
                if event["opcode"] in NOT_ROCE:
                    n_others += 1
                else:
                    lost.append(event)
    left, gone = defaultdict(list), []
    for frame, row in zip(frames, rows):
        if not row["infiniband.bth.opcode"]:
            n_others -= frame.interface == LOST and not frame.damaged() and not frame.is_roce()
            continue
        if frame.interface == LOST:
            gone.append((frame, row))
        elif frame.direction == capture.OUTBOUND:
            left[host_of(frame.interface)].append((frame, row))
    for host in sorted(set(sent) | set(left)):
        yield from compare(f"tx of {host}", sent[host], left[host])
    yield from compare(LOST, lost, gone)
    if n_others > 0:  # a lost ARP frame has no event
        yield f"{LOST}: {n_others} events of frames that are not RoCEv2 have no frame"


def check(path, events, rows):
    """How many frames the capture at @path has, and the complaints; @rows are tshark's of it, @events is a path, or None."""
    frames = capture.read(path)
    complaints = list(check_dissection(frames, rows))
    if events:
        complaints += check_events(frames, rows, events)
    return len(frames), complaints


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("pcapng")
    parser.add_argument("--events", metavar="FILE.ndjson")
    args = parser.parse_args()

    n_frames, complaints = check(args.pcapng, args.events, capture.tshark_each([args.pcapng], FIELDS)[0])
    for complaint in complaints:
        print(f"{args.pcapng}: {complaint}")
    print(f"{n_frames} frames, {len(complaints)} complaints")
    sys.exit(0 if n_frames and not complaints else 1)


if __name__ == "__main__":
    main()
