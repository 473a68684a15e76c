# SPDX-License-Identifier: MIT
"""A work request that Linux has posted, step by step: the lab's commands, and what they must show.  Each device is a row."""
import pathlib
import re
import socket
import threading
import time
from dataclasses import dataclass

from drivers import PVRDMA, VIRTIO_RDMA

READY_PORT = 5006
PORT = 18515  # at which the programs meet
MESSAGE, WRITE = 1024, 4096  # bytes
N_WRITES = 5
MAX_CQ = 16  # of virtio-rdma: the send queue of queue pair q is virtqueue MAX_CQ + 2q - 1

HOST_STEPS = f"""\
timeout 60 ibv_rc_pingpong -g 0 -c -s {MESSAGE} -r 4 -n 3
timeout 60 ib_write_bw -x 0 -F -s {WRITE} -n {N_WRITES}
"""
# The machine waits until the server listens: a client that has to try again would have another queue pair.
GUEST_STEPS = f"""\
nc {{peer}} {READY_PORT} </dev/null
ibv_rc_pingpong -d {{device}} -g 1 -c -s {MESSAGE} -r 4 -n 3 {{peer}}
nc {{peer}} {READY_PORT} </dev/null
ib_write_bw -d {{device}} -x 1 -F -s {WRITE} -n {N_WRITES} {{peer}}
"""


@dataclass(frozen=True)
class Device:
    """Commands of the lab, and patterns of what they print: {q} is the number of the queue pair, {n} that of a send virtqueue."""
    host: str  # words of the host h1
    doorbell: str  # condition of the lab: the driver has rung for its first send
    rung: str  # command that shows the last doorbell
    is_rung: str
    ring: str  # command that shows the send queue
    slot: str  # command that decodes its slot 0
    wqe_bytes: int
    waits: tuple  # in the ring: the device has not looked at slot 0
    posts: str  # in the ring: the content of slot 0, which the driver has posted
    taken: tuple  # in the ring: the device has taken slot 0 and nothing else
    free: tuple  # in the ring: all slots are free again, after {done} requests
    completion: str  # command that decodes slot 0 of the completion queue.  Number 1 is the kernel's, number 2 the program's
    is_completion: str
    qp_field: str  # of the completion

    def looks(self):
        """The lab's commands, part by part.  Queue pairs 2 and 3 are the first two of programs."""
        def stops(q):
            names = {"q": q, "n": MAX_CQ + 2 * q - 1}
            until = f"until {self.doorbell.format(**names)} > 0 timeout=120s quiet"
            return until, self.rung, self.ring.format(**names), self.slot.format(**names)

        until, rung, ring, slot = stops(2)
        parts = {POSTED: [until, rung, ring, slot],
                 TAKEN: ["step wqe", ring],
                 COMPLETED: ["step cqe", "step cqe", ring, self.completion]}
        until, rung, ring, slot = stops(3)
        parts |= {POSTED_WRITE: [until, rung, ring, slot],
                  TAKEN_WRITE: ["step wqe", ring],
                  COMPLETED_WRITE: ["until count(cqe, host==h1, qpn==3, op==RDMA_WRITE) > 0 timeout=60s",
                                    "show events last 1 kinds=cqe host=h1", ring, self.completion]}
        return [line for part, lines in parts.items() for line in [f"print {part} == {part}", *lines]]


POSTED, TAKEN, COMPLETED, POSTED_WRITE, TAKEN_WRITE, COMPLETED_WRITE = range(6)
DEVICES = {
    PVRDMA.name: Device(
        host="", doorbell="count(doorbell, host==h1, rings==SEND, qpn=={q})",
        rung="show uar h1", is_rung=r"^ +#\d+\.\d+ h1 SEND of h1\.qpn{q}, page \d+: 0x4000000{q}$",
        ring="show ring h1.dsr.sq[{q}]", slot="show ring h1.dsr.sq[{q}][0]", wqe_bytes=128,
        waits=(r"device has taken to +0 ", r"^  slot 0 +posted "), posts=r"^  slot 0 +posted +0x\w+  {content}$",
        taken=(r"device has taken to +1 ", r"^  slot 0 +taken "), free=(r"^  free +(\d+) of \1 slots?\b",),
        # Linux polls its memory, and may have taken it by now.
        completion="show ring h1.dsr.cq[2][0]", is_completion=r"slot 0, (written|free) ", qp_field="qp"),
    VIRTIO_RDMA.name: Device(
        host=f" max_cq={MAX_CQ}", doorbell="count(reg_write, host==h1, function==RDMA, reg==NOTIFY, queue=={n})",
        rung="show events all last 1 kinds=reg_write host=h1", is_rung=r"#\d+\.\d+ +reg_write +h1 writes NOTIFY of queue {n}: {n:#x}$",
        ring="show vq h1.device.sq[{q}]", slot="show wqe h1.device.sq[{q}].desc[0]", wqe_bytes=91,
        waits=(r"^[ *] avail\.idx +[1-9] +0 .*last kicked in #", r"^  not free desc 0\b.*the device has not taken it yet$"),
        posts=r"^[ *] desc 0 +0x\w+ +91 bytes +device reads +{content}$",
        taken=(r"^[ *] avail\.idx +[1-9] +1\b", r"^  not free desc 0, the device's: the device has it, "),
        free=(r"^[ *] used\.idx +\? +{done}\b", r"^  free +(\d+) of \1 descriptors\b"),
        completion="show wqe h1.device.cq[2].desc[0]", is_completion=r"^h1\.device\.cq\[2\]\.desc\[0\] +38 bytes at 0x", qp_field="qp_num"),
}


