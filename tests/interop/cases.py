# SPDX-License-Identifier: MIT
"""What is tried: each case is one run of a program between rxe and the lab."""
from dataclasses import dataclass

import connections
import verbs_random

SIZES = [1, 64, 4095, 4096, 65536, 1 << 20]
DATAGRAM_SIZES = [1, 64, 2048, 4095, 4096]  # of UD: one packet of the port
MTUS = [256, 512, 1024, 2048, 4096]
LOSSES = [0, 1, 10]  # per cent, in each direction
IPS = ["ipv4", "ipv6"]
CLIENTS = ["rxe", "lab"]  # the other one is the server
PROFILES = ["rxe", "iba"]  # of the lab's host; a second rxe in its place is like rxe always
DEVICE_MTU = 4300  # of the network interface; rxe needs 80 bytes more than the path MTU

FIRST_PSN_BEFORE_WRAP = 0xFFFFFD
# Unmodified programs: on rxe, and by `rdmalab exec` on a host of the lab.
EXAMPLES = ["rc_message", "one_sided", "datagram", "shared_receives", "events"]
PERFTEST = ["ib_send_bw", "ib_write_bw", "ib_read_bw", "ib_atomic_bw",
            "ib_send_lat", "ib_write_lat", "ib_read_lat", "ib_atomic_lat"]
UNMODIFIED_SECONDS_MAX = 120
CONNECTED_SECONDS_MAX = 300
UNMODIFIED_LOSS = 1
UNMODIFIED_ITERATIONS = 100
UNMODIFIED_ITERATIONS_LOSSY = 30  # of messages of many packets
ATOMIC_SIZE = 8
# With -e perftest polls 16 completions for each event, and if there are more it waits for ever.
PERFTEST_SPECIAL = [  # program, size, options; and what is not as usual
    ("ib_send_bw", 1024, "-c UD", {}), ("ib_send_lat", 1024, "-c UD", {}), ("ib_send_bw", 4096, "-c UC", {}),
    ("ib_write_lat", 4096, "-c UC", {}), ("ib_send_bw", 4096, "-e -t 16", {}), ("ib_send_bw", 4096, "--use-srq", {}),
    ("ib_write_bw", 65536, "-b", {}), ("ib_write_bw", 1 << 20, "-t 4", {"mtu": 4096, "iterations": 20}),
    ("ib_atomic_bw", ATOMIC_SIZE, "-A CMP_AND_SWAP", {})]

REPEATED = 5  # measurements of each kind
VERBS_SECONDS_MAX = 120
RANDOM_SECONDS_MAX = 60  # and some for each seed
RANDOM_LOSS = 2  # per cent, where a seed is one for losses
RANDOM_AT_ONCE = 10  # programs in one pair of processes
RANDOM_QUICK = range(1, 7)
RANDOM_FULL = range(1, 201)

# Both directions together.  A lost frame costs rxe a tenth of a second if nothing follows that could
# be refused, so with much loss fewer frames are enough.
PACKETS_WANTED = {0: 2000, 1: 1000, 10: 300}
ITERATIONS_MAX = {0: 200, 1: 200, 10: 30}
MESSAGE_PACKETS_MAX = {0: 4096, 1: 4096, 10: 1024}


