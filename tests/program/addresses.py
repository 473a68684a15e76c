#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Names and addresses of the hosts of a lab, as a program of sockets sees them.

usage: rdmalab exec h1 -- addresses.py

It talks to itself by the addresses of its host.  Prints "N passed, M failed".
"""
import errno
import socket
import sys

LOCAL, MAPPED, OTHER = "10.0.0.1", "::ffff:10.0.0.1", "10.0.0.2"
counts = [0, 0]


def expect(what, found, wanted):
    counts[found != wanted] += 1
    if found != wanted:
        print(f"{what}: {found}, not {wanted}", flush=True)


def check_names():
    for family in (socket.AF_UNSPEC, socket.AF_INET):
        expect("a name", [info[4] for info in socket.getaddrinfo("h1", 77, family, socket.SOCK_STREAM)], [(LOCAL, 77)])
    expect("an address", socket.getaddrinfo(OTHER, 77, socket.AF_INET, socket.SOCK_STREAM)[0][4], (OTHER, 77))
    expect("a name of IPv6", socket.getaddrinfo("h1", None, socket.AF_INET6)[0][4][0][:6], "fe80::")
    expect("gethostbyname()", socket.gethostbyname("h2"), OTHER)
    try:
        expect("a name in the place of a number", socket.getaddrinfo("h1", 77, flags=socket.AI_NUMERICHOST), [])
    except socket.gaierror as error:
        expect("a name in the place of a number", error.errno, socket.EAI_NONAME)


def connect(family, address, v6_only, blocks):
    server, client = (socket.socket(family, socket.SOCK_STREAM) for _ in range(2))
    with server, client:
        if family == socket.AF_INET6:
            for one in (server, client):
                one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, v6_only)
        what = f"{address}, IPV6_V6ONLY {v6_only}, {'' if blocks else 'non-'}blocking"
        server.bind((address, 0))
        server.listen()
        port = server.getsockname()[1]
        client.setblocking(blocks)
        expect(what, client.connect_ex((address, port)) in ((0,) if blocks else (0, errno.EINPROGRESS)), True)
        accepted, peer = server.accept()
        seen = MAPPED if family == socket.AF_INET6 else LOCAL
        with accepted:
            for who, found, wanted in (("peer", peer[:2], (seen, client.getsockname()[1])), ("server", client.getpeername()[:2], (seen, port)),
                                       ("local", client.getsockname()[0], seen), ("getpeername", accepted.getpeername()[:2], peer[:2])):
                expect(f"{what}: {who}", found, wanted)


def check_connections():
    local_v6 = socket.getaddrinfo("h1", None, socket.AF_INET6)[0][4][0]
    for blocks in (True, False):
        connect(socket.AF_INET, LOCAL, 0, blocks)
        for v6_only in (0, 1):
            connect(socket.AF_INET6, local_v6, v6_only, blocks)
        connect(socket.AF_INET6, MAPPED, 0, blocks)
    with socket.socket() as client:
        expect("nobody listens", client.connect_ex((OTHER, 9)), errno.ECONNREFUSED)
    one, two = socket.socketpair()  # no addresses of IP
    with one, two:
        expect("a socket of this machine", (one.getsockname(), two.getpeername()), ("", ""))


def check_datagrams():
    server, client = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
    with server, client:
        server.bind((LOCAL, 0))
        client.sendto(b"question", server.getsockname())
        question, peer = server.recvfrom(100)
        expect("the sender of a datagram", (question, peer[0]), (b"question", LOCAL))
        server.sendto(b"answer", peer)
        expect("the answer", client.recvfrom(100), (b"answer", server.getsockname()))


def main():
    for check in (check_names, check_connections, check_datagrams):
        check()
    print(f"{counts[0]} passed, {counts[1]} failed")
    return counts[1] != 0


if __name__ == "__main__":
    sys.exit(main())
