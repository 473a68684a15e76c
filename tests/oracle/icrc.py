#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""icrc.py FILE.pcapng...: recomputes the ICRC of every RoCEv2 frame.

All frames are judged by zlib and the masks written out here, IPv4 frames by Scapy's RoCE layer, too, which does not
know IPv6.  Scapy must find the same VLAN and priority in a frame with a tag, and its packet behind it.  Frames that a fault damaged on purpose are counted apart.  Exit status: 0 if
all agree and there is at least one, 1 if not, 2 if nothing could be checked.
"""
import logging
import sys
import zlib

import capture

RC_FLUSH = 0x1C

logging.getLogger("scapy").setLevel(logging.ERROR)
try:
    from scapy.contrib.roce import BTH
    from scapy.layers.inet import IP
    from scapy.layers.l2 import Dot1Q, Ether
except ImportError:
    capture.die("needs Scapy (Debian: python3-scapy)")


def icrc_of_scapy(packet):
    return IP(packet)[BTH].compute_icrc(b"")


def tag_of_scapy(frame):
    tag = Ether(frame.data)[Dot1Q]
    return tag.vlan, tag.prio


def icrc_ipv4(packet):
    masked = bytearray(packet[:-4])
    masked[1] = 0xFF  # type of service
    masked[8] = 0xFF  # time to live
    masked[10:12] = b"\xff\xff"  # header checksum
    masked[26:28] = b"\xff\xff"  # UDP checksum
    masked[32] = 0xFF  # FECN, BECN, reserved
    return zlib.crc32(b"\xff" * 8 + masked).to_bytes(4, "little")


def icrc_ipv6(packet):
    masked = bytearray(packet[:-4])
    masked[0] |= 0x0F  # traffic class, flow label
    masked[1:4] = b"\xff\xff\xff"
    masked[7] = 0xFF  # hop limit
    masked[46:48] = b"\xff\xff"  # UDP checksum
    masked[52] = 0xFF  # FECN, BECN, reserved
    return zlib.crc32(b"\xff" * 8 + masked).to_bytes(4, "little")


ICRC = {4: icrc_ipv4, 6: icrc_ipv6}
BTH_AT = {4: 28, 6: 48}


def icrc_of_rxe(packet, version):
    """The ICRC of a FLUSH of rxe of Linux 7.3, which covers the bytes from the BTH on a second time."""
    once = int.from_bytes(ICRC[version](packet), "little")
    return zlib.crc32(packet[BTH_AT[version]:-4], once).to_bytes(4, "little")


class FirstOfEachKind:
    """Selects frames: the first of each opcode and length that it is asked for, since Scapy takes 3 ms for one."""

    def __init__(self):
        self.seen = set()

    def __call__(self, packet):
        kind = packet[28], len(packet)
        new = kind not in self.seen
        self.seen.add(kind)
        return new


def check(frames, with_scapy=lambda packet: True):
    """How many of @frames were judged, how many a fault damaged on purpose, and the complaints.  @with_scapy: which of
    those of IPv4 Scapy judges, too."""
    n_frames = n_damaged = 0
    complaints = []
    for frame in frames:
        if frame.damaged():
            n_damaged += 1
            continue
        if not frame.is_roce():
            continue
        version, packet = frame.ip()
        if packet[BTH_AT[version]] == RC_FLUSH and packet[-4:] == icrc_of_rxe(packet, version):
            n_frames += 1
            continue
        wanted = {ICRC[version](packet)}
        if version == 4 and with_scapy(packet):
            wanted.add(icrc_of_scapy(packet if frame.vlan() is None else bytes(Ether(frame.data)[IP])))
        if frame.vlan() is not None and tag_of_scapy(frame) != frame.vlan():
            complaints.append(f"frame {frame.number}: VLAN and priority {frame.vlan()}, not {tag_of_scapy(frame)}")
        n_frames += 1
        if wanted != {packet[-4:]}:
            complaints.append(f"frame {frame.number}: ICRC {packet[-4:].hex()}, not {', '.join(w.hex() for w in wanted)}")
    return n_frames, n_damaged, complaints


def main():
    n_frames = n_wrong = 0
    if len(sys.argv) < 2:
        capture.die("usage: icrc.py FILE.pcapng...")
    for path in sys.argv[1:]:
        n, n_damaged, complaints = check(capture.read(path))
        n_frames += n
        n_wrong += len(complaints)
        for complaint in complaints:
            print(f"{path}: {complaint}")
        if n_damaged:
            print(f"{path}: {n_damaged} frames damaged by a fault were not checked")
    print(f"{n_frames} frames, {n_frames - n_wrong} ok")
    sys.exit(0 if n_frames and not n_wrong else 1)


if __name__ == "__main__":
    main()