def listens(port):
    """Returns whether a program of this namespace listens at @port."""
    lines = [line.split() for file in ("tcp", "tcp6") for line in pathlib.Path(f"/proc/net/{file}").read_text().splitlines()[1:]]
    return any(int(line[1].rsplit(":", 1)[1], 16) == port and line[3] == "0A" for line in lines)


def serve_ready(address):
    """Ends each connection to READY_PORT once a program listens at PORT."""
    def serve(server):
        while True:
            with server.accept()[0]:
                while not listens(PORT):
                    time.sleep(0.1)

    threading.Thread(target=serve, args=(socket.create_server((address, READY_PORT)),), daemon=True).start()


def parts_of(printed):
    """{part: what was printed in it}"""
    pieces = re.split(r"^(\d) == \1: yes\n", printed, flags=re.MULTILINE)
    return dict(zip(map(int, pieces[1::2]), pieces[2::2]))


def fields_of(text):
    """{field: value} of a slot, as `show ring PATH[N]` and `show wqe` decode it"""
    return {m[1]: m[2] for m in re.finditer(r"^  [0-9a-f]{4}  (?:[0-9a-f]{2} )+ *([\w.\[\]]+) +(\S+)", text, re.MULTILINE)}


def has(text, *patterns):
    return all(re.search(pattern, text, re.MULTILINE) for pattern in patterns)


def is_post(fields, opcode, n_bytes):
    """One SGE of that length, with a key, and the code of the operation"""
    return (fields.get("opcode"), fields.get("num_sge"), fields.get("sge[0].length")) == (opcode, "1", str(n_bytes)) and \
        fields.get("sge[0].lkey", "0x0") != "0x0"


def is_completion(device, text, wr_id, opcode, qp):
    """Slot 0 of the completion queue"""
    fields = fields_of(text)
    return (has(text, device.is_completion) and
            [fields.get(name) for name in ("wr_id", "opcode", device.qp_field, "status")] == [wr_id, opcode, qp, "SUCCESS"])


def is_rung(device, text, q):
    return has(text, device.is_rung.format(q=q, n=MAX_CQ + 2 * q - 1))


def is_free(device, text, done):
    return has(text, *(pattern.format(done=done) for pattern in device.free))


def judge_send(device, part):
    """A SEND of ibv_rc_pingpong: its work request has the ID 2."""
    posted, taken, completed = (part.get(which, "") for which in (POSTED, TAKEN, COMPLETED))
    fields = fields_of(posted)
    key, address = fields.get("sge[0].lkey"), fields.get("sge[0].addr")
    content = rf"SEND wr_id=2 (?i:signaled), 1 SGE: lkey {key}, {MESSAGE} bytes at\s+{address}"
    yield is_rung(device, posted, 2), "the doorbell of the SEND is the last one"
    yield (is_post(fields, "SEND", MESSAGE) and (fields.get("wr_id"), fields.get("send_flags")) == ("2", "SIGNALED"),
           f"Linux's request is decoded: SEND, wr_id 2, signaled, {MESSAGE} bytes")
    yield has(posted, device.posts.format(content=content), *device.waits), "the ring has it as posted"
    yield (has(taken, rf"fetch +h1\.qpn2 desc 0, {device.wqe_bytes} bytes: SEND wr_id=2$",
               rf"key +h1\.qpn2 key {key}, {MESSAGE} bytes at {address}$", r"tx +RC_SEND_ONLY "),
           "one step: the device fetches it, translates its key, and sends")
    yield has(taken, *device.taken), "the ring has it as taken"
    yield has(completed, r"cqe +h1\.cqn\d+ wr_id=2 SUCCESS SEND$"), "two steps more: both completions"
    yield is_free(device, completed, 1), "the slot is free"
    yield is_completion(device, completed, "2", "SEND", "2"), "the completion is in Linux's ring"


def judge_write(device, part, console):
    """An RDMA WRITE of ib_write_bw, which prints where it writes to."""
    posted, taken, completed = (part.get(which, "") for which in (POSTED_WRITE, TAKEN_WRITE, COMPLETED_WRITE))
    fields = fields_of(posted)
    said = re.search(r"remote address: .*RKey (0x\w+) VAddr (0x\w+)", console)
    key, address = (int(said[1], 16), int(said[2], 16)) if said else (0, 0)
    aims = (int(fields.get("wr.rkey", "0"), 16), int(fields.get("wr.remote_addr", "0"), 16))
    yield is_rung(device, posted, 3), "the doorbell of the WRITE is the last one"
    yield is_post(fields, "RDMA_WRITE", WRITE), f"Linux's request is decoded: RDMA WRITE, {WRITE} bytes"
    yield said is not None and key == aims[0] and address <= aims[1] < address + 2 * WRITE, \
        f"its remote key and address are those that the program prints: {aims[0]:#x}, {aims[1]:#x}"
    yield has(posted, *device.waits), "the ring has it as posted"
    yield has(taken, rf"tx +RC_RDMA_WRITE_ONLY .* rkey={aims[0]:#x} va={aims[1]:#x} length={WRITE} -> "), "one step: the device writes there"
    yield has(taken, *device.taken), "the ring has it as taken"
    yield has(completed, r"cqe +h1\.cqn\d+ wr_id=0 SUCCESS RDMA_WRITE$"), "the fifth request is signaled: it completes"
    yield is_free(device, completed, N_WRITES), "its slots are free"
    yield is_completion(device, completed, "0", "RDMA_WRITE", "3"), "the completion is in Linux's ring"


def judge_steps(device, printed, console):
    part = parts_of(printed)
    for passed, what in judge_send(device, part):
        yield passed, f"ibv_rc_pingpong: {what}"
    for passed, what in judge_write(device, part, console):
        yield passed, f"ib_write_bw: {what}"
