# SPDX-License-Identifier: MIT
"""What the random programs of verbs_random.py are made of: dice, memory, queue pairs."""
from dataclasses import dataclass, field

SIDES = "ab"
MTUS = [256, 512, 1024, 2048, 4096]
BIG = 65536
SOURCE = BIG + 4096  # bytes at the beginning of a region that nobody writes: all messages come from there
GRH = 40
UD_MTU = 4096  # of the port: datagrams know no path MTU
WORD = (1 << 64) - 1


class Dice:
    """SplitMix64: the same numbers with every version of Python."""

    def __init__(self, seed):
        self.state = seed * 0xd1342543de82ef95 & WORD
        self.below(2)  # close seeds begin alike

    def below(self, n):
        self.state = (self.state + 0x9e3779b97f4a7c15) & WORD
        z = self.state
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9 & WORD
        z = (z ^ z >> 27) * 0x94d049bb133111eb & WORD
        return (z ^ z >> 31) % n

    def between(self, least, most):
        return least + self.below(most - least + 1)

    def chance(self, percent):
        return self.below(100) < percent

    def pick(self, things):
        return things[self.below(len(things))]

    def some(self, weights):
        """A key of @weights, {key: how often}."""
        at = self.below(sum(weights.values()))
        for key, weight in weights.items():
            at -= weight
            if at < 0:
                return key
        raise AssertionError

    def shuffled(self, things):
        left, ret = list(things), []
        while left:
            ret.append(left.pop(self.below(len(left))))
        return ret

    def merged(self, rows):
        """All of several rows in one, each in its order."""
        left = [list(row) for row in rows if row]
        while left:
            row = self.pick(left)
            yield row.pop(0)
            left = [r for r in left if r]


class Memory:
    """The region mr of a side: bytes that are only read, then places that one message each writes."""

    def __init__(self, dice):
        self.dice = dice
        self.end = SOURCE
        self.unknown = []  # (from, to): what is there nobody can tell

    def source(self, size):
        at = self.dice.below(SOURCE - size + 1)
        return (at, at + size)

    def place(self, size, align=1):
        """With a gap before it, in which a byte too much would be found."""
        at = self.end + self.dice.between(1, 16)
        at += -at % align
        self.end = at + size
        return (at, at + size)

    def known(self):
        """(from, to) of everything that is the same in every run."""
        at = 0
        for start, end in sorted(self.unknown):
            if at < start:
                yield (at, start)
            at = end
        yield (at, self.end)


def cut(dice, slice_, most):
    """@slice_ in at most @most pieces; a few are empty."""
    start, end = slice_
    n = dice.between(1, most) if dice.chance(60) else 1
    cuts = sorted(dice.between(start, end) for _ in range(n - 1))
    return list(zip([start, *cuts], [*cuts, end]))


def gathered(dice, memory, size, most):
    """Pieces of @size bytes together that come from anywhere."""
    return [memory.source(end - start) for start, end in cut(dice, (0, size), most)]


def sge(pieces):
    """The word of a line; no bytes at all are no word."""
    if all(start == end for start, end in pieces):
        return ""
    return " sge=" + ",".join(f"mr[{start}:{end}]" for start, end in pieces)


@dataclass
class End:
    """What one side's queue pair has."""
    send_cq: str
    recv_cq: str
    srq: str
    send_wr: int
    send_sge: int
    recv_sge: int
    inline: int
    sig_all: bool
    rd_atomic: int = 1  # READs and atomics that it has under way


@dataclass
class Qp:
    name: str
    kind: str  # rc, uc, ud
    mtu: int
    ends: dict = field(default_factory=dict)  # of "a", "b"
    qkey: int = 0
    is_patient: bool = True  # does it ask again and again when there is no receive?

    def sizes(self, dice, room):
        """A size of a message, of at most @room bytes."""
        mtu = self.mtu
        edges = [0, 1, 2, 3, 4, 5, 7, 8, 9, 63, 64, 65, 255, mtu - 1, mtu, mtu + 1, mtu + 3]
        if self.kind == "ud":
            edges = [size for size in edges if size <= UD_MTU] + [UD_MTU]
        else:
            edges += [2 * mtu - 1, 2 * mtu, 2 * mtu + 1, 3 * mtu + 1, 4 * mtu]
        size = dice.pick(edges) if dice.chance(70) else dice.below(3 * mtu if self.kind != "ud" else UD_MTU)
        if self.kind == "rc" and mtu >= 1024 and dice.chance(4):
            size = dice.pick([BIG - 1, BIG])
        return size if size <= room else dice.below(room + 1)


def other(side):
    return "b" if side == "a" else "a"
