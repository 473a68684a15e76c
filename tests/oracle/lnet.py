#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""lnet.py RDMALAB: do two dissectors read messages of o2iblnd as `show packet` does?

A host sends messages of each type with random values in all fields, in both byte orders and versions, by `inject`; and
CONNREQ, CONNACK and rejects as private data.  The first dissector is tshark's own, protocol lnet: it knows nothing of the
rows of the lab, but little-endian messages alone.  Its names of the two process IDs are exchanged, it takes the handle of an
ACK for big-endian, and the LNet header of another operation than PUT for shorter than it is, so that these are compared
crosswise or not at all.  The second is data/o2iblnd.lua, which is written from the rows: each of its fields is compared, for
each message, and for messages of several packets.  Ends with "N passed, N failed".
"""
import json
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

import capture

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
from pages.dissector import PAGE, parts_of  # noqa: E402  # the rows of the lab

ROUNDS = 3
MAGIC, PROTO_MAGIC = 0x0BE91B91, 0x45726963
CONNREQ, CONNACK, NOOP, IMMEDIATE, PUT_REQ, PUT_NAK, PUT_ACK, PUT_DONE, GET_REQ, GET_DONE = 0xC0, 0xC1, *range(0xD0, 0xD8)
ACK, PUT, GET, REPLY, HELLO = range(5)
WITH_HEADER = (IMMEDIATE, PUT_REQ, GET_REQ)
SERVICE = 0x010603DB  # port 987 of port space TCP
REQ, REJ, REP = 0x10, 0x12, 0x13
PRIVATE = {REQ: 140 + 36, REJ: 84, REP: 36}  # where private data of a program begins in the body
N_FRAGS = 250  # a descriptor of several packets of 1024 bytes

# Fields of tshark and ours, by header and name.  Behind some: which of its occurrences.
OWN = {
    "lnet.ib.magic": ("o2iblnd", "magic number"), "lnet.ib.version": ("o2iblnd", "version"),
    "lnet.ib.type": ("o2iblnd", "type"), "lnet.ib.credits": ("o2iblnd", "credits returned"),
    "lnet.ib.nob": ("o2iblnd", "bytes of the message"), "lnet.ksm_csum": ("o2iblnd", "checksum"),
    "lnet.connparam.qdepth": ("o2iblnd connection", "queue depth"),
    "lnet.connparam.max_frags": ("o2iblnd connection", "maximum fragments"),
    "lnet.connparam.max_size": ("o2iblnd connection", "maximum message size"),
    "lnet.src_pid": ("LNet", "destination process"), "lnet.dest_pid": ("LNet", "source process"),
    "lnet.msg_type": ("LNet", "operation"), "lnet.payload_length": ("LNet", "bytes of the payload"),
    "lnet.msg_length": ("LNet ACK", "bytes taken"), "lnet.msg_hdr_data": ("LNet PUT", "header data"),
    "lnet.offset": ("LNet PUT", "offset"), "lnet.src_offset": ("LNet GET", "source offset"),
    "lnet.sink_length": ("LNet GET", "bytes of the sink"), "lnet.hello_incarnation": ("LNet HELLO", "incarnation"),
    "lnet.hello_type": ("LNet HELLO", "type of the connection"),
    "lnet.o2ib.src_cookie": ("o2iblnd PUT_ACK", "cookie of the source"),
    "lnet.o2ib.dest_cookie": ("o2iblnd PUT_ACK", "cookie of the sink"),
    "lnet.o2ib.status": ("o2iblnd completion", "status"), "lnet.rdma.key": ("o2iblnd descriptor", "key"),
    "lnet.rdma.nfrags": ("o2iblnd descriptor", "fragments"),
}
OWN_OF_SEVERAL = {  # one field for the same in several headers
    "lnet.msg_dst_match_bits": [("LNet ACK", "match bits"), ("LNet PUT", "match bits"), ("LNet GET", "match bits")],
    "lnet.ptl_index": [("LNet PUT", "portal"), ("LNet GET", "portal")],
    "lnet.msg_dst_interface_cookie": [("LNet PUT", "ACK interface"), ("LNet GET", "return interface"), ("LNet REPLY", "interface")],
    "lnet.msg_dst_object_cookie": [("LNet PUT", "ACK object"), ("LNet GET", "return object"), ("LNet REPLY", "object")],
    "lnet.o2ib.cookie": [("o2iblnd request", "cookie"), ("o2iblnd completion", "cookie")],
}
OWN_LISTS = {  # in order
    "lnet.nid.addr": [("o2iblnd", "source NID"), ("o2iblnd", "destination NID"), ("LNet", "destination NID"), ("LNet", "source NID")],
    "lnet.rdma_frag.size": "bytes", "lnet.rdma_frag.addr": "address",
}


class Message:
    """A message of o2iblnd with random values, and how it is sent."""

    def __init__(self, rng, kind, big, version, op=PUT, n_frags=None):
        self.kind, self.big, self.order = kind, big, ">" if big else "<"
        self.op = op if kind in WITH_HEADER else None
        self.payload = rng.randbytes(rng.randrange(60)) if kind == IMMEDIATE and op == REPLY else b""
        body = self.body(rng, n_frags)
        nid = [0x0005 << 48 | rng.randrange(4) << 32 | rng.randrange(1, 1 << 32) for _ in range(2)]
        self.nids = nid
        head = struct.pack(self.order + "IHBBIIQQQQ", MAGIC, version, kind, rng.randrange(256), 48 + len(body), 0,
                           nid[0], rng.getrandbits(64), nid[1], rng.getrandbits(64))
        self.bytes = bytearray(head + body)

    def header(self, rng):
        nids = [0x0005 << 48 | rng.randrange(1, 1 << 32) for _ in range(2)]
        put = rng.randrange(1 << 32) if self.kind == PUT_REQ else 0
        head = struct.pack("<QQIIII", *nids, rng.getrandbits(32), rng.getrandbits(32), self.op, put or len(self.payload))
        used = {ACK: 28, PUT: 40, GET: 36, REPLY: 16, HELLO: 12}[self.op]
        return head + rng.randbytes(used) + bytes(40 - used)

    def descriptor(self, rng, n):
        n = n or rng.randrange(1, 5)
        frags = b"".join(struct.pack(self.order + "IQ", rng.getrandbits(32), rng.getrandbits(64)) for _ in range(n))
        return struct.pack(self.order + "II", rng.getrandbits(32), n) + frags

    def body(self, rng, n_frags):
        if self.kind in (CONNREQ, CONNACK):
            return rng.randbytes(8)
        if self.kind == NOOP:
            return b""
        if self.kind == IMMEDIATE:
            return self.header(rng) + self.payload
        if self.kind == PUT_REQ:
            return self.header(rng) + rng.randbytes(8)
        if self.kind == GET_REQ:
            return self.header(rng) + rng.randbytes(8) + self.descriptor(rng, n_frags)
        if self.kind == PUT_ACK:
            return rng.randbytes(16) + self.descriptor(rng, n_frags)
        return rng.randbytes(12)


def mad(attribute, data):
    """A message of the connection manager with this private data."""
    out = bytearray(256)
    out[0:4] = bytes([1, 7, 2, 3])
    out[16:18] = attribute.to_bytes(2, "big")
    if attribute == REQ:
        out[32:40] = SERVICE.to_bytes(8, "big")
        out[164:166] = bytes([0, 0x40])  # rdma_cm's version 0, IPv4
        out[56:59] = (17).to_bytes(3, "big")
    at = 24 + PRIVATE[attribute]
    out[at:at + len(data)] = data
    return bytes(out)


def messages(rng):
    """All messages in one packet, each with its frame: (message, opcode, payload)."""
    for big in (False, True):
        for _ in range(ROUNDS):
            for kind in (NOOP, PUT_NAK, PUT_ACK, PUT_DONE, GET_DONE):
                message = Message(rng, kind, big, rng.choice((0x11, 0x12)))
                yield message, "rc_send_only", bytes(message.bytes)
            for kind, ops in ((IMMEDIATE, range(5)), (PUT_REQ, (PUT, REPLY)), (GET_REQ, (GET,))):
                for op in ops:
                    message = Message(rng, kind, big, rng.choice((0x11, 0x12)), op)
                    yield message, "rc_send_only", bytes(message.bytes)
            for kind, attribute in ((CONNREQ, REQ), (CONNACK, REP)):
                message = Message(rng, kind, big, rng.choice((0x11, 0x12)))
                yield message, "ud_send_only", mad(attribute, message.bytes)


def rejects(rng):
    """Private data of rejects, as they are in a REJ."""
    for order in "<>":
        for magic in (MAGIC, PROTO_MAGIC):
            yield struct.pack(order + "IHBBQHHI", magic, 0x12, rng.randrange(1, 10), 0, rng.getrandbits(64),
                              rng.getrandbits(16), rng.getrandbits(16), rng.getrandbits(32))
        yield struct.pack(order + "IHB", MAGIC, 0x11, rng.randrange(1, 4))


def number(text):
    """The value of a field as tshark or `show packet` has it: the first word, without what explains it."""
    word = text.split(",")[0].split()[0]
    return int(word, 0)


def run_lab(rdmalab, directory, lines):
    script = pathlib.Path(directory) / "sent.lab"
    script.write_text("\n".join([*lines, "export pcapng sent.pcapng"]) + "\n", encoding="utf-8")
    run = subprocess.run([rdmalab, "run", str(script)], cwd=directory, capture_output=True, text=True, check=False)
    if run.returncode:
        capture.die(f"{run.stdout}{run.stderr}")
    return [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]


def inject(opcode, payload, psn=0):
    more = "dest_qpn=1 qkey=0x80010000 src_qpn=1" if opcode.startswith("ud") else f"dest_qpn=17 psn={psn}"
    return [f"inject from=h1 to=h2 opcode={opcode} {more} hex={payload.hex()}", "run", "show packet last json"]


class Count:
    def __init__(self):
        self.passed = self.failed = 0

    def check(self, what, theirs, ours):
        if theirs == ours:
            self.passed += 1
        else:
            self.failed += 1
            print(f"{what}: tshark has {theirs!r}, show packet {ours!r}")


def fields_of(shown):
    """The values of `show packet`: those of a list in order."""
    values = {}
    for field in shown["fields"]:
        values.setdefault((field["header"], field["name"].split(" [")[0]), []).append(field["value"])
    return values


def nid_address(text):
    return text.split("@")[0]


BEHIND = ("lnet.o2ib.cookie", "lnet.rdma.key", "lnet.rdma.nfrags", "lnet.rdma_frag.size", "lnet.rdma_frag.addr")


def own_values(message, values):
    """What tshark's own dissector should have: field -> values in order."""
    out = {field: values[key][:1] for field, key in OWN.items() if key in values}
    for field, keys in OWN_OF_SEVERAL.items():
        out[field] = next((values[key][:1] for key in keys if key in values), [])
    for field in ("lnet.rdma_frag.size", "lnet.rdma_frag.addr"):
        out[field] = values.get(("o2iblnd fragment", OWN_LISTS[field]), [])
    if message.op not in (None, PUT):
        out = {field: mine for field, mine in out.items() if field not in BEHIND}
    if message.op == ACK:
        out = {field: mine for field, mine in out.items() if not field.endswith("_cookie")}
    return out


