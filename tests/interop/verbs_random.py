#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A random program for both sides of verbs_peer (docs/verbs_peer.md is the language).

usage: verbs_random.py SEED...     prints the file of these seeds

What it prints is the same in every run, however long anything takes: each message writes a place of its own,
each completion queue serves one burst of messages at a time, and whoever looks at what the other side has
changed has waited for it at a sync.  So two implementations can be held against each other line by line.

Every third seed is for a network that loses frames: RC alone, and without a mistake at the end.
"""
import itertools
import sys

import verbs_random_bursts as bursts
import verbs_random_mistakes as mistakes
from verbs_random_base import MTUS, SIDES, Dice, End, Memory, Qp, other

QKEYS = 1 << 31  # without the privileged bit
ROOM = 60000  # bytes of a burst
ROOM_LOSSY = 12000
RD_ATOMICS = [1, 1, 2, 4, 8]  # powers of two: see RD_ATOMIC_EXACT in book/rxe.md
SERVICES = {"rc": 5, "uc": 2, "ud": 2}


def is_lossy(seed):
    return seed % 3 == 0


class Program:
    def __init__(self, seed):
        self.dice = Dice(seed)
        self.lossy = is_lossy(seed)
        self.seed = seed
        self.memory = {side: Memory(self.dice) for side in SIDES}
        self.wr_id = itertools.count(1)
        self.cqs = {side: [] for side in SIDES}
        self.srqs = {side: [] for side in SIDES}
        self.mistake = not self.lossy and self.dice.chance(45)
        kinds = ["rc"] + ["rc" if self.lossy else self.dice.some(SERVICES) for _ in range(self.dice.below(4))]
        self.qps = [self.queue_pair(f"q{i}", kind) for i, kind in enumerate(kinds)]
        self.wrong = self.dice.pick(self.qps) if self.mistake else None
        self.what = self.dice.pick(mistakes.KINDS[self.wrong.kind]) if self.mistake else None
        if self.what in mistakes.HASTY_KINDS:
            self.wrong.is_patient = False

    def queue_pair(self, name, kind):
        qp = Qp(name, kind, self.dice.pick(MTUS), qkey=self.dice.below(QKEYS))
        for side in SIDES:
            qp.ends[side] = self.end(side)
        return qp

    def one_of(self, names, prefix, share):
        """An old queue or a new one."""
        if not names or not self.dice.chance(share):
            names.append(f"{prefix}{len(names)}")
            return names[-1]
        return self.dice.pick(names)

    def end(self, side):
        send_cq = self.one_of(self.cqs[side], "cq", 20)
        recv_cq = send_cq if self.dice.chance(15) else self.one_of(self.cqs[side], "cq", 20)
        srq = self.one_of(self.srqs[side], "srq", 50) if self.dice.chance(25) else ""
        return End(send_cq, recv_cq, srq, send_wr=self.dice.between(8, 24), send_sge=self.dice.between(1, 5),
                   recv_sge=self.dice.between(1, 4), inline=self.dice.pick([0, 0, 16, 64, 100, 256]),
                   sig_all=self.dice.chance(20), rd_atomic=self.dice.pick(RD_ATOMICS))

    def lines(self):
        body = list(self.body())  # says how much memory there must be
        yield f"section random_{self.seed}"
        yield "alloc_pd as pd"
        for side in SIDES:
            length = self.memory[side].end + self.dice.between(1, 5000)
            self.memory[side].end = length
            yield f"{side}: reg_mr pd len={length} access=lw,rw,rr,ra,mw as mr"
            yield f"{side}: write mr[0:{length}] pattern={2 * self.seed + SIDES.index(side)}"
        yield from self.created()
        yield "sync created"
        for qp in self.qps:
            yield from self.connected(qp)
        yield "sync connected"
        yield from body
        yield from self.ended()

    def created(self):
        for side in SIDES:
            yield from (f"{side}: create_cq cqe=256 as {cq}" for cq in self.cqs[side])
            yield from (f"{side}: create_srq pd max_wr=64 max_sge=4 as {srq}" for srq in self.srqs[side])
            for qp in self.qps:
                e = qp.ends[side]
                yield (f"{side}: create_qp pd type={qp.kind} send_cq={e.send_cq} recv_cq={e.recv_cq}"
                       f"{f' srq={e.srq}' if e.srq else ''} max_send_wr={e.send_wr} max_recv_wr=32"
                       f" max_send_sge={e.send_sge} max_recv_sge={e.recv_sge} max_inline_data={e.inline}"
                       f"{' sq_sig_all' if e.sig_all else ''} as {qp.name}")
        if any(qp.kind == "ud" for qp in self.qps):
            yield "create_ah pd dgid=peer.gid as ah"

    def connected(self, qp):
        psn = {side: 0xffffff - self.dice.below(40) if self.dice.chance(40) else self.dice.below(1 << 24)
               for side in SIDES}
        if qp.kind == "ud":
            yield f"modify_qp {qp.name} state=INIT pkey_index=0 port=1 qkey={qp.qkey:#x}"
            yield f"modify_qp {qp.name} state=RTR"
            for side in SIDES:
                yield f"{side}: modify_qp {qp.name} state=RTS sq_psn={psn[side]:#x}"
            return
        more = "" if qp.kind == "uc" else f" {self.patience(qp)}"
        for side in SIDES:
            if qp.kind == "rc":
                rd = (f" max_rd_atomic={qp.ends[side].rd_atomic}"
                      f" max_dest_rd_atomic={qp.ends[other(side)].rd_atomic}")
            yield (f"{side}: connect {qp.name} peer.{qp.name} mtu={qp.mtu} sq_psn={psn[side]:#x}"
                   f" peer_psn={psn[other(side)]:#x}{more}{rd if qp.kind == 'rc' else ''}")

    def patience(self, qp):
        if not qp.is_patient:
            return mistakes.HASTY.format(rnr=self.dice.below(3))
        return f"timeout={12 if self.lossy else 15} retry_cnt=7 rnr_retry=7 min_rnr_timer={self.dice.between(8, 14)}"

    def body(self):
        room = ROOM_LOSSY if self.lossy else ROOM
        for i in range(self.dice.between(2, 4)):
            yield from bursts.phase(self.dice, f"phase{i}", self.at_once(room))
            for qp in self.qps:
                if qp.kind == "rc" and self.dice.chance(15):
                    yield from bursts.window(self.dice, self.memory, qp, self.dice.pick(SIDES), self.wr_id, f"mw{i}",
                                             self.lossy)
                    break
        if self.mistake:
            side = self.dice.pick(SIDES)
            yield from self.what(mistakes.Mistake(self.dice, self.memory, self.wrong, side, self.wr_id))

    def at_once(self, room):
        """Bursts that use no queue together."""
        ret, used = [], set()
        for qp, side in self.dice.shuffled([(qp, side) for qp in self.qps for side in SIDES]):
            burst = bursts.Burst(qp, side)
            if used & burst.queues() or self.dice.chance(25):
                continue
            used |= burst.queues()
            maker = bursts.Maker(self.dice, self.memory, qp, side, self.wr_id, self.lossy)
            ret.append(maker.make(self.dice.between(1, 5 if self.lossy else 9), room))
        return ret

    def ended(self):
        """Nothing is left in a queue, and all memory is as it must be."""
        yield "sync ended"
        for side in SIDES:
            yield from (f"{side}: drain_cq {cq} time=1" for cq in self.cqs[side])
            yield from (f"{side}: digest mr[{start}:{end}]" for start, end in self.memory[side].known())
        gone = self.wrong if self.what is mistakes.destroyed else None
        yield from (f"destroy_qp {qp.name}" for qp in self.qps if qp is not gone)
        if any(qp.kind == "ud" for qp in self.qps):
            yield "destroy_ah ah"
        for side in SIDES:
            yield from (f"{side}: destroy_srq {srq}" for srq in self.srqs[side])
            yield from (f"{side}: destroy_cq {cq}" for cq in self.cqs[side])
        yield "dereg_mr mr"
        yield "dealloc_pd pd"
        yield "sync over"


def kind(seed):
    """What it is for: "lossy" for a network that loses frames, "mistake" with one at its end, "plain"."""
    program = Program(seed)
    return "lossy" if program.lossy else "mistake" if program.mistake else "plain"


def is_told(seed):
    """Does it end with a mistake that somebody is told of?"""
    program = Program(seed)
    return program.mistake and program.what not in mistakes.UNTOLD


def file_of(seeds):
    return "".join(line + "\n" for seed in seeds for line in Program(seed).lines())


if __name__ == "__main__":
    print(file_of(int(word) for word in sys.argv[1:]), end="")
