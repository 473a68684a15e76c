# SPDX-License-Identifier: MIT
"""Is what `rdmalab check` finds in a capture what has happened?

A capture has a truth: which frames were lost, doubled, held up or damaged between two devices, and what each of
these has sent.  From the frames of the three captures alone, without anything of the lab, this says

    which faults have a consequence that is seen from a place, and what must be found there;
    whether what was found is so: nothing may be invented.
"""
from dataclasses import dataclass

VANTAGES = ("a", "b", "between")
BTH_AT = {4: 28, 6: 48}  # behind the headers of IP and UDP
ANSWERS = {13, 14, 15, 16, 17, 18}  # opcodes of RC: READ responses, acknowledge, answer of an atomic
READ = 12
RESPONSES = {13, 14, 15, 16, 18}  # those of a READ or an atomic
ACKNOWLEDGE, ATOMICS = 17, {19, 20}
CARRY = {*range(12), 22, 23}  # opcodes of RC: SEND and WRITE
BEHIND = 64  # PSNs by which an answer may be behind what it is about
AGAIN = {"AGAIN_AFTER_NAK", "AGAIN_AFTER_RNR", "AGAIN_AFTER_HOLE", "AGAIN_AFTER_TIMEOUT", "AGAIN_UNEXPLAINED",
         "ANSWER_LOST", "AGAIN_IN_RNR_WAIT"}
COPIES = {"DOUBLED", "ANSWERED_TWICE"}
HARMLESS = {"RECEIVER_NOT_READY", "REFUSED", "CHANGED_PAYLOAD", "STARTS_AGAIN", "PAIRED_BY_ORDER", "NOT_ANSWERED"}