def compare_own(count, sent, shown, rows):
    """With tshark's own dissector, of little-endian messages."""
    for (message, _, _), ours, theirs in zip(sent, shown, rows):
        if message.big:
            continue
        values, kind = fields_of(ours), f"{message.kind:#x}"
        for field, mine in own_values(message, values).items():
            got = [number(v) for v in theirs[field].split(",") if v]
            count.check(f"{kind} {field}", got, [number(v) for v in mine])
        nids = [nid_address(values[key][0]) for key in OWN_LISTS["lnet.nid.addr"] if key in values]
        count.check(f"{kind} NIDs", theirs["lnet.nid.addr"].split(","), nids)


def script_fields():
    """The fields of data/o2iblnd.lua: their names, and the header and name of ours."""
    parts, _ = parts_of(ROOT)
    return {f"o2iblnd.{'' if name == 'HEAD' else name.lower() + '.'}{row[0]}": (title, row[4], row[3])
            for name, (rows, _, _, _, title) in parts.items() for row in rows}


def compare_script(count, what, ours, theirs, names):
    """With the dissector in Lua: each field is there in both, or in none."""
    values = fields_of(ours)
    for field, (header, name, form) in names.items():
        mine = values.get((header, name), [])
        got = [v for v in theirs[field].split(",") if v]
        if form == "NID":
            count.check(f"{what} {field}", got, mine)
        else:
            count.check(f"{what} {field}", [number(v) for v in got], [number(v) for v in mine])


