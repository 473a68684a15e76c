# SPDX-License-Identifier: MIT
"""Judges of the cases of driver_stage.py: programs, the kernel's messages, and a lab that is left clean."""
import re

import driver_steps_selftest
from drivers import PVRDMA, VIRTIO_RDMA

OBJECTS = ["pd", "mr", "mw", "cq", "qp", "srq", "gid"]
# Lines of a lab in which the machine h1 has no object: its driver was removed, or it has ended.
CLEAN = ["show h1.device.objects", *[f"expect h1.device.objects.{name} == 0" for name in OBJECTS]]


def quiet(text, harmless, also=None):
    """Finds that the kernel says nothing but what it has to, in each log that was read."""
    lines = [line[9:].strip() for line in text.splitlines() if line.startswith("= kernel ")]
    wrong = [line for line in lines if not harmless.fullmatch(line) and not (also and also.fullmatch(line))]
    yield re.search(r"^= log\r?$", text, re.MULTILINE) is not None and not wrong, f"the drivers complain of nothing {wrong or ''}"


def finds_planted(text, harmless):
    """The machine has written complaints into its kernel's log: they must be found."""
    (passed, what), = quiet(text.replace("= planted ", "= kernel "), harmless)
    yield (not passed and all(words in what for words in ("0000:00:05.1: a planted", "WARNING: a planted")),
           "complaints that the machine plants are found")


def judge_programs(wanted, text):
    """@text has "= program guest/client/rc STATUS" for each of @wanted."""
    done = {m[1]: int(m[2]) for m in re.finditer(r"= program (\S+) (\d+)", text)}
    for what in wanted:
        yield done.get(what) == 0, f"{what} ends with status {done.get(what)}"


def left_clean(printed, *moments):
    """Judges each text that CLEAN printed."""
    shown = re.findall(r"^h1\.device\.objects\n((?:  \w+ +\d+\n)+)", printed, re.MULTILINE)
    for moment, text in zip(moments, [*shown, *[""] * len(moments)]):
        left = dict(line.split() for line in text.splitlines())
        yield (set(left) == set(OBJECTS) and set(left.values()) == {"0"},
               f"{moment}, no object is left: {' '.join(f'{name} {n}' for name, n in left.items())}")


OBJECTS_SHOWN = "h1.device.objects\n" + "".join(f"  {name:20}  0\n" for name in OBJECTS)
GOOD = """\
= program guest/server/rc 0
= kernel vmw_pvrdma 0000:00:05.1: device version 20, driver version 20
= kernel vmw_pvrdma 0000:00:05.1 vmw_pvrdma0: Port: 1 Link ACTIVE
= log
"""
OURS = """\
= program guest/server/rc 0
= kernel virtio_rdma virtio1 virtio_rdma0: Port: 1 Link ACTIVE
= log
"""
PLANTED = """\
= planted vmw_pvrdma 0000:00:05.1: a planted message of the driver
= planted WARNING: a planted one of the kernel
= log
"""
# A text, and whether nothing is wrong with it.
PLANTS = [
    (GOOD, True),
    (GOOD.replace("rc 0", "rc 1"), False),
    (GOOD.replace("guest/server", "guest/client"), False),
    (GOOD.replace("driver version 20", "driver version 19"), False),
    (GOOD + "= kernel vmw_pvrdma 0000:00:05.1: failed to post CREATE_QP cmd, err: -14\n", False),
    (GOOD + "= kernel WARNING: CPU: 0 PID: 80 at drivers/infiniband/core/cq.c:313 ib_free_cq+0x10/0x20\n", False),
    (GOOD + "= kernel BUG: unable to handle page fault for address: ffffffffc0000000\n", False),
    (GOOD + "= kernel rmmod: page allocation failure: vmw_pvrdma 0000:00:05.1: attached to device\n", False),
    (GOOD.replace("= log", "="), False),  # the log has not been printed
    ("", False),
]
# The same with our driver.
PLANTS_OURS = [
    (OURS, True),
    (OURS.replace("ACTIVE", "BROKEN"), False),
    (OURS + "= kernel virtio_rdma virtio1: the device is broken: command 0x3: no response\n", False),
    (GOOD, False),
]
# The same for the text of CLEAN, twice.
LEFT = [
    (OBJECTS_SHOWN * 2, True),
    (OBJECTS_SHOWN, False),
    (OBJECTS_SHOWN + OBJECTS_SHOWN.replace("0", "1", 1), False),
    (OBJECTS_SHOWN + OBJECTS_SHOWN.replace("  qp", "  QP"), False),
]


def self_test():
    """Returns (number of texts that are judged wrongly, number of texts), with the transcripts of driver_steps.py."""
    n_wrong = 0
    judged_texts = [(text, good, [*judge_programs(["guest/server/rc"], text), *quiet(text, driver.harmless)])
                    for driver, plants in ((PVRDMA, PLANTS), (VIRTIO_RDMA, PLANTS_OURS)) for text, good in plants]
    judged_texts += [(text, good, left_clean(text, "first", "then")) for text, good in LEFT]
    judged_texts += [(text, good, finds_planted(text, PVRDMA.harmless)) for text, good in ((PLANTED, True), (GOOD, False))]
    for text, good, found in judged_texts:
        judged = all(passed for passed, _ in found)
        n_wrong += judged != good
        if judged != good:
            print(f"FAILED: this is judged as {'right' if judged else 'wrong'}:\n{text}")
    steps = list(driver_steps_selftest.judged())
    for right, what in steps:
        if not right:
            print(f"FAILED: {what}")
    return n_wrong + sum(not right for right, _ in steps), len(judged_texts) + len(steps)
