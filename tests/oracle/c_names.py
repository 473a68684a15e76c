#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""usage: c_names.py RDMALAB

Are the names and numbers that `explain` gives for C those of the headers?  Every word of an enumeration is explained,
and each "in C IBV_..." with its number becomes an assertion of a C program that includes <infiniband/verbs.h>,
<linux/virtio_*.h> and <rdma/rdma_cma.h>.  The other way round, every status and every event of the headers is known to
`explain`.

The last line is "N passed, N failed".
"""
import re
import subprocess
import sys

TABLES = ["wc_status", "wc_opcode", "wc_flag", "qp_state", "qp_type", "qp_attr", "wr_opcode", "send_flag", "access", "mtu",
          "async_event", "rdma_cm_event", "device_status", "feature", "net_feature"]
HEADERS = ["infiniband/verbs.h", "rdma/rdma_cma.h", "linux/virtio_config.h", "linux/virtio_ring.h", "linux/virtio_net.h"]
INCLUDES = "".join(f"#include <{h}>\n" for h in HEADERS)
ROW = re.compile(r"^(\w+)   .* (0x[0-9a-f]+|\d+), in C (\w+)$", re.MULTILINE)
WORD = re.compile(r"^([A-Z0-9][A-Z0-9_]+)  ", re.MULTILINE)
# What this device cannot report: tag matching of other transports.
FOREIGN = re.compile(r"IBV_WC_(TM_|DRIVER|TSO|IP_CSUM|ATOMIC_WRITE|FLUSH)|IBV_EVENT_WQ_FATAL|IBV_QPS_UNKNOWN")
# Names that libibverbs has since version 44, but not the headers of Debian 12: not checked where they are missing.
NEWER = re.compile(r"IBV_ACCESS_FLUSH_(GLOBAL|PERSISTENT)$|IBV_WR_(FLUSH|ATOMIC_WRITE)$")
# Names of the kernel, which no header of a program has.
OTHERS = re.compile(r"IB_CM_|IB_SIDR_|RDMA_CM_(?!EVENT_)")
ENUMS = re.compile(r"enum (?:ibv_(?:wc_status|event_type|qp_state)|rdma_cm_event_type) \{(.*?)\};", re.DOTALL)


def ask(rdmalab, *words):
    return subprocess.run([rdmalab, "explain", *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          check=False)


def told(rdmalab):
    """{name of C: number}, as `explain` tells it."""
    found = {}
    for table in TABLES:
        for word in WORD.findall(ask(rdmalab, table, "values").stdout):
            for _, number, name in ROW.findall(ask(rdmalab, word, "more").stdout):
                if not OTHERS.match(name):
                    found[name] = int(number, 0)
    return found


def compiles(name, number):
    text = INCLUDES + f'_Static_assert({name} == {number}, "");\n'
    result = subprocess.run(["gcc", "-fsyntax-only", "-x", "c", "-"], input=text, stderr=subprocess.PIPE, text=True, check=False)
    return result.returncode == 0


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    rdmalab = sys.argv[1]
    passed, wrong = 0, []
    header = subprocess.run(["gcc", "-E", "-x", "c", "-"], input=INCLUDES,
                            stdout=subprocess.PIPE, text=True, check=True).stdout
    names = {name: number for name, number in told(rdmalab).items()
             if not NEWER.match(name) or re.search(rf"\b{name}\b", header)}
    if len(names) < 100:
        wrong.append(f"explain tells only {len(names)} names of C")
    all_of_it = INCLUDES + "".join(f'_Static_assert({name} == {number}, "");\n' for name, number in names.items())
    result = subprocess.run(["gcc", "-fsyntax-only", "-x", "c", "-"], input=all_of_it, stderr=subprocess.PIPE, text=True,
                            check=False)
    if result.returncode == 0:
        passed += len(names)
    else:
        for name, number in names.items():
            if compiles(name, number):
                passed += 1
            else:
                wrong.append(f"{name} is not {number} in the headers")
    for name in re.findall(r"\b(?:IBV|RDMA_CM)_\w+", " ".join(ENUMS.findall(header))):
        if FOREIGN.match(name):
            continue
        if ask(rdmalab, name).returncode == 0:
            passed += 1
        else:
            wrong.append(f"explain does not know {name}")
    print(*wrong, f"{passed} passed, {len(wrong)} failed", sep="\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
