# SPDX-License-Identifier: MIT
"""What happens in a random program: bursts of messages, and windows.

A burst is some messages of one side of a queue pair, which are all posted before any completion is waited
for.  Each message writes a place of its own, so that the memory is the same whoever is faster.
"""
from dataclasses import dataclass, field

from verbs_random_base import GRH, cut, gathered, other, sge

ATOMICS = ("atomic_fetch_and_add", "atomic_cmp_and_swp")
OPS = {
    "rc": {"send": 4, "send_with_imm": 3, "rdma_write": 4, "rdma_write_with_imm": 3, "rdma_read": 4,
           ATOMICS[0]: 2, ATOMICS[1]: 2},
    "uc": {"send": 3, "send_with_imm": 2, "rdma_write": 3, "rdma_write_with_imm": 2},
    "ud": {"send": 1, "send_with_imm": 1},
}
RECEIVED = ("send", "send_with_imm", "rdma_write_with_imm")  # these take a receive
UC_PACKETS_MAX = 64  # of a burst: nobody slows the sender down
NUMBER = 1 << 64


@dataclass
class Burst:
    qp: object
    side: str  # that asks
    before: list = field(default_factory=list)  # lines: what must be there before
    posts: list = field(default_factory=list)
    late: list = field(default_factory=list)  # receives of the other side that are posted when it is asked already
    sent: int = 0  # completions at the side that asks
    received: int = 0  # at the other one
    changed: list = field(default_factory=list)  # (side, (from, to)) with a content that is known

    def queues(self):
        """(side, queue) that no other burst may use at the same time."""
        x, y = self.qp.ends[self.side], self.qp.ends[other(self.side)]
        return {(self.side, x.send_cq), (other(self.side), y.recv_cq), (other(self.side), y.srq or y.recv_cq)}

    def polls(self):
        x, y = self.qp.ends[self.side], self.qp.ends[other(self.side)]
        if self.sent:
            yield f"{self.side}: poll_cq {x.send_cq} count={self.sent}"
        if self.received:
            yield f"{other(self.side)}: poll_cq {y.recv_cq} count={self.received}"


