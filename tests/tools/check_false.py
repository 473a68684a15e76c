#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The lab's own driver lives with a device that tells it something wrong.

usage: check_false.py RDMALAB [--runs N] [--seed S]

Each run has one fault of `falsify`: a byte of an answer, a completion or an event, the length of a completed chain, or
a register is wrong, once or from then on, in split or packed rings.  The script that follows uses most verbs.  It
may fail, but only by an error that the program tells: no assertion, no signal, no endless run.  Over all runs each
kind of fault must have hit, and the script must have passed as well as failed.
"""
import argparse
import collections
import json
import random
import subprocess
import sys

TIMEOUT_S = 60
BOOT = "host h1 ring={ring}\nhost h2\nlink h1 h2\n"
OBJECTS = """on h1,h2 {
    alloc_pd as pd
    reg_mr pd len=4k access=lw,rr,rw,ra as mr
    create_cq cqe=16 as cq
    create_srq pd max_wr=8 as srq
    create_qp pd type=rc send_cq=cq recv_cq=cq as qp
}
connect h1.qp h2.qp
"""
WORK = """req_notify_cq h1.cq
repeat 2 { post_recv h2.qp sge=mr[0:64] }
post_recv h1.qp sge=mr[64:128]
post_send h1.qp sge=mr[0:64] op=send signaled
post_send h1.qp sge=mr[0:64] op=rdma_write remote=h2.mr[0] signaled
post_send h1.qp sge=mr[0:8] op=atomic_fetch_and_add remote=h2.mr[0] add=1 signaled
post_send h1.qp sge=mr[0:64] op=rdma_read remote=h2.mr[0] signaled
post_send h2.qp sge=mr[0:64] op=send signaled
run 20ms
poll_cq h1.cq
poll_cq h2.cq
ping h1 h2
repeat 12 { reg_read h1 NUM_QUEUES function=net }
post_send h2.qp sge=mr[0:64] op=rdma_write remote=h1.mr[0] rkey=0x9999 signaled
run 20ms
query_qp h1.qp
modify_qp h1.qp state=ERR
run 20ms
poll_cq h1.cq
destroy_qp h1.qp
destroy_srq h1.srq
destroy_cq h1.cq
dereg_mr h1.mr
dealloc_pd h1.pd
"""
TARGETS = [  # kind, queue, whether the queue exists before the objects
    ("data", "h1.ctrl", True), ("data", "h1.cq", False), ("data", "h1.async.queue", True), ("data", "h1", True),
    ("length", "h1.ctrl", True), ("length", "h1.cq", False), ("length", "h1.qp.sq", False), ("length", "h1.qp.rq", False),
    ("length", "h1.net.tx", True), ("length", "h1.net.rx", True), ("length", "h1", True), ("read", "h1", True),
    ("read", "h1.net", True)]


def script(draw, target):
    """Returns a script with one fault at a drawn place."""
    kind, queue, early = target
    most = 2 if "async" in queue else 12
    fault = f"falsify what={kind} queue={queue} nth={draw.randint(1, most)} count={draw.choice([1, 1, 3, 0])} optional"
    if kind == "data" and draw.random() < 0.3:
        fault += f" byte={draw.choice([0, 1, 4, 8, 9, 14, 22, 37])}"
    if draw.random() < 0.3:
        fault += f" flip={draw.choice([1, 0x80, 0xff])}"
    boot = BOOT.format(ring=draw.choice(["split", "packed"]))
    if early and draw.random() < 0.5:
        return f"{boot}{fault} as f\n{OBJECTS}{WORK}"
    return f"{boot}{OBJECTS}{fault} as f\n{WORK}"


def main():
    """Parses the arguments, runs the scripts, and prints the verdicts."""
    parser = argparse.ArgumentParser()
    parser.add_argument("rdmalab")
    parser.add_argument("--runs", type=int, default=390)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    draw = random.Random(options.seed)
    statuses, hits, failed = collections.Counter(), collections.Counter(), 0

    for i in range(options.runs):
        target = TARGETS[i % len(TARGETS)]
        text = script(draw, target)
        try:
            done = subprocess.run([options.rdmalab, "run", "/dev/stdin", "--events", "-", "--seed", str(i + 1)], input=text,
                                  capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
            status = done.returncode
        except subprocess.TimeoutExpired:
            status = "no end"
        if status not in (0, 1):
            failed += 1
            print(f"FAILED: ends with {status}, seed {i + 1}:\n{text}{'' if status == 'no end' else done.stderr[-500:]}")
            continue
        statuses[status] += 1
        hits[target] += any(json.loads(line)["ev"] == "falsified" for line in done.stdout.splitlines() if '"falsified"' in line)
    for target in TARGETS:
        if hits[target] == 0 and options.runs >= 10 * len(TARGETS):
            failed += 1
            print(f"FAILED: no fault of {target[0]} hit {target[1]}")
    if options.runs >= 10 * len(TARGETS) and min(statuses[0], statuses[1]) == 0:
        failed += 1
        print(f"FAILED: over all runs the script must pass and fail, but by exit status it ended {dict(statuses)}")
    print(f"{sum(statuses.values())} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