def one_of_each(rows, field="infiniband.bth.destqp"):
    """Each frame is in the capture at both ends."""
    return [row for row in rows if row[field]][::2]


def check_single(count, rdmalab, rng):
    sent = list(messages(rng))
    refused = [(None, "ud_send_only", mad(REJ, data)) for data in rejects(rng)]
    lines = ["host h1 h2", "link h1 h2"]
    for _, opcode, payload in sent + refused:
        lines += inject(opcode, payload)
    names = script_fields()
    with tempfile.TemporaryDirectory() as directory:
        shown = run_lab(rdmalab, directory, lines)
        path = str(pathlib.Path(directory) / "sent.pcapng")
        base = ["infiniband.bth.destqp"]
        own = one_of_each(capture.tshark(path, [*base, *OWN, *OWN_OF_SEVERAL, *OWN_LISTS], lnet=True))
        script = one_of_each(capture.tshark(path, [*base, "_ws.malformed", "o2iblnd.short", *names], script=ROOT / PAGE))
    if not len(sent) + len(refused) == len(shown) == len(own) == len(script):
        capture.die(f"{len(sent) + len(refused)} messages, {len(shown)} are shown, tshark has {len(own)} and {len(script)}")
    compare_own(count, sent, shown, own)
    for (message, _, _), ours, theirs in zip(sent + refused, shown, script):
        what = "reject" if message is None else f"{message.kind:#x} {message.order}"
        count.check(f"{what} malformed", theirs["_ws.malformed"] + theirs["o2iblnd.short"], "")
        compare_script(count, what, ours, theirs, names)


