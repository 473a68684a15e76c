#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The commands of /dev/infiniband/rdma_cm without librdmacm: what each is refused with, as by Linux.

usage: rdmalab exec HOST -- commands.py

It speaks to the lab's socket itself, as src/program/ibverbs/rdma_cm.c does.  Prints what is not as expected,
and "N passed, M failed".
"""
import ctypes
import errno
import os
import socket
import struct
import sys
import time

CM_OPEN, CM_CLOSE, CM_WRITE = 24, 25, 26  # src/program/protocol.h
CALL_BYTES, FILE, ROOM = 152, "RDMALAB_SOCKET", 1024
(CREATE_ID, DESTROY_ID, BIND_IP, RESOLVE_IP, RESOLVE_ROUTE, QUERY_ROUTE, CONNECT, LISTEN, ACCEPT, REJECT, DISCONNECT, INIT_QP_ATTR,
 GET_EVENT, GET_OPTION, SET_OPTION, NOTIFY, JOIN_IP_MCAST, LEAVE_MCAST, MIGRATE_ID, QUERY, BIND, RESOLVE_ADDR, JOIN_MCAST) = range(23)
TCP, UDP, IB = 0x106, 0x111, 0x13F
ADDR_RESOLVED, MULTICAST_JOIN = 0, 12
NOWHERE = 8  # an address at which nothing is mapped
UNKNOWN = 999
MAGIC, VERSION = 0x504C4452, 4
HELLO = struct.Struct("<II24s")

command, response = ctypes.create_string_buffer(ROOM), ctypes.create_string_buffer(ROOM)
RESPONSE = ctypes.addressof(response)
counts = [0, 0]


class Lab:
    """A connection of this process to the lab."""
    def __init__(self):
        self.socket, self.serial = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET), 0
        self.socket.settimeout(30)
        self.socket.connect(os.environ[FILE])
        memory = os.open("/proc/self/mem", os.O_RDWR)
        socket.send_fds(self.socket, [HELLO.pack(MAGIC, VERSION, os.environ["RDMALAB_HOST"].encode())], [memory])
        os.close(memory)
        welcome, self.fds, _, _ = socket.recv_fds(self.socket, 4096, 8)
        assert struct.unpack_from("<i", welcome, 4)[0] == 0

    def call(self, op, body=b""):
        self.serial += 1
        self.socket.send(struct.pack("<II", op, self.serial) + body.ljust(CALL_BYTES - 8, b"\0"))
        answer, fds, _, _ = socket.recv_fds(self.socket, 4096, 8)
        for fd in fds:
            os.close(fd)
        return struct.unpack_from("<i", answer, 4)[0], struct.unpack_from("<Q", answer, 8)[0]

    def open(self):
        error, handle = self.call(CM_OPEN)
        assert error == 0, error
        return handle

    def write(self, file, kind, body=b"", from_file=0, out=ROOM, length=None, given=None, at=None):
        """Carries out a command.  Its errno."""
        ctypes.memset(command, 0, ROOM)
        command[:8 + len(body)] = struct.pack("<IHH", kind, len(body) if given is None else given, out) + body
        error, result = self.call(CM_WRITE, struct.pack("<QQQQ", file, from_file, ctypes.addressof(command) if at is None else at,
                                                        8 + len(body) if length is None else length))
        assert error == 0, error
        return ctypes.c_int32(result & 0xffffffff).value


def ip(last, port=0, family=2, size=128):
    return struct.pack("<H", family) + struct.pack(">H4B", port, 10, 0, 0, last) + bytes(size - 8)


def param(valid=1, private=0):
    return struct.pack("<II256s8B", 5, 0, b"", private, 0, 0, 0, 0, 7, 7, valid)


def create(space=TCP, uid=1, at=RESPONSE):
    return CREATE_ID, struct.pack("<QQHB5x", uid, at, space, 2)


def of(kind, number, at=RESPONSE):
    """A command that is sound but for the state of its ID."""
    return kind, {
        DESTROY_ID: struct.pack("<QII", at, number, 0), BIND_IP: struct.pack("<Q", at) + ip(1, size=28) + struct.pack("<I", number),
        RESOLVE_IP: bytes(28) + ip(1, size=28) + struct.pack("<II", number, 2000), RESOLVE_ROUTE: struct.pack("<II", number, 2000),
        QUERY_ROUTE: struct.pack("<QII", at, number, 0), CONNECT: param() + struct.pack("<IIQ", number, 0, 0),
        LISTEN: struct.pack("<Ii", number, 1), ACCEPT: struct.pack("<Q", 1) + param() + struct.pack("<IIQ", number, 0, 0),
        REJECT: struct.pack("<IBB2x256s", number, 0, 28, b""), DISCONNECT: struct.pack("<I", number),
        INIT_QP_ATTR: struct.pack("<QII", at, number, 1), SET_OPTION: struct.pack("<QIIII", RESPONSE, number, 0, 1, 4),
        NOTIFY: struct.pack("<II", number, 4), JOIN_IP_MCAST: struct.pack("<QQ", at, 1) + ip(1, size=28) + struct.pack("<I", number),
        QUERY: struct.pack("<QII", at, number, 0), BIND: struct.pack("<IHH", number, 16, 0) + ip(1),
        RESOLVE_ADDR: struct.pack("<IIHHI", number, 2000, 0, 16, 0) + bytes(128) + ip(1),
        JOIN_MCAST: struct.pack("<QQIHH", at, 1, number, 16, 0) + ip(1),
    }[kind]


WITH_ID = (DESTROY_ID, BIND_IP, RESOLVE_IP, RESOLVE_ROUTE, QUERY_ROUTE, CONNECT, LISTEN, ACCEPT, REJECT, DISCONNECT, INIT_QP_ATTR,
           SET_OPTION, NOTIFY, JOIN_IP_MCAST, QUERY, BIND, RESOLVE_ADDR, JOIN_MCAST)


def expect(what, found, wanted):
    counts[found != wanted] += 1
    if found != wanted:
        print(f"{what}: {errno.errorcode.get(found, found)}, not {errno.errorcode.get(wanted, wanted)}", flush=True)


def number():
    return struct.unpack_from("<I", response)[0]


def new_id(lab, file, space=TCP, uid=1):
    expect("an ID", lab.write(file, *create(space, uid)), 0)
    return number()


def next_event(lab, file):
    """Its uid, ID and kind."""
    while (error := lab.write(file, GET_EVENT, struct.pack("<Q", RESPONSE))) == errno.EAGAIN:
        time.sleep(0.001)
    expect("an event", error, 0)
    return struct.unpack_from("<QII", response)


def check_frames(lab):
    """Lengths, numbers and addresses of commands, before anything of them counts."""
    file = lab.open()
    kind, body = create()
    for what, more, wanted in (
            ("no whole header", {"length": 7}, errno.EINVAL), ("more than was written", {"given": 25}, errno.EINVAL),
            ("no address of a command", {"at": NOWHERE}, errno.EFAULT), ("a response without room", {"out": 3}, errno.ENOSPC),
            ("a file that is not there", {"file": 77}, errno.ENODEV), ("addresses beyond all", {"at": (1 << 64) - 4}, errno.EFAULT)):
        expect(what, lab.write(more.pop("file", file), kind, body, **more), wanted)
    expect("no such command", lab.write(file, 23), errno.EINVAL)
    expect("a number far out of range", lab.write(file, 1 << 31), errno.EINVAL)
    expect("GET_OPTION", lab.write(file, GET_OPTION), errno.ENOSYS)
    expect("no event", lab.write(file, GET_EVENT, struct.pack("<Q", RESPONSE)), errno.EAGAIN)
    expect("room for no event", lab.write(file, GET_EVENT, struct.pack("<Q", RESPONSE), out=200), errno.ENOSPC)
    expect("a port space that is none", lab.write(file, *create(5)), errno.EINVAL)
    expect("an ID that cannot be told", lab.write(file, *create(at=NOWHERE)), errno.EFAULT)
    expect("close", lab.call(CM_CLOSE, struct.pack("<Q", file))[0], 0)
    expect("a closed file", lab.write(file, kind, body), errno.ENODEV)


def check_ids(lab):
    """IDs of other files, of none, and in states in which a command can do nothing."""
    file, other = lab.open(), lab.open()
    theirs, mine, trial = new_id(lab, other), new_id(lab, file), new_id(lab, file, IB)
    for kind in WITH_ID:
        for who, wanted in ((theirs, errno.EINVAL), (UNKNOWN, errno.ENOENT), ((1 << 32) - 1, errno.ENOENT)):
            expect(f"command {kind} of ID {who}", lab.write(file, *of(kind, who)), wanted)
    for kind in (RESOLVE_ROUTE, CONNECT, ACCEPT, REJECT, DISCONNECT, INIT_QP_ATTR, NOTIFY, JOIN_IP_MCAST, JOIN_MCAST):
        expect(f"command {kind} of an idle ID", lab.write(file, *of(kind, mine)), errno.EINVAL)
        expect(f"command {kind} of an ID of port space IB", lab.write(file, *of(kind, trial)), errno.EINVAL)
    for kind in (QUERY_ROUTE, QUERY):
        expect(f"question {kind} into nowhere", lab.write(file, *of(kind, mine, NOWHERE)), errno.EFAULT)
    expect("an unknown question", lab.write(file, QUERY, struct.pack("<QII", RESPONSE, mine, 3)), errno.ENOSYS)
    expect("room for no answer", lab.write(file, *of(QUERY, mine), out=40), errno.ENOSPC)
    for what, from_file, who, wanted in (("no file", 0, mine, errno.ENOENT), ("a file that it is not of", file, theirs, errno.EINVAL),
                                         ("another file", other, theirs, 0), ("its own file", file, mine, 0)):
        expect(f"MIGRATE_ID from {what}", lab.write(file, MIGRATE_ID, struct.pack("<QII", RESPONSE, who, 0), from_file), wanted)
    expect("an ID that has moved", lab.write(other, *of(QUERY, theirs)), errno.EINVAL)
    for what, level, name, length, wanted in (("an option", 0, 1, 4, 0), ("of a wrong length", 0, 1, 1, errno.EINVAL),
                                              ("of an unknown level", 7, 1, 4, errno.ENOSYS), ("of an unknown name", 0, 9, 4, errno.ENOSYS)):
        expect(f"SET_OPTION {what}", lab.write(file, SET_OPTION, struct.pack("<QIIII", RESPONSE, mine, level, name, length)), wanted)
    expect("SET_OPTION nowhere", lab.write(file, SET_OPTION, struct.pack("<QIIII", NOWHERE, mine, 0, 1, 4)), errno.EFAULT)
    for at in (file, other):
        expect("close", lab.call(CM_CLOSE, struct.pack("<Q", at))[0], 0)


def check_addresses(lab):
    """Families and lengths of addresses."""
    file = lab.open()
    mine = new_id(lab, file)
    for what, size, reserved, family in (("no length", 0, 0, 2), ("short", 15, 0, 2), ("long", 17, 0, 2), ("reserved", 16, 1, 2),
                                         ("of a Unix socket", 16, 0, 1), ("of IPv6, short", 16, 0, 10), ("far too long", 65535, 0, 2)):
        address = ip(1, family=family)
        expect(f"BIND, {what}", lab.write(file, BIND, struct.pack("<IHH", mine, size, reserved) + address), errno.EINVAL)
        expect(f"RESOLVE_ADDR, {what}", lab.write(file, RESOLVE_ADDR, struct.pack("<IIHHI", mine, 1, 0, size, reserved) + bytes(128) + address),
               errno.EINVAL)
        if size:
            expect(f"RESOLVE_ADDR from {what}", lab.write(file, RESOLVE_ADDR, struct.pack("<IIHHI", mine, 1, size, 16, reserved) + address + ip(1)),
                   errno.EINVAL)
    for kind, body in ((BIND_IP, struct.pack("<Q", 0) + ip(1, family=1, size=28) + struct.pack("<I", mine)),
                       (RESOLVE_IP, bytes(28) + ip(1, family=1, size=28) + struct.pack("<II", mine, 1)),
                       (RESOLVE_IP, ip(1, family=1, size=28) + ip(1, size=28) + struct.pack("<II", mine, 1))):
        expect(f"command {kind} of a Unix socket", lab.write(file, kind, body), errno.EINVAL)
    expect("BIND", lab.write(file, *of(BIND, mine)), 0)
    expect("BIND again", lab.write(file, *of(BIND, mine)), errno.EINVAL)
    expect("LISTEN", lab.write(file, *of(LISTEN, mine)), 0)
    expect("LISTEN again", lab.write(file, *of(LISTEN, mine)), errno.EINVAL)
    expect("INIT_QP_ATTR to no state", lab.write(file, INIT_QP_ATTR, struct.pack("<QII", RESPONSE, mine, 7)), errno.EINVAL)
    expect("CONNECT with too much", lab.write(file, CONNECT, param(private=255) + struct.pack("<IIQ", mine, 0, 0)), errno.EINVAL)
    expect("close", lab.call(CM_CLOSE, struct.pack("<Q", file))[0], 0)


def check_events(lab):
    """An event that cannot be told stays, and DESTROY_ID answers how many were."""
    file = lab.open()
    mine = new_id(lab, file, uid=0x1234)
    expect("RESOLVE_ADDR", lab.write(file, *of(RESOLVE_ADDR, mine)), 0)
    while (error := lab.write(file, GET_EVENT, struct.pack("<Q", NOWHERE))) == errno.EAGAIN:
        time.sleep(0.001)
    expect("an event into nowhere", error, errno.EFAULT)
    expect("the event", next_event(lab, file), (0x1234, mine, ADDR_RESOLVED))
    expect("RESOLVE_ROUTE", lab.write(file, *of(RESOLVE_ROUTE, mine)), 0)
    expect("DESTROY_ID", lab.write(file, *of(DESTROY_ID, mine)), 0)
    expect("events that were told", number(), 1)
    expect("an event of a destroyed ID", lab.write(file, GET_EVENT, struct.pack("<Q", RESPONSE)), errno.EAGAIN)
    mine = new_id(lab, file)
    expect("DESTROY_ID into nowhere", lab.write(file, *of(DESTROY_ID, mine, NOWHERE)), errno.EFAULT)
    expect("the destroyed ID", lab.write(file, *of(QUERY, mine)), errno.ENOENT)
    expect("close", lab.call(CM_CLOSE, struct.pack("<Q", file))[0], 0)


def check_groups(lab):
    """Memberships end with their ID and with their file, and an ID that has its number has none of them."""
    join = struct.pack("<HH", 16, 0) + struct.pack("<HH4B", 2, 0, 239, 0, 0, 1) + bytes(120)
    told = []
    for uid in (0xA, 0xB):
        file = lab.open()
        mine = new_id(lab, file, UDP, uid)
        expect("BIND", lab.write(file, *of(BIND, mine)), 0)
        expect("JOIN_MCAST nowhere", lab.write(file, JOIN_MCAST, struct.pack("<QQI", NOWHERE, uid, mine) + join), errno.EFAULT)
        expect("JOIN_MCAST", lab.write(file, JOIN_MCAST, struct.pack("<QQI", RESPONSE, uid + 1, mine) + join), 0)
        group = number()
        expect("its event", next_event(lab, file), (uid + 1, group, MULTICAST_JOIN))
        told.append((mine, group))
        other = lab.open()
        expect("LEAVE_MCAST of another file", lab.write(other, *(LEAVE_MCAST, struct.pack("<QII", RESPONSE, group, 0))), errno.EINVAL)
        expect("close", lab.call(CM_CLOSE, struct.pack("<Q", other))[0], 0)
        if uid == 0xB:
            expect("LEAVE_MCAST", lab.write(file, LEAVE_MCAST, struct.pack("<QII", RESPONSE, group, 0)), 0)
            expect("its events", number(), 1)
            expect("LEAVE_MCAST again", lab.write(file, LEAVE_MCAST, struct.pack("<QII", RESPONSE, group, 0)), errno.ENOENT)
        expect("close", lab.call(CM_CLOSE, struct.pack("<Q", file))[0], 0)
    expect("numbers are used again", told[0], told[1])
    file = lab.open()
    mine = new_id(lab, file, UDP)
    expect("LEAVE_MCAST of nobody", lab.write(file, LEAVE_MCAST, struct.pack("<QII", RESPONSE, told[0][1], 0)), errno.ENOENT)
    expect("BIND", lab.write(file, *of(BIND, mine)), 0)
    expect("JOIN_MCAST", lab.write(file, JOIN_MCAST, struct.pack("<QQI", RESPONSE, 3, mine) + join), 0)
    group = number()
    expect("LEAVE_MCAST", lab.write(file, LEAVE_MCAST, struct.pack("<QII", RESPONSE, group, 0)), 0)
    expect("the event of a membership that has ended", lab.write(file, GET_EVENT, struct.pack("<Q", RESPONSE)), errno.EAGAIN)
    expect("close", lab.call(CM_CLOSE, struct.pack("<Q", file))[0], 0)


def main():
    lab = Lab()
    for check in (check_frames, check_ids, check_addresses, check_events, check_groups):
        check(lab)
    print(f"{counts[0]} passed, {counts[1]} failed")
    return counts[1] != 0


if __name__ == "__main__":
    sys.exit(main())
