#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""mads.py RDMALAB: does tshark read messages of the connection manager as `show packet` does?

A host sends messages with random values in all fields, by `inject`.  Each field that tshark has is compared,
by the names in FIELDS.  tshark 4.0 has no MRA, SIDR_REQ and SIDR_REP: their rows are held against the
specification in tests/unit/wire/test_mad.c, and so are flow label and packet rate, of which tshark 4.0 takes the
wrong bits.  Of the primary GIDs it has the last four bytes alone, if the packet is IPv4.  Ends with "N passed, N failed".
"""
import ipaddress
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import capture

ROUNDS = 8
QPN, QKEY = 1, 0x80010000
SERVICES = [0x0000000001061D2F, 0x0000000001110001]  # rdma_cm's TCP and UDP: private data begins with addresses

HEADER = {"baseversion": "base version", "mgmtclass": "management class", "classversion": "class version",
          "method": "method", "status": "status", "classspecific": "class specific", "transactionid": "transaction ID",
          "attributeid": "attribute ID", "attributemodifier": "attribute modifier"}
PATH = {"locallid": "local LID", "remotelid": "remote LID", "tfcclass": "traffic class", "hoplim": "hop limit",
        "sl": "SL", "subnetlocal": "subnet local", "localacktout": "local ACK timeout"}
REQ = {"": "local communication ID", ".serviceid": "service ID", ".localcaguid": "local CA GUID",
       ".localqkey": "local Q_Key", ".localqpn": "local QPN", ".responderres": "responder resources",
       ".localeecn": "local EECN", ".initdepth": "initiator depth", ".remoteeecn": "remote EECN",
       ".remoteresptout": "remote CM response timeout", ".transpsvctype": "transport service type",
       ".e2eflowctrl": "end-to-end flow control", ".startpsn": "starting PSN",
       ".localresptout": "local CM response timeout", ".retrcount": "retry count", ".pkey": "P_Key",
       ".pppmtu": "path MTU", ".rdcexist": "RDC exists", ".rnrretrcount": "RNR retry count",
       ".maxcmretr": "max CM retries", ".srq": "SRQ", ".ext_transport": "extended transport type",
       ".ip_cm.ipv": "IP version", ".ip_cm.sport": "source port",
       ".prim_localgid_ipv4": "primary local GID", ".prim_remotegid_ipv4": "primary remote GID",
       ".alt_localgid": "alternate local GID", ".alt_remotegid": "alternate remote GID",
       **{f".prim_{k}": f"primary {v}" for k, v in PATH.items()}, **{f".alt_{k}": f"alternate {v}" for k, v in PATH.items()}}
IDS = {".localcommid": "local communication ID", ".remotecommid": "remote communication ID"}
REP = {"": "local communication ID", ".remotecommid": "remote communication ID", ".localqkey": "local Q_Key",
       ".localqpn": "local QPN", ".localeecn": "local EECN", ".startpsn": "starting PSN",
       ".respres": "responder resources", ".initdepth": "initiator depth", ".tgtackdelay": "target ACK delay",
       ".failoveracc": "failover accepted", ".e2eflowctrl": "end-to-end flow control",
       ".rnrretrcount": "RNR retry count", ".srq": "SRQ", ".localcaguid": "local CA GUID"}
REJ = {**IDS, ".msgrej": "message rejected", ".rejinfolen": "reject information length", ".reason": "reason"}
FIELDS = {  # attribute ID: fields of tshark and ours, in its structure
    0x10: {"cm.req" + k: v for k, v in REQ.items()},
    0x12: {"cm.rej" + k: v for k, v in REJ.items()},
    0x13: {"cm.rep" + k: v for k, v in REP.items()},
    0x14: {"cm.rtu" + k: v for k, v in IDS.items()},
    0x15: {"cm.dreq" + k: v for k, v in IDS.items()} | {"cm.req.remoteqpneecn": "remote QPN"},
    0x16: {"cm.drsp" + k: v for k, v in IDS.items()},
}
FIELDS = {attr: {"infiniband." + k: v for k, v in (fields | {"mad." + k: v for k, v in HEADER.items()}).items()}
          for attr, fields in FIELDS.items()}


def message(attr, rng):
    """A message with random values, of version 1 and class 7."""
    mad = bytearray(rng.randbytes(256))
    mad[0:4] = bytes([1, 7, 2, 3])
    mad[16:18] = attr.to_bytes(2, "big")
    if attr == 0x10:
        mad[32:40] = rng.choice(SERVICES).to_bytes(8, "big")
        mad[164:166] = bytes([0, 0x40])  # rdma_cm's version 0, IPv4
        mad[56:60] = (17 + rng.randrange(1000)).to_bytes(3, "big") + mad[59:60]  # tshark makes conversations of them
    return bytes(mad)


def number(text):
    """The value of a field as tshark or `show packet` has it: the first word, without what explains it."""
    word = text.split(",")[0].split()[0]
    if ":" in word or "." in word:
        return int(ipaddress.ip_address(word))
    if word in ("True", "False"):
        return int(word == "True")
    return int(word, 16 if len(word) == 32 else 0)


def main():
    if len(sys.argv) != 2:
        capture.die("usage: mads.py RDMALAB")
    rdmalab = str(pathlib.Path(sys.argv[1]).resolve())
    rng = random.Random(12)
    sent = [(attr, message(attr, rng)) for _ in range(ROUNDS) for attr in FIELDS]
    lines = ["host h1 h2", "link h1 h2"]
    for _, mad in sent:
        lines += [f"inject from=h1 to=h2 opcode=ud_send_only dest_qpn={QPN} qkey={QKEY} src_qpn=1 hex={mad.hex()}", "run",
                  "show packet last json"]
    lines.append("export pcapng sent.pcapng")
    with tempfile.TemporaryDirectory() as directory:
        script = pathlib.Path(directory) / "sent.lab"
        script.write_text("\n".join(lines) + "\n", encoding="utf-8")
        run = subprocess.run([rdmalab, "run", str(script)], cwd=directory, capture_output=True, text=True, check=False)
        if run.returncode:
            capture.die(f"{run.stdout}{run.stderr}")
        shown = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
        names = sorted({name for fields in FIELDS.values() for name in fields})
        frames = capture.tshark(str(pathlib.Path(directory) / "sent.pcapng"), ["infiniband.bth.destqp", *names])
    rows = [row for row in frames if row["infiniband.bth.destqp"]][::2]  # each is in the capture at both ends
    compare(sent, shown, rows)


def compare(sent, shown, rows):
    passed = failed = 0
    if not len(sent) == len(shown) == len(rows):
        capture.die(f"{len(sent)} messages, {len(shown)} are shown, tshark has {len(rows)}")
    for (attr, _), ours, theirs in zip(sent, shown, rows):
        values = {(f["header"], f["name"]): f["value"] for f in ours["fields"]}
        for field, title in FIELDS[attr].items():
            mine = next((v for (header, name), v in values.items() if name == title and header in headers_of(field)), None)
            if mine is None or not theirs[field]:
                print(f"{field}: tshark has {theirs[field]!r}, show packet {title}: {mine!r}")
                failed += 1
            elif number(theirs[field]) == number(mine) & (0xFFFFFFFF if field.endswith("_ipv4") else -1):
                passed += 1
            else:
                print(f"{field}: tshark has {theirs[field]}, show packet {title}: {mine}")
                failed += 1
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


def headers_of(field):
    if ".mad." in field:
        return ["MAD"]
    return ["rdma_cm"] if ".ip_cm." in field else [f"CM {m}" for m in ("REQ", "REJ", "REP", "RTU", "DREQ", "DREP")]


main()
