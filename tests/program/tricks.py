#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A program on a host of a lab that plays tricks by descriptors, mappings and output.

usage: rdmalab exec HOST -- tricks.py NAME [-]

    block    makes the eventfd by which it wakes the lab block, and takes what is written to it
    linger   sends the last descriptor of a TCP socket that takes a thousand seconds to close
    mapped   maps more files than anybody looks at, and makes an object from code behind them
    draws    prints what a terminal or a log would obey, and lines without end

With "-" behind the name it says that it is done, and waits to be ended.
"""
import contextlib
import ctypes
import fcntl
import os
import re
import socket
import struct
import sys
import time

from crowd import Connection
from hostile import ALLOC_PD, AT_MAKER, CALL_BYTES, connect

BY_ALLOC_PD = 1
MAPPINGS = 9000


def block():
    c = Connection(os.environ["RDMALAB_HOST"])
    fcntl.fcntl(c.fds[1], fcntl.F_SETFL, fcntl.fcntl(c.fds[1], fcntl.F_GETFL) & ~os.O_NONBLOCK)
    os.write(c.fds[1], struct.pack("<Q", (1 << 64) - 2))
    for _ in range(20):
        assert c.call(ALLOC_PD)[0] == 0
    os.read(c.fds[1], 8)
    for _ in range(20):
        assert c.call(ALLOC_PD)[0] == 0
        time.sleep(0.002)


def slow_socket(listener):
    """A TCP socket that is not closed before its peer has read, for a thousand seconds."""
    s = socket.create_connection(listener.getsockname())
    kept.append(listener.accept()[0])
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 1000))
    s.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        while True:
            s.send(bytes(1 << 16))
    return s


kept = []


def give_away(to, message, slow):
    """Sends the sockets; if that goes well, the receiver has the last descriptors."""
    try:
        socket.send_fds(to, [message], [s.fileno() for s in slow])
    except OSError:  # it has been cut off already
        for s in slow:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 0, 0))
    for s in slow:
        s.close()


def linger():
    listener = socket.create_server(("127.0.0.1", 0))
    call = struct.pack("<II", ALLOC_PD, 1).ljust(CALL_BYTES, b"\0")
    for n in (1, 6):  # more than the lab takes
        c = Connection(os.environ["RDMALAB_HOST"])
        give_away(c.socket, call, [slow_socket(listener) for _ in range(n)])
        assert struct.unpack_from("<i", c.socket.recv(4096), 4)[0] == 0
    slow = slow_socket(listener)
    s = connect()
    s.send(b"no hello")
    with contextlib.suppress(OSError):
        s.send(b"")  # not the end
    give_away(s, call, [slow])
    assert Connection(os.environ["RDMALAB_HOST"]).call(ALLOC_PD)[0] == 0


def mapped():
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
    with open("/bin/true", "rb") as file:
        for i in range(MAPPINGS):
            libc.mmap(None, 4096, 5 if i % 2 else 1, 2, file.fileno(), 0)
    with open("/proc/self/maps", encoding="utf-8") as maps:
        last = [line for line in maps if re.match(r"\S+ r-xp .* /", line)][-1]
    call = bytearray(struct.pack("<II", ALLOC_PD, 1).ljust(CALL_BYTES, b"\0"))
    struct.pack_into("<IIQ", call, AT_MAKER, BY_ALLOC_PD, 0, int(last.split("-")[0], 16) + 1)
    c = Connection(os.environ["RDMALAB_HOST"])
    c.socket.send(call)
    assert struct.unpack_from("<i", c.socket.recv(4096), 4)[0] == 0
    kept.append(c)


def draws():
    os.write(1, b"\tred \xc2\x9b31m \x1b[31m\x9b31m, from the right \xe2\x80\xae, ##[error]x, \xff, gr\xc3\xbcn\n")
    os.write(1, b"x" * 1023 + "ü".encode() * 600)


if __name__ == "__main__":
    {"block": block, "linger": linger, "mapped": mapped, "draws": draws}[sys.argv[1]]()
    if sys.argv[2:]:
        print("done", flush=True)
        time.sleep(1000)
