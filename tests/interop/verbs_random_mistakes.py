# SPDX-License-Identifier: MIT
"""The mistake at the end of some random programs: who is told what, and what is not done.

Each has a queue pair of its own, which was connected for it (options()) and may have been used before.
"""
from verbs_random_base import GRH, UD_MTU, gathered, other, sge

HASTY = "timeout=14 retry_cnt=3 rnr_retry={rnr} min_rnr_timer=12"
AFTER_MAX = 3  # requests behind the wrong one
BEFORE_MAX = 2  # requests before it, and receives that wait at the other side


class Mistake:
    def __init__(self, dice, memory, qp, side, wr_id):
        self.dice, self.memory, self.qp, self.side, self.wr_id = dice, memory, qp, side, wr_id
        self.peer = other(side)
        self.x, self.y = qp.ends[side], qp.ends[self.peer]
        self.mine, self.theirs = memory[side], memory[self.peer]

    def post(self, words):
        return f"{self.side}: post_send {self.qp.name} wr_id={next(self.wr_id)} {words} signaled"

    def receive(self, words=""):
        post = f"post_srq_recv {self.y.srq}" if self.y.srq else f"post_recv {self.qp.name}"
        return f"{self.peer}: {post} wr_id={next(self.wr_id)}{words}"

    def write(self, certain=True):
        """A request with nothing wrong about it.  Not @certain: nobody can tell whether it is carried out."""
        size = self.dice.below(2 * self.qp.mtu)
        at = self.theirs.place(size)
        if not certain:
            self.theirs.unknown.append(at)
        return f"op=rdma_write{sge(gathered(self.dice, self.mine, size, self.x.send_sge))} remote=peer.mr[{at[0]}]"

    def remote(self, op, target, more=""):
        """A WRITE, READ or atomic of some bytes that @target says."""
        if op == "rdma_write":
            words = sge([self.mine.source(self.dice.between(1, 2 * self.qp.mtu))])
        elif op == "rdma_read":
            words = sge([self.mine.place(self.dice.between(1, 2 * self.qp.mtu))])
        else:
            words = sge([self.mine.place(8)]) + (" add=1" if op.endswith("add") else " compare=0 swap=1")
        return f"op={op}{words} remote={target}{more}"

    def refused(self, bad, told, at_once=True, receives=(), late=False, before=True):
        """Posts @bad between requests that are right.  @told: the other side is, and its receives end.
        @at_once: what came before it may still be under way.  @late: it goes wrong so late that what stands
        behind it may have been carried out, though it is flushed.  @before: something can succeed before it.
        """
        send_cq, recv_cq = self.x.send_cq, self.y.recv_cq
        waiting = len(receives) if self.y.srq else len(receives) + self.dice.below(BEFORE_MAX + 1)
        yield from receives
        for _ in range(waiting - len(receives)):
            yield self.receive(sge([self.theirs.place(8)]))
        yield "sync mistake"
        before = [self.post(self.write()) for _ in range(before * self.dice.below(BEFORE_MAX + 1))]
        after = [self.post(self.write(certain=not late)) for _ in range(self.dice.below(AFTER_MAX + 1))]
        yield from before
        if not at_once and before:
            yield f"{self.side}: poll_cq {send_cq} count={len(before)}"
        yield self.post(bad)
        yield from after
        yield f"{self.side}: poll_cq {send_cq} count={len(after) + 1 + len(before) * at_once}"
        yield self.post(self.write())  # it is flushed
        yield f"{self.side}: poll_cq {send_cq}"
        yield "sync mistaken"
        if told and waiting:
            yield f"{self.peer}: poll_cq {recv_cq} count={waiting}"


REMOTE = ("rdma_write", "rdma_read", "atomic_fetch_and_add", "atomic_cmp_and_swp")


def bad_rkey(m):
    op = m.dice.pick(REMOTE)
    at = m.theirs.place(4 * m.qp.mtu, align=8)
    yield from m.refused(m.remote(op, f"peer.mr[{at[0]}]", " rkey=1"), told=True)


def no_access(m):
    """The region allows nothing to the peer."""
    op = m.dice.pick(REMOTE)
    yield f"{m.peer}: reg_mr pd len=16384 access=lw as closed"
    yield "sync closed"
    yield from m.refused(m.remote(op, "peer.closed[0]"), told=True)
    yield f"{m.peer}: check closed[0:16384] fill=0"
    yield f"{m.peer}: dereg_mr closed"


