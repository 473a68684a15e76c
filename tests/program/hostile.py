#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A hostile program on a host of a lab: it speaks to the socket itself, and says anything.

usage: rdmalab exec HOST -- hostile.py SEED

Some connections begin as they should, so that the rest is heard.  Calls have random bytes, or are sound but
for a few; posts and counters in the shared page are random; descriptors are of other files.  It ends with
status 0 when all is said; what counts is that the lab is still there, for others.
"""
import ctypes
import mmap
import os
import random
import socket
import struct
import sys
import time

import commands
from commands import HELLO, MAGIC, VERSION

CALL_BYTES, AT_MAKER = 152, 128
MAKERS = 13
OPS = 27
AT_POSTED, AT_TAKEN, AT_POSTS = 64, 128, 192 + 32768 * 8
CONNECTIONS, ACTIONS = 24, 120


def connect():
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.settimeout(5)
    s.connect(os.environ["RDMALAB_SOCKET"])
    return s


def greet(r, s):
    """Says hello, mostly as it should be.  The descriptors of the answer, or none."""
    host = os.environ["RDMALAB_HOST"].encode()
    hello = HELLO.pack(MAGIC, VERSION, host)
    memory = os.open("/proc/self/mem", os.O_RDWR)
    kind = r.randrange(12)
    if kind == 0:
        hello = r.randbytes(len(hello))
    elif kind == 1:
        hello = r.randbytes(r.randrange(1, 200))
    elif kind == 2:
        os.close(memory)
        memory = os.open("/dev/null", os.O_RDWR)
    fds = [] if kind == 3 else [memory] * r.choice([1, 1, 1, 3])
    socket.send_fds(s, [hello], fds)
    os.close(memory)
    try:
        message, fds, _, _ = socket.recv_fds(s, 4096, 8)
    except OSError:
        return []
    if len(message) < 8 or struct.unpack_from("<i", message, 4)[0] != 0:
        return []
    return fds


(QUERY_PORT, QUERY_GID, QUERY_PKEY, ALLOC_PD, REG_MR, REREG_MR, ALLOC_MW, CREATE_CHANNEL, CREATE_CQ, RESIZE_CQ, ARM_CQ, CREATE_SRQ,
 MODIFY_SRQ, QUERY_SRQ, CREATE_QP, MODIFY_QP, QUERY_QP, CREATE_AH, ATTACH_MCAST, DETACH_MCAST, DESTROY, WAIT, NUDGE,
 NEW_RING, CM_OPEN, CM_CLOSE, CM_WRITE) = range(OPS)

# A command of rdma_cm is read in the memory of this process, and its response is written there.
COMMANDS, COMMAND_BYTES = 23, 400
USUAL = [*commands.WITH_ID, commands.LEAVE_MCAST, commands.MIGRATE_ID, *[commands.CREATE_ID] * 4, *[commands.GET_EVENT] * 6,
         *[commands.BIND, commands.RESOLVE_ADDR, commands.RESOLVE_ROUTE, commands.CONNECT, commands.LISTEN, commands.ACCEPT] * 2]
command = ctypes.create_string_buffer(COMMAND_BYTES)

# Responses have a block of their own, which no other value of the lowest three bytes of the address leaves: the lab
# writes where it is told, also into this interpreter.
BLOCK = 1 << 24
blocks = mmap.mmap(-1, 2 * BLOCK)
response = (ctypes.addressof(ctypes.c_char.from_buffer(blocks)) + BLOCK - 1) // BLOCK * BLOCK + BLOCK // 2

# A page that can only be read, and nothing behind it.
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
read_only = libc.mmap(None, ctypes.c_size_t(2 * mmap.PAGESIZE), mmap.PROT_READ, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, ctypes.c_long(0))
libc.munmap(ctypes.c_void_p(read_only + mmap.PAGESIZE), ctypes.c_size_t(mmap.PAGESIZE))


def sound_command(r):
    """Fills the buffer with a command of a program that connects to its own host, with a few wrong bytes at times."""
    at = r.choice([response] * 12 + [8, 1 << 63, read_only, read_only + mmap.PAGESIZE - 2])
    kind = r.choice(USUAL)
    if kind == commands.CREATE_ID:
        kind, body = commands.create(r.choice([commands.TCP] * 3 + [commands.UDP, commands.IB]), r.choice([0, 1, 2]), at)
    elif kind == commands.GET_EVENT:
        body = struct.pack("<Q", at)
    elif kind in (commands.LEAVE_MCAST, commands.MIGRATE_ID):
        body = struct.pack("<QII", at, r.randrange(6), 0)
    else:
        kind, body = commands.of(kind, r.randrange(6), at)
    body = bytearray(body)
    for _ in range(r.choice([0, 0, 0, 1, 4])):
        body[r.randrange(len(body))] = r.choice([0, 1, 0x7f, 0xff, r.randrange(256)])
    command.raw = struct.pack("<IHH", kind, len(body), COMMAND_BYTES) + bytes(body).ljust(COMMAND_BYTES - 8, b"\0")
    return ctypes.addressof(command), 8 + len(body)


def write_command(r):
    """Fills the buffer with a command, which could succeed if its numbers fit.  Its address and length."""
    if r.random() < 0.7:
        return sound_command(r)
    body = bytearray(r.choice([bytes(COMMAND_BYTES - 8), r.randbytes(COMMAND_BYTES - 8)]))
    kind, address = r.randrange(COMMANDS + 1), struct.pack("<HH4B", 2, r.randrange(65536), 10, 0, 0, r.randrange(1, 4))
    if kind in (0, 1, 5, 11, 12, 16, 17, 18, 19, 22):  # the others have no response
        struct.pack_into("<QQ", body, 0, response, response)
    for at in r.sample((0, 8, 16, 20, 264, 272, 280), 2):
        struct.pack_into("<I", body, at, r.choice([0, 1, 2, 3, 0x106, 0x111, r.getrandbits(32)]))
    for at in (8, 16, 144):
        if r.random() < 0.7:
            body[at:at + 8] = address
    if kind in (20, 21):
        struct.pack_into("<II", body, 0, r.randrange(4), 16)
    command.raw = (struct.pack("<IHH", kind, r.choice([len(body), r.randrange(420)]), r.choice([COMMAND_BYTES, r.randrange(400)])) + bytes(body))
    return ctypes.addressof(command), r.choice([COMMAND_BYTES, COMMAND_BYTES, r.randrange(420)])


def sound_call(r, op, made):
    """The arguments of a call that could succeed.  @made: handles by the call that made them."""
    def one(of):
        return r.choice(made.get(of, [0]))
    size = r.choice([0, 1, 4, 16, 1000, 1 << 31])
    return {
        QUERY_PORT: struct.pack("<I", r.randrange(3)), QUERY_GID: struct.pack("<I", r.randrange(4)),
        REG_MR: struct.pack("<QQQQI", one(ALLOC_PD), r.choice([0, 0x1000, 1 << 47, (1 << 64) - 4096]), r.choice([0, 1, 8192, 1 << 40]),
                            r.choice([0, 0x1000]), r.randrange(64)),
        REREG_MR: struct.pack("<QQQQII", one(REG_MR), one(ALLOC_PD), 0x5000, 4096, r.randrange(8), r.randrange(64)),
        ALLOC_MW: struct.pack("<QI", one(ALLOC_PD), r.randrange(4)),
        CREATE_CQ: struct.pack("<QI", one(CREATE_CHANNEL), size), RESIZE_CQ: struct.pack("<QI", one(CREATE_CQ), size),
        NEW_RING: struct.pack("<QI", one(CREATE_CQ), r.choice([size, 100, (1 << 32) - 1])),
        ARM_CQ: struct.pack("<QI", one(CREATE_CQ), 0), CREATE_SRQ: struct.pack("<QIII", one(ALLOC_PD), size, r.randrange(40), 0),
        MODIFY_SRQ: struct.pack("<QIII", one(CREATE_SRQ), size, size, r.randrange(4)), QUERY_SRQ: struct.pack("<Q", one(CREATE_SRQ)),
        CREATE_QP: struct.pack("<QQQQIIIIIIII", one(ALLOC_PD), one(CREATE_CQ), one(CREATE_CQ), r.choice([0, one(CREATE_SRQ)]), size, size,
                               r.randrange(40), r.randrange(40), r.choice([0, 64, 1 << 20]), r.randrange(5), 1, 0),
        MODIFY_QP: struct.pack("<QII", one(CREATE_QP), r.choice([1, 0x39, 0x1000bf, r.getrandbits(21)]), 0) +
        struct.pack("<7I", r.randrange(8), 0, r.randrange(7), 7, 0, 1, 0),
        QUERY_QP: struct.pack("<Q", one(CREATE_QP)), CREATE_AH: struct.pack("<Q", one(ALLOC_PD)) + r.randbytes(28),
        ATTACH_MCAST: struct.pack("<Q", one(CREATE_QP)) + b"\xff\x0e" + bytes(13) + b"\x05",
        DETACH_MCAST: struct.pack("<Q", one(CREATE_QP)) + b"\xff\x0e" + bytes(13) + b"\x05",
        CM_CLOSE: struct.pack("<Q", one(CM_OPEN) if r.random() < 0.2 else 0),
        CM_WRITE: struct.pack("<QQQQ", one(CM_OPEN), one(CM_OPEN), *write_command(r)),
        DESTROY: struct.pack("<QI", *r.choice([(one(ALLOC_PD), 1), (one(REG_MR), 2), (one(ALLOC_MW), 3), (one(CREATE_CHANNEL), 4),
                                               (one(CREATE_CQ), 5), (one(CREATE_SRQ), 6), (one(CREATE_QP), 7), (one(CREATE_AH), 8),
                                               (r.getrandbits(64), r.randrange(12))])),
    }.get(op, b"")


def mapped():
    """Addresses in this process, where there may be no code."""
    with open("/proc/self/maps", encoding="ascii", errors="replace") as maps:
        return [int(line.split("-")[0], 16) + 1 for line in maps]


def call_bytes(r, serial, made):
    op = CM_WRITE if CM_OPEN in made and r.random() < 0.5 else r.randrange(OPS) if r.random() < 0.9 else r.getrandbits(32)
    body = bytearray(sound_call(r, op, made).ljust(CALL_BYTES - 8, b"\0"))
    struct.pack_into("<IIQQ", body, AT_MAKER - 8, r.choice([0, r.randrange(MAKERS + 1), r.getrandbits(32)]), 0,
                     r.choice([0, 1, (1 << 64) - 1, r.choice(mapped()), r.getrandbits(47)]), r.getrandbits(64))
    for _ in range(r.choice([0, 0, 0, 1, 8])):
        struct.pack_into("<I", body, r.randrange(0, len(body), 4), r.choice([0, 1, r.getrandbits(32), r.randrange(1000), (1 << 32) - 1]))
    return op, struct.pack("<II", op, serial) + bytes(body)


def spoil(r, fd):
    """Writes anything into a ring; a pipe has no size."""
    try:
        size = os.fstat(fd).st_size
        if size:
            with mmap.mmap(fd, size) as ring:
                ring[:min(size, 4096)] = r.randbytes(min(size, 4096))
    except (OSError, ValueError):
        pass
    os.close(fd)


def misbehave(r, s, fds):
    page = mmap.mmap(fds[0], os.fstat(fds[0]).st_size)
    made = {}
    is_wild = r.random() < 0.3
    for serial in range(ACTIONS):
        kind = r.randrange(10)
        if kind < 7:
            op, call = call_bytes(r, serial, made)
            s.send(call if not is_wild or r.random() < 0.97 else r.randbytes(r.randrange(1, 500)))
            if op == NUDGE:  # has no answer
                continue
            answer, more, _, _ = socket.recv_fds(s, 4096, 8)
            if not answer:
                return
            error = struct.unpack_from("<i", answer, 4)[0]
            heard[error] = heard.get(error, 0) + 1
            if error == 0:
                made.setdefault(op, []).append(struct.unpack_from("<Q", answer, 8)[0])
            for fd in more:
                spoil(r, fd)
        elif kind == 7:
            handles = [h for of in made.values() for h in of] or [0]
            posts = r.randrange(1, 5)
            at = struct.unpack_from("<Q", page, AT_POSTED)[0]
            for _ in range(posts):
                n = r.choice([144, 160, 176, 656] + [r.randrange(0, 1 << 16), r.getrandbits(32)] * is_wild)
                head = struct.pack("<IHHQQII", n, r.randrange(6), r.randrange(2), r.choice(handles + [r.getrandbits(64)]), serial,
                                   r.choice([0, 1, 33, 1 << 31]) if is_wild else (n - 144) // 16,
                                   r.choice([0, 1, 256, 5000, 1 << 31]) if is_wild else 0)
                head += r.randbytes(112)
                room = min(len(head), (1 << 20) - at % (1 << 20))
                page[AT_POSTS + at % (1 << 20):AT_POSTS + at % (1 << 20) + room] = head[:room]
                at = (at + n) & ((1 << 64) - 1)
            struct.pack_into("<Q", page, AT_POSTED, at)
            os.write(fds[1], struct.pack("<Q", 1))
        elif kind == 8 and is_wild:
            struct.pack_into("<Q", page, r.choice([0, 4, AT_POSTED, AT_TAKEN, AT_POSTS]), r.getrandbits(64))
        else:
            time.sleep(0.001)


heard = {}
stay = []


def main():
    r = random.Random(int(sys.argv[1]))
    for i in range(CONNECTIONS):
        with connect() as s:
            if i % 4 == 0:  # some stay, with all that they have
                stay.append(s.dup())
            fds = greet(r, s)
            try:
                if len(fds) == 3:
                    misbehave(r, s, fds)
            except OSError:
                pass  # it was cut off
            for fd in fds:
                os.close(fd)
    print("all is said:", *sorted(heard.items()))


if __name__ == "__main__":
    main()
