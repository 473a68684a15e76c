# SPDX-License-Identifier: MIT
"""Faults of linux_hostile: in each, a device does one thing wrong to its driver.  A generator makes them, as lines of the lab,
from how often each occasion comes when the device does everything right."""
import random
from dataclasses import dataclass

NEVER = 4294967294
RFC = "features_off=0x780"  # of the driver: without the extensions that follow the RFC


def machine(max_cq, max_qp, max_srq, ceqs):
    """Returns the words of a host, and its queues by what they are for, each as the condition of a fault."""
    events = 1 + max_cq + 2 * max_qp
    return f"vm max_cq={max_cq} max_qp={max_qp} max_srq={max_srq} ceqs={ceqs}", {
        "ctrl": "queue==0",
        "cq": f"queue>=1 and queue<={max_cq}",
        "wq": f"queue>{max_cq} and queue<{events}",
        "events": f"queue=={events}",
        "srq": f"queue>{events} and queue<={events + max_srq}",
        "ceq": f"queue>{events + max_srq}",
    }


HOST, GROUPS = machine(max_cq=8, max_qp=16, max_srq=2, ceqs=2)
# The occasions, by the words of a fault that comes to them.
OCCASIONS = {
    "data": "falsify", "length": "falsify what=length", "read": "falsify what=read", "kick": "lose what=kick",
    "interrupt": "lose what=interrupt", "stall": "stall", "invent": "invent", "postpone": "postpone by=1ms",
}
FLIPS = {"data": (0xff, 0x01, 0x80, 0x7e), "length": (0x01, 0xffffffff - 1, 0x80000000, 0x3f), "read": (0x01, 0xff, 0x80000000, 0xfffffffe, 0x08)}


@dataclass(frozen=True)
class Plan:
    """Faults of one occasion at one group of queues, during one test with one set of parameters of the driver."""
    test: str  # of hostile_guest.sh
    parameters: str
    occasion: str
    group: str | None
    count: int  # of faults
    words: tuple = ("",)  # more of them, in turn


BYTES_OF_ANSWER = tuple(f"byte={n}" for n in (0, 0, 1, 0, 2, 5, 9, 4, 13, 17, 25, 31))
BYTES_OF_COMPLETION = tuple(f"byte={n}" for n in range(33))
BYTES_OF_EVENT = tuple(f"byte={n}" for n in range(8))
IDS = ("", "id=0", "id=1", "id=65535", "id=7")
LATE = ("by=1ms", "by=30ms", "by=300ms", "by=3s")
STUCK = ("", "for=50ms", "for=500ms")

PLANS = (
    Plan("kernel", "", "data", "ctrl", 40, BYTES_OF_ANSWER),
    Plan("kernel", "", "length", "ctrl", 12),
    Plan("kernel", "", "postpone", "ctrl", 6, LATE),
    Plan("kernel", "", "stall", "ctrl", 5, STUCK),
    Plan("kernel", "", "invent", "ctrl", 6, IDS),
    Plan("kernel", "", "kick", "ctrl", 3),
    Plan("kernel", "", "interrupt", "ctrl", 3),
    Plan("kernel", "", "data", "cq", 33, BYTES_OF_COMPLETION),
    Plan("kernel", "", "length", "cq", 6),
    Plan("kernel", "", "postpone", "cq", 4, LATE),
    Plan("kernel", "", "invent", "cq", 6, IDS),
    Plan("kernel", "", "data", "ceq", 10, BYTES_OF_EVENT),
    Plan("kernel", "", "length", "ceq", 3),
    Plan("kernel", "", "postpone", "ceq", 3, LATE),
    Plan("kernel", "", "invent", "ceq", 5, IDS),
    Plan("kernel", "", "interrupt", "ceq", 3),
    Plan("kernel", "", "length", "wq", 4),
    Plan("kernel", "", "stall", "wq", 4, STUCK),
    Plan("kernel", "", "invent", "wq", 5, IDS),
    Plan("kernel", "", "kick", "wq", 4),
    Plan("kernel", "", "length", "srq", 2),
    Plan("kernel", "", "stall", "srq", 2, STUCK),
    Plan("kernel", "", "invent", "srq", 3, IDS),
    Plan("kernel", "", "data", "events", 4, BYTES_OF_EVENT),
    Plan("kernel", "", "invent", "events", 2, IDS),
    Plan("kernel", "", "read", None, 24),
    Plan("kernel", RFC, "data", "ctrl", 12, BYTES_OF_ANSWER),
    Plan("kernel", RFC, "length", "ctrl", 3),
    Plan("kernel", RFC, "postpone", "ctrl", 2, LATE),
    Plan("kernel", RFC, "stall", "ctrl", 3, STUCK),
    Plan("kernel", RFC, "data", "cq", 8, BYTES_OF_COMPLETION[::5]),
    Plan("kernel", RFC, "invent", "cq", 3, IDS),
    Plan("kernel", RFC, "interrupt", "cq", 3),
    Plan("program", "", "data", "ctrl", 8, BYTES_OF_ANSWER),
    Plan("program", "", "stall", "ctrl", 2, STUCK),
    Plan("program", "", "data", "cq", 12, BYTES_OF_COMPLETION[::3]),
    Plan("program", "", "invent", "cq", 3, IDS),
    Plan("program", "", "data", "ceq", 3, BYTES_OF_EVENT),
    Plan("program", "", "stall", "wq", 2, STUCK),
    Plan("program", "", "invent", "wq", 3, IDS),
    Plan("program", "", "kick", "wq", 2),
)


def where(group):
    return f" where {GROUPS[group]}" if group else ""


def counters(test, parameters):
    """{(occasion, group): words of a fault that only counts}, of what the plans need."""
    return {(plan.occasion, plan.group): f"{OCCASIONS[plan.occasion]} queue=h1 nth={NEVER} optional{where(plan.group)}"
            for plan in PLANS if (plan.test, plan.parameters) == (test, parameters)}


KINDS = tuple(dict.fromkeys((plan.test, plan.parameters) for plan in PLANS))


@dataclass(frozen=True)
class Fault:
    name: str
    test: str
    parameters: str
    line: str  # of the lab, without its name


def names_of(plan):
    words = [*(["rfc"] if plan.parameters else []), plan.test, plan.occasion, plan.group or "register"]
    return ["_".join([*words, str(i + 1)]) for i in range(plan.count)]


NAMES = [name for plan in PLANS for name in names_of(plan)]


def faults_of(plan, seen, rng):
    """Evenly over the occasions of a test, of which the last ones may not come if an earlier one is changed."""
    for i in range(plan.count if seen else 0):
        nth = 1 + int((i + rng.random()) / plan.count * seen * 0.8)
        words = plan.words[i % len(plan.words)]
        if plan.occasion in FLIPS:
            words += f" flip={FLIPS[plan.occasion][i % len(FLIPS[plan.occasion])]:#x}"
        verb = OCCASIONS[plan.occasion] if plan.occasion != "postpone" else "postpone"
        yield Fault(names_of(plan)[i], plan.test, plan.parameters, f"{verb} {words.strip()} queue=h1 nth={nth}{where(plan.group)}".replace("  ", " "))


def generate(seen, seed):
    """@seen: {(test, parameters): {(occasion, group): how often}}"""
    rng = random.Random(seed)
    return [fault for plan in PLANS
            for fault in faults_of(plan, seen[plan.test, plan.parameters].get((plan.occasion, plan.group), 0), rng)]
