#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Many connections of one program to a lab, by the socket itself.

usage: rdmalab exec HOST -- crowd.py [others|last]

Connects until the lab refuses, says why, goes, and connects once more.  With "others" two connections, to
h1 and h2, make an object each, and a third one tries to destroy it, to arm it and to register memory with
it; the last number is that of the owner, who can still use it.  With "last" one connection makes channels
until the lab has no descriptor left but one, and the next connection says what it is told.
"""
import os
import resource
import socket
import struct
import sys
import time

from hostile import ALLOC_PD, ARM_CQ, CALL_BYTES, CREATE_CHANNEL, CREATE_CQ, DESTROY, HELLO, MAGIC, QUERY_GID, REG_MR, VERSION, connect

PD = 1
TRIES = 100


class Connection:
    def __init__(self, host):
        self.socket = connect()
        memory = os.open("/proc/self/mem", os.O_RDWR)
        socket.send_fds(self.socket, [HELLO.pack(MAGIC, VERSION, host.encode())], [memory])
        os.close(memory)
        message, self.fds, _, _ = socket.recv_fds(self.socket, 4096, 8)
        self.error = struct.unpack_from("<i", message, 4)[0]
        self.why = message[8:112].split(b"\0")[0].decode()

    def call(self, op, form="", *values):
        self.socket.send((struct.pack("<II", op, 1) + struct.pack("<" + form, *values)).ljust(CALL_BYTES, b"\0"))
        answer, fds, _, _ = socket.recv_fds(self.socket, 4096, 8)
        for fd in fds:
            os.close(fd)
        return struct.unpack_from("<iQ", answer, 4)

    def close(self):
        self.socket.close()
        for fd in self.fds:
            os.close(fd)


def others():
    guesser = Connection("h1")
    for host in ("h1", "h2"):
        owner = Connection(host)
        pd, cq = owner.call(ALLOC_PD)[1], owner.call(CREATE_CQ, "QI", 0, 16)[1]
        print(guesser.call(DESTROY, "QI", pd, PD)[0], guesser.call(ARM_CQ, "QI", cq, 0)[0],
              guesser.call(REG_MR, "QQQQI", pd, 0x1000, 4096, 0x1000, 0)[0],
              owner.call(REG_MR, "QQQQI", pd, 0x1000, 4096, 0x1000, 0)[0])


def last():
    connection = Connection(os.environ["RDMALAB_HOST"])
    while connection.call(CREATE_CHANNEL)[0] == 0:
        pass
    print(Connection(os.environ["RDMALAB_HOST"]).why)


def crowd():
    resource.setrlimit(resource.RLIMIT_NOFILE, (1000, 1000))
    connections = []
    while len(connections) < TRIES and not (connections and connections[-1].error):
        connections.append(Connection(os.environ["RDMALAB_HOST"]))
    print(f"{len(connections) - 1} connections: {connections[-1].why}")
    for connection in connections:
        connection.close()
    again = Connection(os.environ["RDMALAB_HOST"])
    while again.error:  # what the others have left is destroyed first
        time.sleep(0.01)
        again.close()
        again = Connection(os.environ["RDMALAB_HOST"])
    print("again:", again.call(QUERY_GID)[0])


if __name__ == "__main__":
    {"others": others, "last": last}.get("".join(sys.argv[1:]), crowd)()