def check_several(count, rdmalab, rng):
    """Messages of several packets: what the last packet has, against the values that were sent."""
    lines, sent = ["host h1 h2", "link h1 h2"], []
    for big in (False, True):
        for kind in (PUT_ACK, GET_REQ):
            message = Message(rng, kind, big, 0x12, GET, n_frags=N_FRAGS)
            pieces = [bytes(message.bytes[at:at + 1024]) for at in range(0, len(message.bytes), 1024)]
            opcodes = ["rc_send_first", *["rc_send_middle"] * (len(pieces) - 2), "rc_send_last"]
            for psn, (opcode, piece) in enumerate(zip(opcodes, pieces)):
                lines += inject(opcode, piece, psn)[:2]
            lines += inject(opcodes[1], pieces[1], 1)[:2]  # a retransmission
            sent.append((message, len(pieces)))
    with tempfile.TemporaryDirectory() as directory:
        run_lab(rdmalab, directory, lines)
        rows = capture.tshark(str(pathlib.Path(directory) / "sent.pcapng"),
                              ["o2iblnd.packets", "o2iblnd.rd.n_frags", "o2iblnd.frag.addr", "o2iblnd.short"], script=ROOT / PAGE)
    rows = one_of_each(rows, "o2iblnd.packets")
    count.check("messages of several packets", len(rows), len(sent))
    for (message, n), row in zip(sent, rows):
        at = 128 + 8 if message.kind == GET_REQ else 64 + 8
        frags = [struct.unpack_from(message.order + "IQ", message.bytes, at + 12 * i)[1] for i in range(N_FRAGS)]
        what = f"{message.kind:#x} {message.order} of {n} packets"
        count.check(what, (row["o2iblnd.packets"], row["o2iblnd.rd.n_frags"], row["o2iblnd.short"]), (str(n), str(N_FRAGS), ""))
        count.check(f"{what}: addresses", [int(v, 0) for v in row["o2iblnd.frag.addr"].split(",")], frags)


def checksum(data):
    """The sum of a message whose field is 0."""
    total = 0
    for byte in data:
        total = ((total << 1 | total >> 31) + (byte - 256 if byte > 127 else byte)) & 0xFFFFFFFF
    return total or 1


def check_checksums(count, rdmalab, rng):
    lines, wanted = ["host h1 h2", "link h1 h2"], []
    for big in (False, True):
        for wrong in (0, 1):
            message = Message(rng, PUT_REQ, big, 0x12)
            struct.pack_into(message.order + "I", message.bytes, 12, checksum(message.bytes))
            message.bytes[127] ^= wrong
            lines += inject("rc_send_only", bytes(message.bytes))
            wanted.append(bool(wrong))
    with tempfile.TemporaryDirectory() as directory:
        shown = run_lab(rdmalab, directory, lines)
        rows = capture.tshark(str(pathlib.Path(directory) / "sent.pcapng"), ["infiniband.bth.destqp", "o2iblnd.bad_cksum"],
                              script=ROOT / PAGE)
    for wrong, ours, theirs in zip(wanted, shown, one_of_each(rows)):
        value = fields_of(ours)["o2iblnd", "checksum"][0]
        count.check("checksum", (bool(theirs["o2iblnd.bad_cksum"]), "WRONG" in value, "correct" in value), (wrong, wrong, not wrong))


def main():
    if len(sys.argv) != 2:
        capture.die("usage: lnet.py RDMALAB")
    rdmalab = str(pathlib.Path(sys.argv[1]).resolve())
    rng, count = random.Random(12), Count()
    check_single(count, rdmalab, rng)
    check_several(count, rdmalab, rng)
    check_checksums(count, rdmalab, rng)
    print(f"{count.passed} passed, {count.failed} failed")
    sys.exit(count.failed > 0)


main()
