#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""usage: known_faults.py

Is what tests/oracle/captures says true?  There are captures of two rxe devices, each from three places, and for
each a list of the frames that something happened to between the devices (tests/interop/faulty_captures made them, with the
lab in between).  This holds the captures of both devices against each other, without the lab: whatever one has
sent the other has received, whole, once and in order, but for the frames on the list, which have had just that.
Whoever looks for faults in a capture can be judged by it.

The last line is "N passed, N failed".
"""
import gzip
import json
import pathlib
import shutil
import sys
import tempfile
import zlib

import capture

CAPTURES = pathlib.Path(__file__).resolve().parent / "captures"
VANTAGES = ("a", "b", "between")
BTH_AT = {4: 28, 6: 48}  # behind the headers of IP and UDP


def frames_of(path):
    """{number: frame} of those that are RoCEv2."""
    with tempfile.NamedTemporaryFile() as plain:
        with gzip.open(path) as packed:
            shutil.copyfileobj(packed, plain)
        plain.flush()
        return {f.number: f for f in capture.read(plain.name) if f.is_roce()}


def is_whole(frame):
    """Is the ICRC right?"""
    version, packet = frame.ip()
    masked = bytearray(packet[:-4])
    if version == 4:
        masked[1] = masked[8] = 0xFF  # type of service, time to live
        masked[10:12] = b"\xff\xff"  # checksum
    else:
        masked[0] |= 0x0F  # traffic class, flow label
        masked[1:4] = b"\xff\xff\xff"
        masked[7] = 0xFF  # hop limit
    bth = BTH_AT[version]
    masked[bth - 2:bth] = b"\xff\xff"  # checksum of UDP
    masked[bth + 4] = 0xFF  # FECN, BECN, reserved
    return zlib.crc32(b"\xff" * 8 + masked).to_bytes(4, "little") == packet[-4:]


def other(side):
    return "b" if side == "a" else "a"


def sent_by(seen, vantage, mac):
    """The numbers, in their order, of what the station @mac has sent."""
    return [n for n, f in seen[vantage].items() if f.data[6:12] == mac]


def wrong_fault(seen, fault):
    """What is wrong with an entry of the list, or ""."""
    at, kinds = fault["frames"], set(fault["kinds"])
    if len(at[fault["from"]]) != 1:
        return "it was not sent once"
    sent = seen[fault["from"]][at[fault["from"]][0]]
    version, packet = sent.ip()
    bth = packet[BTH_AT[version]:]
    if (bth[0], int.from_bytes(bth[9:12], "big"), int.from_bytes(bth[5:8], "big")) != (
            fault["opcode"], fault["psn"], fault["dest_qpn"]):
        return "the frame has another BTH"
    copies = 0 if "drop" in kinds else 2 ** fault["kinds"].count("duplicate")
    if not is_whole(sent):
        return "it was damaged when it was sent"
    for vantage in other(fault["from"]), "between":
        arrived = [seen[vantage][n] for n in at[vantage]]
        if len(arrived) != copies:
            return f"it is {len(arrived)} times at {vantage}, not {copies}"
        if any(is_whole(f) == ("corrupt" in kinds) for f in arrived):
            return f"{'corrupt' in kinds and 'whole' or 'damaged'} at {vantage}"
        if "corrupt" not in kinds and any(f.data != sent.data for f in arrived):
            return f"another frame at {vantage}"
    return ""


def wrong_rest(seen, truth, side):
    """Is all that @side has sent and that is not on the list at the other side, whole and in order?"""
    mac = bytes.fromhex(truth["hosts"][side]["mac"].replace(":", ""))
    hit = {vantage: {n for f in truth["faults"] for n in f["frames"][vantage]} for vantage in VANTAGES}
    rows = {vantage: [seen[vantage][n].data for n in sent_by(seen, vantage, mac) if n not in hit[vantage]]
            for vantage in VANTAGES}
    if not rows[side]:
        return f"{side} has sent nothing"
    for vantage in other(side), "between":
        if rows[vantage] != rows[side]:
            return f"what {side} has sent is not what came to {vantage}: {len(rows[side])} and {len(rows[vantage])} frames"
    return ""


def main():
    passed = failed = 0
    for path in sorted(CAPTURES.glob("*.json")):
        truth = json.loads(path.read_text())
        seen = {vantage: frames_of(CAPTURES / f"{path.stem}-{vantage}.pcapng.gz") for vantage in VANTAGES}
        checks = [(f"fault {i}", wrong_fault(seen, fault)) for i, fault in enumerate(truth["faults"], 1)]
        checks += [(f"the rest of {side}", wrong_rest(seen, truth, side)) for side in "ab"]
        counts = {vantage: len(frames) for vantage, frames in seen.items()}
        checks.append(("the number of frames", "" if counts == truth["roce_frames"] else f"{counts}"))
        for what, wrong in checks:
            passed, failed = passed + (not wrong), failed + bool(wrong)
            if wrong:
                print(f"FAILED {path.stem}: {what}: {wrong}")
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0 or not passed)


if __name__ == "__main__":
    sys.exit(main())
