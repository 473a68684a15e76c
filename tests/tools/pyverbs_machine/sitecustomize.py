# SPDX-License-Identifier: MIT
"""Read by Python at its start, for the tests of pyverbs on a host of a lab.

They ask the machine which network interface belongs to a device, and for its addresses: `ls` of a directory in sysfs, and
`ip`.  A host of a lab has no interface of the machine, so these two questions are answered here.
"""
import json
import os
import socket
import subprocess

DIRECTORY = "/sys/class/infiniband/rdl0/device/net/"
really_exists, really_asked = os.path.exists, subprocess.check_output


def address():
    """The IPv4 address of the host, from the library that knows it."""
    host = os.environ["RDMALAB_HOST"]
    return socket.getaddrinfo(host, None, socket.AF_INET)[0][4][0]


def exists(path):
    return path == DIRECTORY or really_exists(path)


def asked(words, *args, **more):
    if words == ["ls", DIRECTORY]:
        return b"rdl0\n"
    if words == ["ip", "-j", "addr", "show", "rdl0"]:
        return json.dumps([{"address": "02:00:00:00:00:01", "addr_info": [{"local": address()}]}]).encode()
    return really_asked(words, *args, **more)


if "RDMALAB_HOST" in os.environ:
    os.path.exists, subprocess.check_output = exists, asked
