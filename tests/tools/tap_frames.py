# SPDX-License-Identifier: MIT
"""Frames as somebody at a tap device sends them to a lab, valid ones and others; for check_tap.py."""
import socket
import struct
import zlib

HOST = "10.0.0.1"  # of the lab's h1; the kernel is KERNEL
KERNEL = "10.0.0.77"
KERNEL_MAC = bytes.fromhex("020000000077")
HOST_MACS = [bytes.fromhex("020000000001"), bytes.fromhex("020000000002")]


def checksum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    total = (total & 0xffff) + (total >> 16)
    return ~((total & 0xffff) + (total >> 16)) & 0xffff


def ipv4(protocol, payload, dst=HOST, src=KERNEL):
    head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), 1, 0x4000, 64, protocol, 0,
                       socket.inet_aton(src), socket.inet_aton(dst))
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + payload


def icrc(packet):
    """Of an IPv4 packet up to its ICRC: what may change on the way counts as ones."""
    masked = bytearray(packet)
    for at in (1, 8, 10, 11, 26, 27, 32):  # TOS, TTL, checksums, and the byte of FECN and BECN
        masked[at] = 0xff
    return struct.pack("<I", zlib.crc32(b"\xff" * 8 + masked))


def eth(ethertype, payload, dst=HOST_MACS[0]):
    return dst + KERNEL_MAC + struct.pack("!H", ethertype) + payload


def roce(opcode, rest, qpn=2, psn=0):
    bth = struct.pack("!BBHII", opcode, 0, 0xffff, qpn, 0x80000000 | psn)
    udp = struct.pack("!HHHH", 0xc000, 4791, 8 + len(bth) + len(rest) + 4, 0)
    packet = ipv4(17, udp + bth + rest + b"\0\0\0\0")
    return eth(0x0800, packet[:-4] + icrc(packet[:-4]))


def acknowledgement(qpn, psn):
    """Of everything up to @psn, without a limit of what may be sent."""
    return roce(0x11, struct.pack("!I", 0x1f000001), qpn, psn)


def psn_of(frame):
    """The PSN of a RoCEv2 frame of IPv4; None if it is something else."""
    if frame[12:14] != b"\x08\0" or frame[23] != 17 or frame[36:38] != struct.pack("!H", 4791):
        return None
    return int.from_bytes(frame[51:54], "big")


def arp(operation, target):
    return eth(0x0806, struct.pack("!HHBBH6s4s6s4s", 1, 0x0800, 6, 4, operation, KERNEL_MAC,
                                   socket.inet_aton(KERNEL), bytes(6), socket.inet_aton(target)),
               b"\xff" * 6)


def echo(payload):
    message = struct.pack("!BBHHH", 8, 0, 0, 7, 7) + payload
    return message[:2] + struct.pack("!H", checksum(message)) + message[4:]


def icmpv6(kind, rest):
    """Its checksum is wrong; most mutations would make it so anyway."""
    return eth(0x86dd, struct.pack("!IHBB", 6 << 28, 4 + len(rest), 58, 255) + b"\xfe\x80" +
               bytes(13) + b"\x77" + b"\xff\x02" + bytes(13) + b"\x01" + bytes([kind, 0, 1, 1]) +
               rest, bytes.fromhex("333300000001"))


VALID = [roce(opcode, bytes(size)) for opcode in (*range(0x18), 0x20, 0x24, 0x2a, 0x64, 0x81)
         for size in (0, 4, 16, 28, 256)]
VALID += [arp(1, HOST), arp(2, HOST), eth(0x0800, ipv4(1, echo(bytes(56)))),
          eth(0x0800, ipv4(6, bytes(20))), eth(0x0800, ipv4(17, bytes(8))),
          icmpv6(135, bytes(28)), icmpv6(136, bytes(28)), icmpv6(128, bytes(64))]


def hostile(rng):
    """A frame of chance, or a valid one with some damage, of which the ICRC may know."""
    if rng.randrange(8) == 0:
        return rng.randbytes(rng.randrange(14, 1500))
    frame = bytearray(rng.choice(VALID))
    if rng.randrange(8) == 0:
        frame[:6] = rng.choice(HOST_MACS)
    for _ in range(rng.randrange(4)):
        frame[rng.randrange(12, len(frame))] = rng.choice((0, 1, 0x7f, 0xff, rng.randrange(256)))
    how = rng.randrange(6)
    if how == 0:
        del frame[rng.randrange(14, len(frame) + 1):]
    elif how == 1:
        frame += rng.randbytes(rng.randrange(1, 8000 if rng.randrange(20) == 0 else 64))
    elif how == 2:
        frame[12:12] = struct.pack("!HH", 0x8100, rng.randrange(4096))
    elif how == 3 and len(frame) > 58:
        frame[-4:] = icrc(bytes(frame[14:-4]))
    return bytes(frame)