@dataclass
class Packet:
    number: int
    side: str  # who sent it
    opcode: int
    psn: int
    dest_qpn: int
    version: int
    bytes: int  # that a READ asks for

    def end(self):
        """Behind the last PSN that it takes, at a path MTU of 256: no less than what it is."""
        return self.psn + max(1, -(-self.bytes // 256))

    def is_answer(self):
        return self.opcode in ANSWERS

    def is_like(self, other):
        return (self.side, self.opcode, self.psn, self.dest_qpn) == (
            other.side, other.opcode, other.psn, other.dest_qpn)


def packets(frames, truth):
    """The RoCEv2 packets of frames of capture.read()."""
    sides = {bytes.fromhex(host["mac"].replace(":", "")): side for side, host in truth["hosts"].items()}
    found = []
    for frame in frames:
        version, packet = frame.ip()
        bth = packet[BTH_AT[version]:]
        opcode = bth[0]
        found.append(Packet(frame.number, sides.get(frame.data[6:12], "?"), opcode, int.from_bytes(bth[9:12], "big"),
                            int.from_bytes(bth[5:8], "big"), version, int.from_bytes(bth[24:28], "big") if opcode == READ else 0))
    return found


def other(side):
    return "b" if side == "a" else "a"


class Place:
    """What was captured and found at one place."""

    def __init__(self, name, seen, report):
        self.name, self.seen, self.findings = name, seen, report["findings"]
        self.of_number = {p.number: p for p in seen}
        self.asks = {(d["dst"], d["src_qpn"]): d["dst_qpn"] for c in report["connections"] for d in c["directions"]}

    def flow(self, packet):
        """The requests, or the answers, among which @packet is."""
        return [p for p in self.seen
                if (p.side, p.dest_qpn, p.is_answer()) == (packet.side, packet.dest_qpn, packet.is_answer())]

    def requests(self, packet):
        """The requests among which @packet is, or of which it answers one."""
        asker, qpn = packet.side, packet.dest_qpn
        if packet.is_answer():
            asker, qpn = other(packet.side), next((to for (_, by), to in self.asks.items() if by == packet.dest_qpn), None)
        return [p for p in self.seen if p.side == asker and not p.is_answer() and p.dest_qpn == qpn]

    def again(self, packet, behind):
        """The frame behind frame @behind in which the request with the PSN of @packet comes, not for the first time."""
        flow = self.requests(packet)
        copies = [p for p in flow if p.psn == packet.psn]
        goes_back = {p.number for before, p in zip(flow, flow[1:]) if before.psn + 1 != p.psn}
        later = [p.number for p in copies[1:] if p.number > behind and p.number in goes_back]
        return later[0] if later else None

    def has(self, kinds, first, last, psn=None):
        """Was it found in these frames, of this PSN?"""
        return any(f["finding"] in kinds and first <= f["frame"] <= last
                   and (psn is None or 0 <= psn - f["psn"] < max(1, f["n"])) for f in self.findings)


def must_be_found(fault, place, sent):
    """What must be found at @place of @fault: (kinds of findings, first frame, last frame); None: it is not seen
    there.  @sent: what the side that it happened to has sent, in its own capture."""
    at, kinds = fault["frames"], set(fault["kinds"])
    number = at[fault["from"]][0]
    packet = next(p for p in sent if p.number == number)
    here = at[place.name]
    if place.name != fault["from"] and "corrupt" in kinds:
        return {"BAD_ICRC"}, here[0], here[0]
    if place.name != fault["from"] and "duplicate" in kinds and "drop" not in kinds:
        asked_again = packet.is_answer() and packet.version == 6  # where frames have no names of their own
        return None if asked_again else (COPIES | AGAIN | {"LATE"}, here[1], here[1])
    if place.name == fault["from"]:
        again = place.again(packet, number) if "drop" in kinds or "corrupt" in kinds else None
        return (AGAIN | {"LOST_BEHIND"}, number, again) if again else None
    return missed(packet, here, place, sent)


def missed(packet, here, place, sent):
    """The same, of a packet that was lost before @place, or came there late (@here)."""
    behind = [p for p in sent if p.number > packet.number and p.dest_qpn == packet.dest_qpn
              and p.is_answer() == packet.is_answer()]
    flow = place.flow(packet)
    is_acknowledge = packet.is_answer() and packet.opcode not in RESPONSES
    if is_acknowledge or not behind or behind[0].psn <= packet.psn:
        return None  # a later one says the same, or what comes next is the same again
    follower = next((p for p in flow if p.is_like(behind[0])), None)
    if not follower or (here and follower.number > here[0]) or any(
            p.psn <= packet.psn < p.end() and p.number < follower.number for p in flow):
        return None  # the order is as it was, or the packet was not new
    return {"ANSWER_GAP" if packet.is_answer() else "GAP"}, 1, follower.number, packet.psn


def is_true(finding, truth, places, place):
    """Did what @finding says happen?"""
    kind, frame = finding["finding"], finding["frame"]
    packet = place.of_number.get(frame)
    first, n = finding["psn"], max(1, finding["n"])
    if kind in HARMLESS:
        return True
    if kind == "ANSWER_OF_OTHERS":
        return packet is not None and speaks_for_atomic(packet, place, truth)
    if finding["severity"] == "error":
        return False
    if kind == "BAD_ICRC":
        return any("corrupt" in f["kinds"] and frame in f["frames"][place.name] for f in truth["faults"]) or netem(truth)
    if kind in AGAIN:
        return (packet is not None and went_back(packet, places[packet.side])) or happened(truth, {"duplicate", "delay"}, first, 1)
    if kind == "DOUBLED":
        return happened(truth, {"duplicate", "delay"}, first, 1)
    if kind == "ANSWERED_TWICE":  # it, or something that it answers, was doubled
        return happened(truth, {"duplicate"}, first, 1) or any(
            "duplicate" in f["kinds"] and f["opcode"] not in ANSWERS and 0 <= first - f["psn"] < BEHIND for f in truth["faults"])
    if kind == "LATE":
        return happened(truth, {"delay", "duplicate"}, first, 1) or displaced(truth, packet)
    if kind == "LOST_BEHIND":  # it, or something before it that is still missing
        return happened(truth, {"drop", "delay", "corrupt"}, max(0, first - BEHIND), BEHIND + 1)
    if kind in {"GAP", "ANSWER_GAP"}:
        return happened(truth, {"drop", "delay", "corrupt"}, first, n)
    return False


def speaks_for_atomic(packet, place, truth):
    """Is it an acknowledge of a SEND or WRITE that came again, with the PSN of an atomic behind it?  rxe sends such.
    Who has sent the SEND does not see that a fault has doubled it."""
    before = [p for p in place.requests(packet) if p.number < packet.number]
    carrying = [p for p in before if p.opcode in CARRY and (packet.psn - p.psn) % (1 << 24) < 1 << 23]
    return (packet.opcode == ACKNOWLEDGE and any(p.opcode in ATOMICS and p.psn == packet.psn for p in before)
            and (any(p.is_like(q) for i, p in enumerate(carrying) for q in carrying[:i])
                 or any(happened(truth, {"duplicate"}, p.psn, 1) for p in carrying)))


def went_back(packet, sender):
    """Has the sender sent a request like @packet behind one with the same PSN, or a later one?"""
    flow = sender.flow(packet)
    return any(p.is_like(packet) and any(q.end() > p.psn for q in flow[:i]) for i, p in enumerate(flow))


def netem(truth):
    return not truth["known"]


def displaced(truth, packet):
    """A fault that held up one of the flow may make the next ones seem late."""
    return packet is not None and any({"delay", "drop"} & set(f["kinds"]) and f["from"] == packet.side
                                      for f in truth["faults"])


def happened(truth, kinds, first, n):
    """Was there a fault of @kinds that hit one of @n PSNs from @first on?"""
    return netem(truth) or any(kinds & set(f["kinds"]) and f["psn"] is not None and 0 <= f["psn"] - first < n
                               for f in truth["faults"])


def judge(name, truth, frames, reports):
    """Yields (what, "" or what is wrong, is it invisible?) for each fault and each finding, at each place."""
    seen = {v: packets(frames[v], truth) for v in VANTAGES}
    places = {v: Place(v, seen[v], reports[v]) for v in VANTAGES}
    for v, place in places.items():
        for fault in truth["faults"] if truth["known"] else []:
            if fault["psn"] is None:
                continue
            must = must_be_found(fault, place, seen[fault["from"]])
            what = f"{name} at {v}: {'+'.join(fault['kinds'])} of opcode {fault['opcode']} with PSN {fault['psn']} from {fault['from']}"
            ok = must is None or place.has(*must)
            yield what, "" if ok else f"none of {', '.join(sorted(must[0]))} in frames {must[1]} to {must[2]}", must is None
        for finding in place.findings:
            what = f"{name} at {v}: frame {finding['frame']}: {finding['finding']}: {finding['text']}"
            yield what, "" if is_true(finding, truth, places, place) else "nothing of the kind has happened", False
        of_itself = AGAIN | {"ANSWER_OF_OTHERS"}  # what a slow device repeats, and what rxe answers then: judged above
        silent = truth["faults"] or netem(truth) or all(f["severity"] == "note" or f["finding"] in of_itself
                                                        for f in place.findings)
        yield f"{name} at {v}: nothing is invented", "" if silent else "there were no faults", False
