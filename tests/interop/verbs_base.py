# SPDX-License-Identifier: MIT
"""What the lines of every section of verbs_lines.py are made of."""
from dataclasses import dataclass

LOSSES = (0, 1, 10)  # per cent
PLACE = 16384  # bytes between the places of two messages: more than 3 * 4096 + 1
PLACES = 14
BIG_PLACE = PLACES * PLACE
BIG = 1 << 20
MR_BYTES = BIG_PLACE + BIG + PLACE
HUGE = 16 << 20  # takes long enough to be interrupted
QKEY = 0x11223344
GROUP = {"ipv4": "239.7.7.7", "ipv6": "ff15::7:7:7"}
UD_MTU = 4096  # of the port: datagrams know no path MTU
GRH = 40
CONNECTED = "timeout=12 retry_cnt=7 rnr_retry=7"
# Of 1 MiB in small packets many are under way at a time.  A lost response of a READ is asked for again while
# the rest of the stream still comes, and rxe answers only behind it: without KVM 4,096 packets take 200 ms.
# Each timeout meanwhile queues another stream, and eight in a row end the READ.  This is 134 ms.
PATIENT = "timeout=15 retry_cnt=7 rnr_retry=7"
IMPATIENT = "timeout=12 retry_cnt=3 rnr_retry=0"  # where nobody answers


@dataclass
class To:
    """What the lines depend on."""
    mtu: int
    loss: int
    ip: str

    def sizes(self):
        return [0, 1, 3, self.mtu - 1, self.mtu, self.mtu + 1, 3 * self.mtu + 1]


def sge(at, size):
    return f" sge=mr[{at}:{at + size}]" if size else ""


def patience(messages):
    return PATIENT if any(size == BIG for _, _, size in messages) else CONNECTED


def places(sizes):
    """(number, offset, size) of each message."""
    return [(i, i * PLACE, size) for i, size in enumerate(sizes)]


def queues():
    """Each section has its own: rxe leaves the completions of a queue pair that is destroyed."""
    yield "create_cq cqe=64 as scq"
    yield "create_cq cqe=64 as rcq"


def pair(to, options=CONNECTED, kind="rc", b_options="", create=""):
    """Two connected queue pairs, and their memory all zero."""
    yield from queues()
    yield f"create_qp pd type={kind} send_cq=scq recv_cq=rcq{create} as qp"
    yield f"write mr[0:{MR_BYTES}] fill=0"
    yield "sync created"
    yield f"a: connect qp peer.qp mtu={to.mtu} {options}"
    yield f"b: connect qp peer.qp mtu={to.mtu} {options}{b_options}"
    yield "sync connected"


def end():
    yield "sync done"
    yield "destroy_qp qp"
    yield from queues_end()


def queues_end():
    yield "destroy_cq scq"
    yield "destroy_cq rcq"


def written(side, messages, first_seed):
    for i, at, size in messages:
        if size:
            yield f"{side}: write mr[{at}:{at + size}] pattern={first_seed + i}"


def checked(side, messages, first_seed):
    """What arrived, and that nothing else did up to the next place."""
    for i, at, size in messages:
        if size:
            yield f"{side}: check mr[{at}:{at + size}] pattern={first_seed + i}"
        if size < PLACE:
            yield f"{side}: check mr[{at + size}:{at + PLACE}] fill=0"


def received(messages):
    for i, at, size in messages:
        yield f"b: post_recv qp wr_id={i} sge=mr[{at}:{at + max(size, PLACE)}]"