@dataclass(frozen=True)
class Case:
    program: str  # rc_pingpong, uc_pingpong, ud_pingpong, srq_pingpong, verbs, random, ping, speed, rdmacm, an unmodified one
    client: str
    ip: str
    size: int = 0
    mtu: int = 1024
    loss: int = 0
    iterations: int = 0
    first_psn: int = -1  # of both sides; -1: whatever the program chooses
    options: str = ""  # more of the program's options, for both sides
    device_mtu: int = DEVICE_MTU
    attempt: int = 0  # of repeated measurements
    baseline: bool = False  # between two rxe devices, for comparison
    profile: str = ""  # of the lab's host, if the case says it
    big: bool = True  # with messages of 1 MiB, where verbs has some
    seeds: tuple = ()  # of random: one program behind the other
    executed: bool = False  # the lab's side is a program on libibverbs, by `rdmalab exec`

    def name(self):
        parts = [self.program, f"{self.client}_client", self.ip]
        if self.size:
            parts += [f"{self.size}B", f"mtu{self.mtu}", f"loss{self.loss}"]
        elif self.program == "verbs":
            parts += [f"mtu{self.mtu}", f"loss{self.loss}"] + ["no1m"] * (not self.big)
        elif self.program == "random":
            parts += [f"loss{self.loss}", f"seeds{'_'.join(str(s) for s in self.seeds)}"]
        if self.first_psn >= 0:
            parts.append("psn_wrap")
        if self.options:
            parts.append(self.options.replace("-", "").replace(" ", ""))
        if self.device_mtu != DEVICE_MTU:
            parts.append(f"device_mtu{self.device_mtu}")
        if self.profile == "iba":
            parts.append(self.profile)
        if self.executed and self.program == "verbs":
            parts.append("exec")
        if self.baseline:
            parts.append("baseline")
        if self.attempt:
            parts.append(str(self.attempt))
        return "-".join(parts)

    def server(self):
        return "lab" if self.client == "rxe" else "rxe"

    def original(self):
        """The program of rdma-core that this is about."""
        return "ibv_" + ("rc_pingpong" if self.program == "speed" else self.program)

    def has_mtu(self):
        """Has the program an option for the path MTU?  UD takes the port's."""
        return self.program != "ud_pingpong"

    def is_latency(self):
        """Does this measure how long one packet after the other takes, and nothing else?"""
        return self.size <= self.mtu and "-e" not in self.options

    def is_example(self):
        return self.program in EXAMPLES

    def is_perftest(self):
        return self.program in PERFTEST

    def is_connection(self):
        """Programs of rdma_cm: a row of connections.py."""
        return self.program == connections.PROGRAM

    def packets(self):
        """Without retransmissions and ACKs, both directions."""
        return 2 * self.iterations * -(-self.size // self.mtu)

    def seconds_max(self):
        """Several times what rxe needs with rxe."""
        if self.program == "verbs":
            return VERBS_SECONDS_MAX
        if self.program == "random":
            return RANDOM_SECONDS_MAX + 5 * len(self.seeds)
        if self.is_connection():
            return CONNECTED_SECONDS_MAX
        if self.executed:
            return UNMODIFIED_SECONDS_MAX
        return 15 + self.packets() * {0: 2, 1: 5, 10: 20}[self.loss] // 1000


def rc_pingpong(client, ip, size, mtu=1024, loss=0, **more):
    packets = 2 * -(-size // mtu)
    iterations = max(1, min(ITERATIONS_MAX[loss], PACKETS_WANTED[loss] // packets))
    return Case("rc_pingpong", client, ip, size, mtu, loss, iterations, **more)


def verbs(client, ip, mtu, loss, profile="rxe", **more):
    """All operations at once: verbs_lines.py tells which."""
    return Case("verbs", client, ip, mtu=mtu, loss=loss, profile=profile, **more)


def verbs_quick():
    """Each MTU; each loss meets both clients, and without losses both profiles.  1 MiB in small packets takes a
    third of the time of all, and is tried by --full.
    """
    for i, loss in enumerate(LOSSES):
        for j, client in enumerate(CLIENTS):
            mtu = MTUS[(2 * i + j) % len(MTUS)]
            yield verbs(client, IPS[(i + j) % 2], mtu, loss, PROFILES[(i // 2 + j) % 2],
                        big=mtu >= 1024 or loss == LOSSES[-1])


def verbs_full():
    for client in CLIENTS:
        for i, ip in enumerate(IPS):
            for loss in LOSSES:
                for j, mtu in enumerate(MTUS):
                    yield verbs(client, ip, mtu, loss, PROFILES[(i + j) % 2])


def random_truth(case):
    """The same programs between two rxe devices, where nothing is lost: what the others must print."""
    return Case("random", "rxe", "ipv4", seeds=case.seeds, baseline=True)


def with_truth(cases):
    """@cases, each random one behind what it is held against."""
    for case in cases:
        if case.program == "random":
            yield random_truth(case)
        if case.is_connection():
            yield connection_truth(case)
        yield case


def random(seeds):
    """Programs for the same network, and with or without a mistake, share a pair of processes.  Without a
    mistake a host by the specification prints the same as one like rxe.
    """
    kinds = {}
    for seed in seeds:
        kinds.setdefault(verbs_random.kind(seed), []).append(seed)
    for n, (kind, members) in enumerate(sorted(kinds.items())):
        for at in range(0, len(members), RANDOM_AT_ONCE):
            some = tuple(members[at:at + RANDOM_AT_ONCE])
            i = n + at // RANDOM_AT_ONCE
            loss = RANDOM_LOSS if kind == "lossy" else 0
            yield from [Case("random", client, IPS[(i + j) % 2], loss=loss, seeds=some,
                             profile="rxe" if kind == "mistake" else PROFILES[(i + j) % 2])
                        for j, client in enumerate(CLIENTS)]


def unreliable(program, client, ip, size, mtu=1024, **more):
    """Nobody sends anything again, so nothing may be lost."""
    packets = 2 * -(-size // mtu)
    iterations = max(1, min(ITERATIONS_MAX[0], PACKETS_WANTED[0] // packets))
    return Case(program, client, ip, size, mtu, 0, iterations, **more)


def uc(*args, **more):
    return unreliable("uc_pingpong", *args, **more)


def ud(*args, **more):
    return unreliable("ud_pingpong", *args, mtu=DATAGRAM_SIZES[-1], **more)


def unreliable_special():
    """Each with one of the sides as client."""
    yield uc("rxe", "ipv6", 65536, 4096)
    yield uc("lab", "ipv4", 4095, 256, options="-e")
    yield uc("rxe", "ipv4", 64, options="-r 1")
    yield uc("lab", "ipv6", 65536, first_psn=FIRST_PSN_BEFORE_WRAP)
    yield ud("rxe", "ipv4", 4096, options="-e")
    yield ud("lab", "ipv6", 1, options="-r 1")
    yield ud("lab", "ipv4", 64, first_psn=FIRST_PSN_BEFORE_WRAP)


def unreliable_quick():
    for i, client in enumerate(CLIENTS):
        yield ud(client, IPS[1 - i], 2048)
    yield from unreliable_special()


def unreliable_full():
    """No more at a time than the queue of a network interface holds: nobody slows the sender down."""
    for client in CLIENTS:
        for i, ip in enumerate(IPS):
            for j, size in enumerate(s for s in SIZES if s <= 65536):
                for mtu in MTUS[(i + j) % 2 :: 2]:
                    yield uc(client, ip, size, mtu)
            for size in DATAGRAM_SIZES:
                yield ud(client, ip, size)
        yield uc(client, IPS[CLIENTS.index(client)], 4096)
    yield from unreliable_quick()


def srq(client, ip, size, **more):
    """The iterations are those of all queue pairs together; there are 16, if nothing else is said."""
    return Case("srq_pingpong", client, ip, size, 1024, 0, ITERATIONS_MAX[0], **more)


def srq_quick():
    yield srq("rxe", "ipv4", 4096)
    yield srq("lab", "ipv6", 64, options="-e")


def srq_full():
    for client in CLIENTS:
        for ip in IPS:
            yield srq(client, ip, 4096)
            yield srq(client, ip, 64, options="-e")
        yield srq(client, "ipv6", 16384, options="-q 3 -r 4")


def special():
    """Once for each side as client."""
    for client in CLIENTS:
        for ip in IPS:
            yield Case("ping", client, ip)
            yield rc_pingpong(client, ip, 65536, first_psn=FIRST_PSN_BEFORE_WRAP)
        yield rc_pingpong(client, "ipv4", 4096, options="-e")
        yield rc_pingpong(client, "ipv4", 64, options="-r 1")
        yield rc_pingpong(client, "ipv4", 65536, loss=10, first_psn=FIRST_PSN_BEFORE_WRAP)
        yield rc_pingpong(client, "ipv6", 4096, device_mtu=1500)


def special_quick():
    """One IP version for each side as client, and each option with one of them."""
    for client, ip in zip(CLIENTS, IPS):
        yield Case("ping", client, ip)
        yield rc_pingpong(client, ip, 65536, loss=10, first_psn=FIRST_PSN_BEFORE_WRAP)
    yield rc_pingpong("rxe", "ipv4", 4096, options="-e")
    yield rc_pingpong("lab", "ipv4", 64, options="-r 1")
    yield rc_pingpong("lab", "ipv6", 4096, device_mtu=1500)


def perftest(program, client, ip="ipv4", **more):
    atomic = program.startswith("ib_atomic")
    size = ATOMIC_SIZE if atomic else 65536 if program.endswith("bw") else 64
    return Case(program, client, ip, **{"size": size, "iterations": UNMODIFIED_ITERATIONS, "executed": True} | more)


def examples():
    """Each between two programs on one rxe device, and with the lab on either side."""
    for program in EXAMPLES:
        yield Case(program, "rxe", "ipv4", baseline=True, executed=True)
        for client in CLIENTS:
            yield Case(program, client, "ipv4", executed=True)


def perftests():
    """Each program in both directions, with and without losses; then what else users ask of them."""
    for i, program in enumerate(PERFTEST):
        for j, client in enumerate(CLIENTS):
            yield perftest(program, client, IPS[(i + j) % 2], mtu=MTUS[(i + j) % 3 + 2])
            few = {"iterations": UNMODIFIED_ITERATIONS_LOSSY} if program.endswith("bw") else {}
            yield perftest(program, client, IPS[(i + j + 1) % 2], loss=UNMODIFIED_LOSS, **few)
    for client in CLIENTS:
        for program, size, options, more in PERFTEST_SPECIAL:
            yield perftest(program, client, size=size, options=options, **more)


def verbs_executed():
    """verbs_peer on libibverbs on both sides."""
    for i, client in enumerate(CLIENTS):
        for j, loss in enumerate(LOSSES[:2]):
            for profile in PROFILES if not loss else PROFILES[:1]:
                yield verbs(client, IPS[(i + j) % 2], MTUS[2 + (i + j) % 3], loss, profile, executed=True)


def connected():
    """Programs that connect by rdma_cm, each row between two programs on one rxe device first."""
    for row, client, ip, baseline in connections.combinations():
        yield Case(connections.PROGRAM, client, ip, options=row.name, baseline=baseline, executed=True, profile="rxe")


def connection_truth(case):
    """The same two programs on one rxe device: what they print there, the case has to print."""
    return Case(connections.PROGRAM, "rxe", "ipv4", options=case.options, baseline=True, executed=True, profile="rxe")


def unmodified():
    """Programs on libibverbs that run unchanged: on rxe, and by `rdmalab exec` on a host of the lab."""
    yield from examples()
    yield from perftests()
    yield from connected()
    yield from verbs_executed()


def quick():
    """Every value of every dimension, each loss with each side as client; not every combination."""
    for i, size in enumerate(SIZES):
        yield rc_pingpong(CLIENTS[i % 2], IPS[i // 2 % 2], size, MTUS[i % len(MTUS)])
    for i, client in enumerate(CLIENTS):
        for loss in LOSSES[1:]:
            yield rc_pingpong(client, IPS[(i + loss) % 2], 65536, 4096, loss=loss)
    yield from special_quick()
    yield from verbs_quick()
    yield from unreliable_quick()
    yield from srq_quick()
    yield from random(RANDOM_QUICK)


def full():
    for client in CLIENTS:
        for ip in IPS:
            for loss in LOSSES:
                for mtu in MTUS:
                    for size in SIZES:
                        if size <= mtu * MESSAGE_PACKETS_MAX[loss]:
                            yield rc_pingpong(client, ip, size, mtu, loss)
    yield from special()
    yield from verbs_full()
    yield from unreliable_full()
    yield from srq_full()
    yield from random(RANDOM_FULL)
    yield from unmodified()


def speed():
    """Measurements take turns, so that whatever else the machine does hits all alike."""
    kinds = [(64, 1024, 5000, ""), (64, 1024, 3000, "-e"), (4096, 1024, 1000, "-e"),
             (65536, 1024, 100, ""), (1 << 20, 1024, 10, ""), (1 << 20, 4096, 10, "")]
    for attempt in range(1, REPEATED + 1):
        for size, mtu, iterations, options in kinds:
            measured = Case("speed", "rxe", "ipv4", size, mtu, 0, iterations, options=options,
                            attempt=attempt)
            yield Case(**vars(measured) | {"baseline": True})
            yield measured
            yield Case(**vars(measured) | {"client": "lab"})


def unique(cases):
    """@cases in their order, each once."""
    return list({case.name(): case for case in cases}.values())
