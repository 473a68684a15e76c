# SPDX-License-Identifier: MIT
"""A work request that Linux has posted, step by step: the lab's commands, and what they must show."""
import pathlib
import re
import socket
import threading
import time

READY_PORT = 5006
PORT = 18515  # at which the programs meet
MESSAGE, WRITE = 1024, 4096  # bytes

HOST_STEPS = f"""\
timeout 60 ibv_rc_pingpong -g 0 -c -s {MESSAGE} -r 4 -n 3
timeout 60 ib_write_bw -x 0 -F -s {WRITE} -n 5
"""
# The machine waits until the server listens: a client that has to try again would have another queue pair.
GUEST_STEPS = f"""\
nc {{peer}} {{ready}} </dev/null
ibv_rc_pingpong -d vmw_pvrdma0 -g 1 -c -s {MESSAGE} -r 4 -n 3 {{peer}}
nc {{peer}} {{ready}} </dev/null
ib_write_bw -d vmw_pvrdma0 -x 1 -F -s {WRITE} -n 5 {{peer}}
"""
# Commands of the lab, part by part.  Queue pairs 2 and 3 are the first two of programs; completion queue 1 is the kernel's.
POSTED, TAKEN, COMPLETED, POSTED_WRITE, TAKEN_WRITE, COMPLETED_WRITE = range(6)
PARTS = {
    POSTED: ["until count(doorbell, host==h1, rings==SEND, qpn==2) > 0 timeout=120s quiet",
             "show uar h1", "show ring h1.dsr.sq[2]", "show ring h1.dsr.sq[2][0]"],
    TAKEN: ["step wqe", "show ring h1.dsr.sq[2]"],
    COMPLETED: ["step cqe", "step cqe", "show ring h1.dsr.sq[2]", "show ring h1.dsr.cq[2][0]"],
    POSTED_WRITE: ["until count(doorbell, host==h1, rings==SEND, qpn==3) > 0 timeout=120s quiet",
                   "show ring h1.dsr.sq[3]", "show ring h1.dsr.sq[3][0]"],
    TAKEN_WRITE: ["step wqe", "show ring h1.dsr.sq[3]"],
    COMPLETED_WRITE: ["until count(cqe, host==h1, qpn==3, op==RDMA_WRITE) > 0 timeout=60s",
                      "show events last 1 kinds=cqe host=h1", "show ring h1.dsr.sq[3]", "show ring h1.dsr.cq[2][0]"],
}
LOOKS = [line for part, lines in PARTS.items() for line in [f"print {part} == {part}", *lines]]


def listens(port):
    """Does a program of this namespace listen at @port?"""
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
    """{field: value} of a slot, as `show ring PATH[N]` decodes it"""
    return {m[1]: m[2] for m in re.finditer(r"^  [0-9a-f]{4}  (?:[0-9a-f]{2} )+ *([\w.\[\]]+) +(\S+)", text, re.MULTILINE)}


def has(text, pattern):
    return re.search(pattern, text, re.MULTILINE) is not None


def is_post(fields, opcode, n_bytes):
    """One SGE of that length, with a key, and the code of the operation"""
    return (fields.get("opcode"), fields.get("num_sge"), fields.get("sge[0].length")) == (opcode, "1", str(n_bytes)) and \
        fields.get("sge[0].lkey", "0x0") != "0x0"


def is_completion(text, wr_id, opcode, qp):
    """Slot 0 of a completion queue.  Linux polls its memory, and may have taken it by now."""
    fields = fields_of(text)
    return (has(text, r"slot 0, (written|free) ") and
            [fields.get(name) for name in ("wr_id", "opcode", "qp", "status")] == [wr_id, opcode, qp, "SUCCESS"])


def judge_send(part):
    """A SEND of ibv_rc_pingpong: its work request has the ID 2."""
    posted, taken, completed = (part.get(which, "") for which in (POSTED, TAKEN, COMPLETED))
    fields = fields_of(posted)
    key, address = fields.get("sge[0].lkey"), fields.get("sge[0].addr")
    yield has(posted, r"^ +#\d+\.\d+ h1 SEND of h1\.qpn2, page \d+: 0x40000002$"), "the doorbell of the SEND is the last one"
    yield (is_post(fields, "SEND", MESSAGE) and (fields.get("wr_id"), fields.get("send_flags")) == ("2", "SIGNALED"),
           f"Linux's request is decoded: SEND, wr_id 2, signaled, {MESSAGE} bytes")
    yield (has(posted, rf"^  slot 0 +posted +0x\w+  SEND wr_id=2 SIGNALED, 1 SGE: lkey {key}, {MESSAGE} bytes at\s+{address}$")
           and has(posted, r"device has taken to +0 "), "the ring has it as posted")
    yield (has(taken, r"fetch +h1\.qpn2 desc 0, 128 bytes: SEND wr_id=2$") and has(taken, rf"key +h1\.qpn2 key {key}, {MESSAGE} bytes at {address}$")
           and has(taken, r"tx +RC_SEND_ONLY "), "one step: the device fetches it, translates its key, and sends")
    yield has(taken, r"^  slot 0 +taken ") and has(taken, r"device has taken to +1 "), "the ring has it as taken"
    yield has(completed, r"cqe +h1\.cqn\d+ wr_id=2 SUCCESS SEND$"), "two steps more: both completions"
    yield has(completed, r"^  free +1 of 1 slot$"), "the slot is free"
    yield is_completion(completed, "2", "SEND", "2"), "the completion is in Linux's ring"


def judge_write(part, console):
    """An RDMA WRITE of ib_write_bw, which prints where it writes to."""
    posted, taken, completed = (part.get(which, "") for which in (POSTED_WRITE, TAKEN_WRITE, COMPLETED_WRITE))
    fields = fields_of(posted)
    said = re.search(r"remote address: .*RKey (0x\w+) VAddr (0x\w+)", console)
    key, address = (int(said[1], 16), int(said[2], 16)) if said else (0, 0)
    aims = (int(fields.get("wr.rkey", "0"), 16), int(fields.get("wr.remote_addr", "0"), 16))
    yield is_post(fields, "RDMA_WRITE", WRITE), f"Linux's request is decoded: RDMA WRITE, {WRITE} bytes"
    yield said is not None and key == aims[0] and address <= aims[1] < address + 2 * WRITE, \
        f"its remote key and address are those that the program prints: {aims[0]:#x}, {aims[1]:#x}"
    yield has(posted, r"^  slot 0 +posted "), "the ring has it as posted"
    yield has(taken, rf"tx +RC_RDMA_WRITE_ONLY .* rkey={aims[0]:#x} va={aims[1]:#x} length={WRITE} -> "), "one step: the device writes there"
    yield has(taken, r"^  slot 0 +taken "), "the ring has it as taken"
    yield has(completed, r"cqe +h1\.cqn\d+ wr_id=0 SUCCESS RDMA_WRITE$"), "the fifth request is signaled: it completes"
    yield is_completion(completed, "0", "RDMA_WRITE", "3"), "the completion is in Linux's ring"


def judge_steps(printed, console):
    part = parts_of(printed)
    for passed, what in judge_send(part):
        yield passed, f"ibv_rc_pingpong: {what}"
    for passed, what in judge_write(part, console):
        yield passed, f"ib_write_bw: {what}"
