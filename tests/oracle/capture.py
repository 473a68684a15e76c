# SPDX-License-Identifier: MIT
"""Reads pcapng files without help from the code under test.

Knows little-endian sections, Ethernet interfaces and enhanced packet blocks; skips other blocks.
"""
import itertools
import struct
import subprocess
import sys
import tempfile
from dataclasses import dataclass

SECTION, INTERFACE, PACKET = 0x0A0D0D0A, 1, 6
OPT_COMMENT, IF_NAME, EPB_FLAGS = 1, 2, 2
INBOUND, OUTBOUND = 1, 2


@dataclass
class Frame:
    number: int  # from 1, as Wireshark counts
    interface: str
    direction: int
    data: bytes
    comments: list
    ticks: int = 0  # when, in the units of its interface

    def damaged(self):
        """True if a fault flipped bits or cut the frame on purpose, or it was made so: the comments say so."""
        words = ("CORRUPT", "TRUNCATE", "WRONG ICRC")
        return any(word in c.upper() for c in self.comments for word in words)

    def vlan(self):
        """Number and priority of the frame's VLAN; None if it has no tag."""
        tpid, tci = struct.unpack_from(">HH", self.data, 12) if len(self.data) >= 18 else (0, 0)
        return (tci & 0xFFF, tci >> 13) if tpid == 0x8100 else None

    def ip(self):
        """IP version and the bytes from the IP header to its end; (None, b"") if it is not IP."""
        at = 12 if self.vlan() is None else 16
        ethertype = int.from_bytes(self.data[at:at + 2], "big")
        packet = self.data[at + 2:]
        if ethertype == 0x0800:
            return 4, packet[:int.from_bytes(packet[2:4], "big")]
        if ethertype == 0x86DD:
            return 6, packet[:40 + int.from_bytes(packet[4:6], "big")]
        return None, b""

    def is_roce(self):
        version, packet = self.ip()
        if version is None:
            return False
        protocol, udp = (packet[9], packet[20:]) if version == 4 else (packet[6], packet[40:])
        return protocol == 17 and udp[2:4] == struct.pack(">H", 4791)


def die(message):
    """The end when nothing could be checked."""
    print(f"{sys.argv[0]}: {message}", file=sys.stderr)
    sys.exit(2)


def tshark(path, fields, lnet=False, script=None):
    """One dictionary of @fields per frame; a field that occurs twice has its values separated by commas.

    @lnet: with tshark's dissector of messages of o2iblnd; @script: with this one in Lua.
    """
    # It guesses what a payload is: one that begins with 81 00 is no VLAN tag.
    command = ["tshark", "-n", "-r", path, "--disable-protocol", "rpcordma", "--disable-heuristic", "eth_over_ib", "-T", "fields"]
    if not lnet:  # it takes a message of several packets for malformed, and so what is no Lustre in one
        command += ["--disable-heuristic", "lnet_ib", "--disable-heuristic", "lnet_ib_cm_private"]
    if script:
        command += ["-X", f"lua_script:{script}"]
    for field in fields:
        command += ["-e", field]
    try:
        run = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        die("needs tshark")
    if run.returncode != 0:
        die(f"tshark failed on {path}: {run.stderr.strip()}")
    return [dict(zip(fields, line.split("\t"))) for line in run.stdout.splitlines()]


def tshark_each(paths, fields):
    """What tshark() has of each file.  One tshark reads them behind one another, since it takes longer to start than to read."""
    with tempfile.NamedTemporaryFile(suffix=".pcapng") as together:
        for path in paths:
            with open(path, "rb") as f:
                together.write(f.read())
        together.flush()
        rows = tshark(together.name, fields)
    counts = [len(read(path)) for path in paths]
    if sum(counts) != len(rows):
        die(f"{sum(counts)} frames in {', '.join(paths)}, but tshark sees {len(rows)}")
    ends = list(itertools.accumulate(counts))
    return [rows[end - count:end] for count, end in zip(counts, ends)]


def _options(raw):
    at = 0
    while at + 4 <= len(raw):
        code, length = struct.unpack_from("<HH", raw, at)
        if code == 0:
            return
        yield code, raw[at + 4:at + 4 + length]
        at += 4 + (length + 3) // 4 * 4


def read(path):
    """The frames of a file, in its order."""
    with open(path, "rb") as f:
        raw = f.read()
    interfaces, frames, at = [], [], 0
    while at < len(raw):
        kind, length = struct.unpack_from("<II", raw, at)
        body = raw[at + 8:at + length - 4]
        if length % 4 or length < 12 or raw[at + length - 4:at + length] != raw[at + 4:at + 8]:
            die(f"{path}: broken block at byte {at}")
        if kind == SECTION and body[:4] != b"\x4d\x3c\x2b\x1a":
            die(f"{path}: not a little-endian pcapng file")
        if kind == INTERFACE:
            names = [v.decode() for c, v in _options(body[8:]) if c == IF_NAME]
            interfaces.append(names[0] if names else "")
        if kind == PACKET:
            interface, high, low, captured, _ = struct.unpack_from("<5I", body)
            options = list(_options(body[20 + (captured + 3) // 4 * 4:]))
            flags = [struct.unpack("<I", v)[0] for c, v in options if c == EPB_FLAGS]
            frames.append(Frame(number=len(frames) + 1, interface=interfaces[interface],
                                direction=flags[0] & 3 if flags else 0,
                                data=body[20:20 + captured], ticks=high << 32 | low,
                                comments=[v.decode() for c, v in options if c == OPT_COMMENT]))
        at += length
    return frames
