# SPDX-License-Identifier: MIT
"""What happened to each frame that the lab carried between two tap interfaces, by its number in each capture."""
import json
import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "oracle"))

import capture  # noqa: E402  pylint: disable=wrong-import-position

PORTS = {"rdl0": "a", "rdl1": "b"}
ENTERS = ("tx", "eth_tx")
WRITTEN = (*ENTERS, "rx", "eth_rx", "drop", "port_out", "lost")  # events that the capture has a frame for
SECTION = struct.pack("<IIIHHqI", 0x0A0D0D0A, 28, 0x1A2B3C4D, 1, 0, -1, 28)
INTERFACE = struct.pack("<IIHHI", 1, 32, 1, 0, 0) + struct.pack("<HHB3xHH", 9, 1, 9, 0, 0) + struct.pack("<I", 32)
PACKET = 6


class Unknown(Exception):
    """The captures are not of the frames that the lab has carried."""


class Fate:
    """Of one frame: where it is in the lab's own capture."""

    def __init__(self, sent):
        self.sent = sent  # the frame as it came in
        self.came = []  # as it went out: several, if a fault made them
        self.kinds, self.delays = [], {}  # what faults did; kind: microseconds


def fates(frames, events):
    """The fate of each frame, in the order in which they were sent.  @events are the lab's, of which each of
    WRITTEN is one of @frames.
    """
    left, ret = iter(frames), {}
    for event in events:
        frame = next(left, None) if event["ev"] in WRITTEN else None
        if event["ev"] in WRITTEN and not frame:
            raise Unknown("the lab's trace and its capture are not of the same frames")
        if event["ev"] in ENTERS:
            ret[event["id"]] = Fate(frame)
        elif event["ev"] == "port_out":
            ret[event["tx"]].came.append(frame)
        elif event["ev"] in ("fault", "lost"):
            fate, kind = ret[event["tx"]], event["by"].lower()
            fate.kinds.append("drop" if event["ev"] == "lost" else kind)
            ret[event["id"]] = fate  # a damaged frame goes by the name of what damaged it
            if event.get("delay"):
                fate.delays[kind] = event["delay"] / 1000
    if next(left, None):
        raise Unknown("the lab's capture has more frames than its trace")
    return list(dict.fromkeys(ret.values()))


def events_of(path):
    """The events of a trace that is whole."""
    with open(path, encoding="utf-8") as file:
        about = json.loads(next(file))
        if about["forgotten"]:
            raise Unknown(f"the lab has forgotten {about['forgotten']} events")
        return [json.loads(line) for line in file if '"ev"' in line]


def aligned(frames, expected, vantage):
    """{number in the lab's capture: number in @frames}; both are of one interface, where each direction has its
    order.  Only RoCEv2: what else the kernel says for itself may have come before the lab or after it.
    """
    frames, expected = [f for f in frames if f.is_roce()], [f for f in expected if f.is_roce()]
    own = {f.data[6:12] for f in expected if f.direction == capture.OUTBOUND}
    rows = {direction: [f for f in expected if f.direction == direction]
            for direction in (capture.OUTBOUND, capture.INBOUND)}
    ret = {}
    for frame in frames:
        row = rows[capture.OUTBOUND if frame.data[6:12] in own else capture.INBOUND]
        if not row or row[0].data != frame.data:
            raise Unknown(f"frame {frame.number} at {vantage} is not the one that the lab has carried there")
        ret[row.pop(0).number] = frame.number
    for row in rows.values():
        if row:
            raise Unknown(f"{len(row)} frames are not in the capture at {vantage}")
    return ret


def bth(data):
    """(opcode, PSN, destination QPN), or three None."""
    frame = capture.Frame(0, "", 0, data, [])
    if not frame.is_roce():
        return None, None, None
    version, packet = frame.ip()
    header = packet[28:] if version == 4 else packet[48:]
    return header[0], int.from_bytes(header[9:12], "big"), int.from_bytes(header[5:8], "big")


def write_between(path, frames):
    """Of all that has left the lab, in its order: a file with one interface."""
    with open(path, "wb") as out:
        out.write(SECTION + INTERFACE)
        for f in frames:
            padded = f.data + bytes(-len(f.data) % 4)
            length = 32 + len(padded)
            out.write(struct.pack("<7I", PACKET, length, 0, f.ticks >> 32, f.ticks & 0xffffffff, len(f.data), len(f.data)))
            out.write(padded + struct.pack("<I", length))


def of(seen, name):
    """The truth of the files in @seen; writes NAME-between.pcapng."""
    lab = capture.read(seen / "lab.pcapng")
    carried = fates(lab, events_of(seen / "lab.ndjson"))
    numbers = {}
    for port, vantage in PORTS.items():
        numbers[vantage] = aligned(capture.read(seen / f"{vantage}.pcapng"), [f for f in lab if f.interface == port],
                                   vantage)
    between = [f for f in lab if f.interface in PORTS and f.direction == capture.INBOUND]
    numbers["between"] = {f.number: i for i, f in enumerate(between, 1) if f.is_roce()}
    write_between(f"{name}-between.pcapng", between)
    faults = []
    for fate in carried:
        if not fate.kinds:
            continue
        opcode, psn, qpn = bth(fate.sent.data)
        if opcode is None:
            continue  # the kernel's own, as a question of neighbour discovery: no packet of RoCEv2 is touched by it
        all_of_it = [fate.sent, *fate.came]
        faults.append({"kinds": fate.kinds, "from": PORTS[fate.sent.interface], "opcode": opcode, "psn": psn, "dest_qpn": qpn,
                       "delay_us": fate.delays,
                       "frames": {vantage: [where[f.number] for f in all_of_it if f.number in where]
                                  for vantage, where in numbers.items()}})
        if not any(faults[-1]["frames"].values()):
            raise Unknown("a frame that a fault has met is in none of the captures")
    return {"roce_frames": {vantage: len(where) for vantage, where in numbers.items()}, "faults": faults}


def text_of(truth):
    """JSON with a line for each fault."""
    faults = ",\n".join("    " + json.dumps(fault) for fault in truth["faults"])
    rest = {key: value for key, value in truth.items() if key != "faults"}
    head = json.dumps(rest, indent=2)[:-2]
    return f'{head},\n  "faults": [\n{faults}\n  ]\n}}\n' if faults else f'{head},\n  "faults": []\n}}\n'
