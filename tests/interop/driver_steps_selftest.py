# SPDX-License-Identifier: MIT
"""Tests that a wrong transcript of driver_steps.py is found.  steps_DRIVER.txt is what a lab has printed, with a line of the machine's console."""
import pathlib

from driver_steps import COMPLETED, COMPLETED_WRITE, DEVICES, POSTED, POSTED_WRITE, TAKEN, TAKEN_WRITE, judge_steps, parts_of
from drivers import PVRDMA, VIRTIO_RDMA

HERE = pathlib.Path(__file__).resolve().parent
CONSOLE = None  # in place of a part

# In this part, this text -> another text; what must be said to be wrong then.
PLANTS = [
    (POSTED, "opcode               SEND", "opcode               RDMA_READ", "SEND, wr_id 2"),
    (POSTED, "num_sge              1", "num_sge              2", "SEND, wr_id 2"),
    (POSTED, "sge[0].length        1024", "sge[0].length        1023", "SEND, wr_id 2"),
    (POSTED, "sge[0].lkey          0x213", "sge[0].lkey          0x0", "SEND, wr_id 2"),
    (POSTED, "send_flags           SIGNALED", "send_flags           0", "SEND, wr_id 2"),
    (POSTED, "lkey 0x213, 1024 bytes", "lkey 0x214, 1024 bytes", "ibv_rc_pingpong: the ring has it as posted"),
    (TAKEN, "SEND wr_id=2", "SEND wr_id=3", "one step: the device fetches"),
    (TAKEN, "key 0x213", "key 0x214", "one step: the device fetches"),
    (TAKEN, "RC_SEND_ONLY", "RC_SEND_FIRST", "one step: the device fetches"),
    (COMPLETED, "wr_id=2 SUCCESS SEND", "wr_id=2 RETRY_EXC_ERR", "both completions"),
    (COMPLETED, "status               SUCCESS", "status               RETRY_EXC_ERR", "ibv_rc_pingpong: the completion"),
    (COMPLETED, "wr_id                2", "wr_id                3", "ibv_rc_pingpong: the completion"),
    (POSTED_WRITE, "opcode               RDMA_WRITE", "opcode               RDMA_READ", "RDMA WRITE, 4096 bytes"),
    (POSTED_WRITE, "sge[0].length        4096", "sge[0].length        4095", "RDMA WRITE, 4096 bytes"),
    (POSTED_WRITE, "wr.rkey              0x148", "wr.rkey              0x149", "that the program prints"),
    (POSTED_WRITE, "wr.remote_addr       0x", "wr.remote_addr       0xf", "that the program prints"),
    (CONSOLE, "RKey 0x000148", "RKey 0x000149", "that the program prints"),
    (CONSOLE, "remote", "local", "that the program prints"),
    (TAKEN_WRITE, "rkey=0x148", "rkey=0x149", "the device writes there"),
    (TAKEN_WRITE, "length=4096", "length=4095", "the device writes there"),
    (COMPLETED_WRITE, "wr_id=0 SUCCESS RDMA_WRITE", "wr_id=0 WR_FLUSH_ERR", "the fifth request"),
    (COMPLETED_WRITE, "opcode               RDMA_WRITE", "opcode               SEND", "ib_write_bw: the completion"),
]
PLANTS_OF = {
    PVRDMA.name: [
        (POSTED, "page 1: 0x40000002", "page 1: 0x40000001", "the doorbell of the SEND"),
        (POSTED, "device has taken to       0", "device has taken to       1", "ibv_rc_pingpong: the ring has it as posted"),
        (TAKEN, "slot 0   taken", "slot 0   posted", "ibv_rc_pingpong: the ring has it as taken"),
        (TAKEN, "device has taken to       1", "device has taken to       0", "ibv_rc_pingpong: the ring has it as taken"),
        (COMPLETED, "free     1 of 1", "free     0 of 1", "the slot is free"),
        (COMPLETED, "slot 0, written", "slot 0, posted", "ibv_rc_pingpong: the completion"),
        (POSTED_WRITE, "h1.qpn3, page 1: 0x40000003", "h1.qpn2, page 1: 0x40000002", "the doorbell of the WRITE"),
        (POSTED_WRITE, "slot 0   posted", "slot 0   taken", "ib_write_bw: the ring has it as posted"),
        (TAKEN_WRITE, "slot 0   taken", "slot 0   posted", "ib_write_bw: the ring has it as taken"),
        (COMPLETED_WRITE, "free     8 of 8", "free     7 of 8", "its slots are free"),
        (COMPLETED_WRITE, "qp                   3", "qp                   2", "ib_write_bw: the completion"),
    ],
    VIRTIO_RDMA.name: [
        (POSTED, "queue 19: 0x13", "queue 17: 0x11", "the doorbell of the SEND"),
        (POSTED, "1        0   last kicked", "1        1   last kicked", "ibv_rc_pingpong: the ring has it as posted"),
        (POSTED, "   last kicked in #", "   not kicked", "ibv_rc_pingpong: the ring has it as posted"),
        (TAKEN, "the device has it, ", "the device has not taken it", "ibv_rc_pingpong: the ring has it as taken"),
        (TAKEN, "avail.idx                                 1        1", "avail.idx                                 1        0", "ibv_rc_pingpong: the ring has it as taken"),
        (COMPLETED, "free     4 of 4", "free     3 of 4", "the slot is free"),
        (COMPLETED, "used.idx                                  ?        1", "used.idx                                  ?        0", "the slot is free"),
        (COMPLETED, "h1.device.cq[2].desc[0]", "h1.device.cq[1].desc[0]", "ibv_rc_pingpong: the completion"),
        (POSTED_WRITE, "queue 21: 0x15", "queue 19: 0x13", "the doorbell of the WRITE"),
        (POSTED_WRITE, "the device has not taken it yet", "the device has it, ", "ib_write_bw: the ring has it as posted"),
        (TAKEN_WRITE, "not free desc 0, the device's", "not free desc 1, the device's", "ib_write_bw: the ring has it as taken"),
        (COMPLETED_WRITE, "?        5", "?        4", "its slots are free"),
        (COMPLETED_WRITE, "qp_num               3", "qp_num               2", "ib_write_bw: the completion"),
    ],
}