def no_qp_access(m):
    """The queue pair allows nothing to the peer any more, though the region does."""
    op = m.dice.pick(REMOTE)
    at = m.theirs.place(4 * m.qp.mtu, align=8)
    yield f"{m.peer}: modify_qp {m.qp.name} access=0"
    yield "sync closed"
    yield from m.refused(m.remote(op, f"peer.mr[{at[0]}]"), told=True, before=False)


def bad_inv(m):
    """A key that nobody can make invalid: that of an ordinary region.  The message has arrived by then."""
    size = m.dice.between(1, 2 * m.qp.mtu)
    at = m.theirs.place(size)
    yield from m.refused(f"op=send_with_inv{sge([m.mine.source(size)])} inv=peer.mr", told=True,
                         receives=[m.receive(sge([at]))])


def out_of_range(m):
    op = m.dice.pick(REMOTE)
    yield f"{m.peer}: reg_mr pd len=1000 access=lw,rw,rr,ra as short"
    yield "sync short"
    bad = m.remote(op, "peer.short[1000]")
    yield from m.refused(bad, told=True)
    yield f"{m.peer}: check short[0:1000] fill=0"
    yield f"{m.peer}: dereg_mr short"


def unaligned(m):
    op = m.dice.pick(REMOTE[2:])
    at = m.theirs.place(16, align=8)
    yield from m.refused(m.remote(op, f"peer.mr[{at[0] + m.dice.between(1, 7)}]"), told=True)


def too_small(m):
    """What of the message arrives before it is found too long nobody promises."""
    size = m.dice.between(2, 3 * m.qp.mtu)
    at = m.theirs.place(m.dice.below(size))
    m.theirs.unknown.append(at)
    op = m.dice.pick(["send", "send_with_imm imm=0x77"])
    yield from m.refused(f"op={op}{sge([m.mine.source(size)])}", told=True, receives=[m.receive(sge([at]))])


def bad_receive(m):
    """The receive has a key that is not one."""
    at = m.theirs.place(m.qp.mtu)
    m.theirs.unknown.append(at)
    yield from m.refused(f"op=send{sge([m.mine.source(m.dice.between(1, m.qp.mtu))])}", told=True,
                         receives=[m.receive(sge([at]) + " lkey=1")])


def bad_lkey(m):
    at = m.theirs.place(m.qp.mtu)
    yield from m.refused(f"op=rdma_write{sge([m.mine.source(m.qp.mtu)])} lkey=1 remote=peer.mr[{at[0]}]", told=False,
                         at_once=False)


def closed_sink(m):
    """What a READ brings must not be written where it goes."""
    yield f"{m.side}: reg_mr pd len=4096 access=rr as readonly"
    at = m.theirs.source(64)
    yield from m.refused(f"op=rdma_read sge=readonly[0:64] remote=peer.mr[{at[0]}]", told=False, at_once=False,
                         late=True)
    yield f"{m.side}: check readonly[0:4096] fill=0"
    yield f"{m.side}: dereg_mr readonly"


def no_receive(m):
    """The other side has no receive, and the sender does not ask for ever."""
    n = m.dice.between(1, 3)
    yield "sync mistake"
    for _ in range(n):
        yield m.post(f"op=send{sge([m.mine.source(m.dice.below(2 * m.qp.mtu))])}")
    yield f"{m.side}: poll_cq {m.x.send_cq} count={n}"
    yield "sync mistaken"


def destroyed(m):
    """The other side has destroyed its queue pair."""
    n = m.dice.between(1, 3)
    op = m.dice.pick(REMOTE)
    at = m.theirs.place(4 * m.qp.mtu, align=8)
    yield f"{m.peer}: destroy_qp {m.qp.name}"
    yield "sync destroyed"
    yield m.post(m.remote(op, f"peer.mr[{at[0]}]"))
    for _ in range(n - 1):
        yield m.post(m.write())
    yield f"{m.side}: poll_cq {m.x.send_cq} count={n}"
    yield f"{m.side}: destroy_qp {m.qp.name}"
    yield "sync mistaken"