class Maker:
    """Makes a burst message by message."""

    def __init__(self, dice, memory, qp, side, wr_id, lossy):
        self.dice, self.qp, self.side, self.wr_id = dice, qp, side, wr_id
        self.late = qp.kind == "rc" and not lossy and qp.is_patient and dice.chance(20)  # receives, from some message on
        # Where requests are repeated rxe of Linux 6.1 may wait at a fence for ever.
        self.fences = qp.kind == "rc" and not lossy and not self.late
        self.lossy, self.carried = lossy, False  # carried: the burst has a SEND or WRITE
        self.mine, self.theirs = memory[side], memory[other(side)]
        self.x, self.y = qp.ends[side], qp.ends[other(side)]
        self.burst = Burst(qp, side)
        self.written, self.read, self.cells = [], [], []  # slices of theirs, of mine, [slice, number] of theirs

    def make(self, n, room):
        """At most @n messages of @room bytes together."""
        packets = 0
        n = min(n, self.x.send_wr)
        for i in range(n):
            last = i == n - 1
            op = self.dice.some(OPS[self.qp.kind])
            while last and self.qp.kind == "uc" and op not in RECEIVED:  # who else tells that all has arrived?
                op = self.dice.some(OPS[self.qp.kind])
            size = 8 if op in ATOMICS else self.qp.sizes(self.dice, room)
            if self.qp.kind == "uc" and packets + size // self.qp.mtu > UC_PACKETS_MAX:
                size = 1
            room -= size
            packets += size // self.qp.mtu + 1
            self.message(op, size, last)
        return self.burst

    def message(self, op, size, last):
        wr_id = next(self.wr_id)
        after = ()
        if op in RECEIVED:
            self.receive(wr_id, op, size)
        if op in ATOMICS:
            words = self.atomic(op)
        elif op == "rdma_read":
            words = self.reading(size)
        else:
            words, after = self.carrying(op, size)
        if op.endswith("_imm"):
            words += f" imm={self.dice.below(1 << 32):#x}"
        if self.qp.kind == "ud":
            words += f" ah=ah remote_qpn=peer.{self.qp.name} remote_qkey={self.qp.qkey:#x}"
        if last or self.dice.chance(50):
            words += " signaled"
        self.burst.sent += self.x.sig_all or words.endswith(" signaled")
        if self.dice.chance(15):
            words += " solicited"
        self.burst.posts.append(f"{self.side}: post_send {self.qp.name} wr_id={wr_id} op={op}{words}")
        self.burst.posts += after

    def receive(self, wr_id, op, size):
        pieces = []
        if op != "rdma_write_with_imm":
            size += GRH if self.qp.kind == "ud" else 0
            more = self.dice.below(50) if self.dice.chance(40) else 0
            pieces = cut(self.dice, self.theirs.place(size + more), self.y.recv_sge)
            self.burst.changed.append((other(self.side), (pieces[0][0], pieces[-1][1])))
        elif self.dice.chance(30):
            pieces = [self.theirs.place(8)]  # nothing gets there
        if self.qp.kind == "ud":
            area = (pieces[0][0], pieces[0][0] + GRH)
            self.theirs.unknown.append(area)
            self.burst.changed[-1] = (other(self.side), (area[1], pieces[-1][1]))
        post = f"post_srq_recv {self.y.srq}" if self.y.srq else f"post_recv {self.qp.name}"
        when = self.burst.before
        if self.late and (self.burst.late or self.dice.chance(40)):
            when = self.burst.late
            if not when:
                when.append(f"{other(self.side)}: sleep {self.dice.between(1, 8)}")
        when.append(f"{other(self.side)}: {post} wr_id={wr_id}{sge(pieces)}")
        self.burst.received += 1

    def carrying(self, op, size):
        """What a SEND or WRITE takes along, and lines behind it."""
        words, after = "", []
        self.carried = True
        pieces = gathered(self.dice, self.mine, size, self.x.send_sge)
        if size <= self.x.inline and self.dice.chance(60):
            pieces = cut(self.dice, self.mine.place(size), self.x.send_sge)
            words = " inline"  # copied now: what is written there later does not matter
            after = [f"{self.side}: write mr[{pieces[0][0]}:{pieces[-1][1]}] fill=0x5a"] if size else []
        elif self.fences and self.read and self.dice.chance(40):
            start, end = self.dice.pick(self.read)
            if size <= end - start:
                pieces = [(start, start + size)]
                words = " fence"
        elif self.fences and self.dice.chance(10):
            words = " fence"
        if op.startswith("rdma_write"):
            at = self.theirs.place(size)
            self.written.append(at)
            self.burst.changed.append((other(self.side), at))
            words = f" remote=peer.mr[{at[0]}]" + words
        return sge(pieces) + words, after

    def reading(self, size):
        """From what never changes, or from what an earlier WRITE of this burst has written."""
        remote = self.theirs.source(size)
        if self.written and self.dice.chance(30):
            start, end = self.dice.pick(self.written)
            at = self.dice.between(start, end)
            remote = (at, min(at + size, end))
        place = self.mine.place(remote[1] - remote[0])
        pieces = cut(self.dice, place, self.x.send_sge)
        self.read += pieces
        self.burst.changed.append((self.side, place))
        return f"{sge(pieces)} remote=peer.mr[{remote[0]}]{' fence' * (self.fences and self.dice.chance(15))}"

    def atomic(self, op):
        """On one of a few numbers of the other side, which only this burst changes."""
        if not self.cells or self.dice.chance(30):
            cell = self.theirs.place(8, align=8)
            number = self.dice.below(NUMBER)
            self.cells.append([cell, number])
            self.burst.before.append(f"{other(self.side)}: write mr[{cell[0]}:{cell[1]}] number={number}")
            self.burst.changed.append((other(self.side), cell))
        which = self.dice.below(len(self.cells))
        cell, number = self.cells[which]
        place = self.mine.place(8)
        if self.lossy and self.carried:
            # rxe acknowledges a repeated SEND or WRITE with the PSN of an atomic behind it, whose answer is then not
            # waited for: the number that was there before may never come.
            self.mine.unknown.append(place)
        else:
            self.burst.changed.append((self.side, place))
        value = self.dice.below(NUMBER) if self.dice.chance(70) else self.dice.below(4)
        if op == "atomic_fetch_and_add":
            self.cells[which][1] = (number + value) % NUMBER
            words = f"add={value}"
        else:
            compare = number if self.dice.chance(60) else self.dice.below(NUMBER)
            self.cells[which][1] = value if compare == number else number
            words = f"compare={compare} swap={value}"
        return f" sge=mr[{place[0]}:{place[1]}] remote=peer.mr[{cell[0]}] {words}"