def wrong(device, printed, console):
    return [what for passed, what in judge_steps(device, printed, console) if not passed]


def claim(what):
    """Without the numbers that were found"""
    return what.split(": 0x")[0]


def planted(printed, console, plant):
    """The transcript with a plant, or None: the text is not there."""
    part, old, new, _ = plant
    if part is CONSOLE:
        return (printed, console.replace(old, new, 1)) if old in console else None
    text = parts_of(printed)[part]
    return (printed.replace(text, text.replace(old, new, 1), 1), console) if old in text else None


def judged():
    """Each transcript and each plant in it: (is it judged rightly?, what it is)."""
    for name, device in DEVICES.items():
        console, printed = (HERE / f"steps_{name}.txt").read_text().split("\n", 1)
        right, nothing = wrong(device, printed, console), wrong(device, "", "")
        yield not right, f"{name}: a right transcript: {right}"
        yield len(nothing) == len([*judge_steps(device, "", "")]), f"{name}: no transcript: {nothing}"
        found = set()
        for plant in PLANTS + PLANTS_OF[name]:
            texts = planted(printed, console, plant)
            said = wrong(device, *texts) if texts else ["the text is not there"]
            found |= {claim(what) for what in said if plant[3] in what}
            yield any(plant[3] in what for what in said), f"{name}: {plant} is said to be {said}"
        missed = [what for _, what in judge_steps(device, printed, console) if claim(what) not in found]
        yield not missed, f"{name}: no plant is for {missed}"