def uc_silent(m):
    """A wrong key and a missing receive: nobody is told, and what follows arrives."""
    at = m.theirs.place(m.qp.mtu)
    told, good = m.mine.place(100), m.theirs.place(100)
    yield f"{m.side}: write mr[{told[0]}:{told[1]}] pattern=77"
    yield "sync mistake"
    yield m.post(f"op=rdma_write{sge([m.mine.source(m.dice.between(1, m.qp.mtu))])} remote=peer.mr[{at[0]}] rkey=1")
    yield m.post(f"op=send{sge([m.mine.source(m.dice.below(2 * m.qp.mtu))])}")
    yield f"{m.side}: poll_cq {m.x.send_cq} count=2"
    yield "sync lost"
    yield m.post(f"op=rdma_write{sge([told])} remote=peer.mr[{good[0]}]")
    yield f"{m.side}: poll_cq {m.x.send_cq}"
    yield f"{m.peer}: await mr[{good[0]}:{good[1]}] pattern=77"
    yield m.receive()
    yield "sync mistaken"
    yield m.post("op=send_with_imm imm=0x1234")
    yield f"{m.side}: poll_cq {m.x.send_cq}"
    yield f"{m.peer}: poll_cq {m.y.recv_cq}"


def uc_too_small(m):
    """A message that is longer than its receive."""
    size = m.dice.between(2, 3 * m.qp.mtu)
    at = m.theirs.place(m.dice.below(size))
    m.theirs.unknown.append(at)
    yield m.receive(sge([at]))
    yield "sync mistake"
    yield m.post(f"op=send{sge([m.mine.source(size)])}")
    yield f"{m.side}: poll_cq {m.x.send_cq}"
    yield "sync mistaken"
    yield f"{m.peer}: drain_cq {m.y.recv_cq} time=50"


def ud_too_small(m):
    """A datagram that is longer than its receive."""
    size = m.dice.between(1, 1000)
    at = m.theirs.place(GRH + size - 1)
    m.theirs.unknown.append(at)
    yield m.receive(sge([at]))
    yield "sync mistake"
    yield m.post(f"op=send{sge([m.mine.source(size)])} ah=ah remote_qpn=peer.{m.qp.name} remote_qkey={m.qp.qkey:#x}")
    yield f"{m.side}: poll_cq {m.x.send_cq}"
    yield "sync mistaken"
    yield f"{m.peer}: drain_cq {m.y.recv_cq} time=50"


def ud_too_long(m):
    """A datagram that is longer than the port's MTU: it is sent with success, and nothing arrives."""
    place = m.theirs.place(GRH + 5000)
    yield m.receive(sge([place]))
    yield "sync mistake"
    yield m.post(f"op=send{sge([m.mine.source(UD_MTU + 1)])} ah=ah remote_qpn=peer.{m.qp.name}"
                 f" remote_qkey={m.qp.qkey:#x}")
    yield f"{m.side}: poll_cq {m.x.send_cq}"
    yield "sync mistaken"
    yield f"{m.peer}: drain_cq {m.y.recv_cq} time=50"


def ud_silent(m):
    """A wrong Q_Key: it is as if nothing was sent."""
    first, second = m.theirs.place(GRH + 64), m.theirs.place(GRH + 64)
    m.theirs.unknown += [(first[0], first[0] + GRH), (second[0], second[0] + GRH)]
    yield m.receive(sge([first]))
    yield m.receive(sge([second]))
    yield "sync mistake"
    for i, qkey in enumerate([m.qp.qkey, m.qp.qkey ^ 1, m.qp.qkey]):
        yield m.post(f"op=send_with_imm{sge([m.mine.source(m.dice.below(65))])} imm={i} ah=ah"
                     f" remote_qpn=peer.{m.qp.name} remote_qkey={qkey:#x}")
    yield f"{m.side}: poll_cq {m.x.send_cq} count=3"
    yield f"{m.peer}: poll_cq {m.y.recv_cq} count=2"
    yield "sync mistaken"


UNTOLD = (uc_silent, ud_silent, ud_too_long)  # these end with success at both sides
HASTY_KINDS = (bad_inv, no_receive, destroyed)
KINDS = {
    "rc": [bad_rkey, bad_rkey, no_access, no_qp_access, bad_inv, out_of_range, unaligned, too_small, too_small, bad_receive, bad_lkey,
           closed_sink, no_receive, destroyed],
    "uc": [uc_silent, uc_too_small],
    "ud": [ud_silent, ud_too_small, ud_too_long],
}