def digests(changed):
    for side, (start, end) in changed:
        if start < end:
            yield f"{side}: digest mr[{start}:{end}]"


def phase(dice, name, bursts):
    """The lines of some bursts at once."""
    for line in dice.merged([b.before for b in bursts]):
        yield line
    yield f"sync {name}"
    for line in dice.merged([*(b.posts for b in bursts), *(b.late for b in bursts)]):
        yield line
    for b in dice.shuffled(bursts):
        yield from b.polls()
    yield f"sync {name}_done"
    yield from digests(c for b in bursts for c in b.changed)


def window(dice, memory, qp, side, wr_id, name, lossy):
    """@side lets the other one reach a part of its memory for a while.  Where frames come twice it is not read:
    who asks for it again when it is gone has made a mistake.
    """
    y, peer = qp.ends[side], other(side)
    x = qp.ends[peer]
    number = dice.pick([1, 2])
    size = dice.between(1, 3 * qp.mtu)
    shown = memory[side].place(size)
    inner = dice.below(size)
    target = (shown[0] + inner, shown[1])
    bind = f"mw={name} bind=mr[{shown[0]}:{shown[1]}] access=rw,rr"
    yield f"{side}: alloc_mw pd type={number} as {name}"
    if number == 1:
        yield f"{side}: bind_mw {qp.name} wr_id={next(wr_id)} {bind} signaled"
    else:
        yield f"{side}: post_send {qp.name} wr_id={next(wr_id)} op=bind_mw {bind} key={dice.below(256)} signaled"
    yield f"{side}: poll_cq {y.send_cq}"
    yield f"sync {name}_bound"
    pieces = gathered(dice, memory[peer], target[1] - target[0], x.send_sge)
    back = memory[peer].place(target[1] - target[0])
    reach = f"remote=peer.{name}[{inner}] signaled"
    yield f"{peer}: post_send {qp.name} wr_id={next(wr_id)} op=rdma_write{sge(pieces)} {reach}"
    if not lossy:
        yield f"{peer}: post_send {qp.name} wr_id={next(wr_id)} op=rdma_read{sge([back])} {reach}"
    yield f"{peer}: poll_cq {x.send_cq} count={1 if lossy else 2}"
    if number == 2:
        yield from invalidated(dice, qp, side, wr_id, name)
    yield f"sync {name}_done"
    yield f"{side}: dealloc_mw {name}"
    yield from digests([(side, shown), (peer, back)])


def invalidated(dice, qp, side, wr_id, name):
    """The window goes back, by its owner or with a message of the other side."""
    peer = other(side)
    x, y = qp.ends[peer], qp.ends[side]
    wr = next(wr_id)
    if dice.chance(40):
        yield f"sync {name}_used"
        yield f"{side}: post_send {qp.name} wr_id={wr} op=local_inv inv={name} signaled"
        yield f"{side}: poll_cq {y.send_cq}"
        return
    post = f"post_srq_recv {y.srq}" if y.srq else f"post_recv {qp.name}"
    yield f"{side}: {post} wr_id={wr}"
    yield f"sync {name}_used"
    yield f"{peer}: post_send {qp.name} wr_id={wr} op=send_with_inv inv=peer.{name} signaled"
    yield f"{peer}: poll_cq {x.send_cq}"
    yield f"{side}: poll_cq {y.recv_cq}"
