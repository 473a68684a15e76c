# SPDX-License-Identifier: MIT
"""Sections of verbs_lines.py: UC where messages may be missing, UD, multicast."""
from verbs_base import (GRH, GROUP, MR_BYTES, PLACE, PLACES, QKEY, UD_MTU, end, pair, places, queues, sge, written)


def datagram_messages(to, sizes):
    """Twice, as many as there are places."""
    return places((sizes + sizes)[:PLACES])


def uc(to, op):
    """What arrives is whole and in order; under loss not everything does."""
    messages = datagram_messages(to, to.sizes())
    remote = op.startswith("rdma_write")
    yield from pair(to, kind="uc")
    yield from written("a", messages, 0)
    for i, at, _ in messages:
        yield f"b: post_recv qp wr_id={i}{'' if remote else sge(at, PLACE)}"
    yield "sync posted"
    for i, at, size in messages:
        yield (f"a: post_send qp wr_id={i} op={op}{sge(at, size)} imm={i}{f' remote=peer.mr[{at}]' if remote else ''}"
               " signaled")
    yield f"a: poll_cq scq count={len(messages)}"
    yield "sync sent"
    yield f"b: drain_cq rcq time=100 data=mr[0:{MR_BYTES}] stride={PLACE}"
    yield from end()


def uc_refused(to):
    """A wrong key and a missing receive: nobody is told, and what follows arrives."""
    yield from pair(to, kind="uc")
    yield "a: write mr[0:64] pattern=465"
    yield "sync written"
    yield f"a: post_send qp wr_id=1 op=rdma_write sge=mr[0:64] remote=peer.mr[{PLACE}] rkey=1 signaled"
    yield "a: post_send qp wr_id=2 op=send sge=mr[0:64] signaled"
    yield f"a: post_send qp wr_id=3 op=rdma_write sge=mr[0:64] remote=peer.mr[{2 * PLACE}] signaled"
    yield "a: poll_cq scq count=3"
    yield f"b: await mr[{2 * PLACE}:{2 * PLACE + 64}] pattern=465"
    yield f"b: check mr[0:{2 * PLACE}] fill=0"
    yield "b: post_recv qp wr_id=4 sge=mr[0:64]"
    yield "sync refused"
    yield "a: post_send qp wr_id=4 op=send sge=mr[0:64] signaled"
    yield "a: poll_cq scq"
    yield "b: poll_cq rcq"
    yield "b: check mr[0:64] pattern=465"
    yield from end()


def ud_pair():
    yield from queues()
    yield "create_qp pd type=ud send_cq=scq recv_cq=rcq as qp"
    yield f"modify_qp qp state=INIT pkey_index=0 port=1 qkey={QKEY:#x}"
    yield "modify_qp qp state=RTR"
    yield "modify_qp qp state=RTS sq_psn=0xfffffe"
    yield f"write mr[0:{MR_BYTES}] fill=0"


def ud_post(i, at, size, ah="ah", to_qp="peer.qp", qkey=QKEY):
    return (f"a: post_send qp wr_id={i} op=send_with_imm imm={i}{sge(at, size)} ah={ah} remote_qpn={to_qp}"
            f" remote_qkey={qkey:#x} signaled")


def ud_messages(to):
    messages = datagram_messages(to, to.sizes()[:5])
    yield from ud_pair()
    yield from written("a", messages, 0)
    for i, at, _ in messages:
        yield f"b: post_recv qp wr_id={i}{sge(at, PLACE)}"
    yield "sync posted"
    yield "a: create_ah pd dgid=peer.gid as ah"
    for i, at, size in messages:
        yield ud_post(i, at, size)
    yield f"a: poll_cq scq count={len(messages)}"
    yield "sync sent"
    yield f"b: drain_cq rcq time=100 data=mr[0:{MR_BYTES}] stride={PLACE}"
    yield "a: destroy_ah ah"
    yield from end()


def ud_area(to):
    """The first 40 bytes tell where a datagram came from; the receive may consist of pieces."""
    size = to.mtu
    yield from ud_pair()
    yield f"a: write mr[0:{size}] pattern=470"
    yield f"b: post_recv qp wr_id=1 sge=mr[0:{GRH + size}]"
    yield f"b: post_recv qp wr_id=2 sge=mr[{PLACE}:{PLACE + GRH}],mr[{2 * PLACE}:{2 * PLACE + size}]"
    yield "sync posted"
    yield "a: create_ah pd dgid=peer.gid as ah"
    for i in 1, 2:
        yield f"a: post_send qp wr_id={i}{sge(0, size)} ah=ah remote_qpn=peer.qp remote_qkey={QKEY:#x} signaled"
    yield "a: poll_cq scq count=2"
    yield "b: poll_cq rcq count=2"
    yield f"b: check mr[0:{GRH}] grh"
    yield f"b: check mr[{GRH}:{GRH + size}] pattern=470"
    yield f"b: check mr[{PLACE}:{PLACE + GRH}] grh"
    yield f"b: check mr[{2 * PLACE}:{2 * PLACE + size}] pattern=470"
    yield "a: destroy_ah ah"
    yield from end()


def ud_refused(to):
    """A wrong Q_Key, a receive that is too small, a datagram that is too long: nothing arrives."""
    yield from ud_pair()
    yield f"a: write mr[0:{PLACE}] pattern=480"
    yield "sync written"
    yield "a: create_ah pd dgid=peer.gid as ah"
    yield f"b: post_recv qp wr_id=1 sge=mr[0:{PLACE}]"
    yield "sync posted"
    yield ud_post(1, 0, 64, qkey=QKEY + 1)
    yield ud_post(2, 0, 64)
    yield "a: poll_cq scq count=2"
    yield "b: poll_cq rcq"
    yield ud_post(3, 0, UD_MTU + 1)
    yield "a: poll_cq scq"
    yield "sync too_long"
    yield "b: drain_cq rcq time=50"
    yield f"b: post_recv qp wr_id=4 sge=mr[{PLACE}:{PLACE + GRH + 63}]"
    yield "sync small"
    yield ud_post(4, 0, 64)
    yield "a: poll_cq scq"
    yield "sync sent"
    yield "b: drain_cq rcq time=50"
    yield f"b: check mr[{PLACE + GRH + 63}:{2 * PLACE}] fill=0"
    yield "a: destroy_ah ah"
    yield from end()


def mcast(to):
    """Every queue pair that is attached gets a copy; detached it gets none."""
    group = GROUP[to.ip]
    size = to.mtu
    yield from ud_pair()
    yield "b: create_cq cqe=64 as rcq2"
    yield "b: create_qp pd type=ud send_cq=scq recv_cq=rcq2 as qp2"
    yield f"b: modify_qp qp2 state=INIT pkey_index=0 port=1 qkey={QKEY:#x}"
    yield "b: modify_qp qp2 state=RTR"
    yield f"b: attach_mcast qp gid={group}"
    yield f"b: attach_mcast qp2 gid={group}"
    for i in 1, 2, 3:
        yield f"b: post_recv qp wr_id={i} sge=mr[{(i - 1) * PLACE}:{i * PLACE}]"
        yield f"b: post_recv qp2 wr_id={i} sge=mr[{(i + 2) * PLACE}:{(i + 3) * PLACE}]"
    yield f"a: write mr[0:{size}] pattern=490"
    yield "sync joined"
    yield f"a: create_ah pd dgid={group} as ah"
    yield ud_post(1, 0, size, to_qp="0xffffff")
    yield ud_post(2, 0, 64, to_qp="0xffffff", qkey=QKEY + 1)
    yield ud_post(3, 0, 64, to_qp="0xffffff")
    yield "a: poll_cq scq count=3"
    yield "b: poll_cq rcq count=2"
    yield "b: poll_cq rcq2 count=2"
    for place in 0, 3:
        yield f"b: check mr[{place * PLACE}:{place * PLACE + GRH}] grh to={group}"
        yield f"b: check mr[{place * PLACE + GRH}:{place * PLACE + GRH + size}] pattern=490"
    yield f"b: detach_mcast qp gid={group}"
    yield "sync detached"
    yield ud_post(4, 0, 64, to_qp="0xffffff")
    yield "a: poll_cq scq"
    yield "b: poll_cq rcq2"
    yield "b: drain_cq rcq time=50"
    yield f"b: detach_mcast qp2 gid={group}"
    yield "a: destroy_ah ah"
    yield "b: destroy_qp qp2"
    yield "b: destroy_cq rcq2"
    yield from end()


def mcast_own(to):
    """Does the sender get a copy of what it sends to a group that it is attached to itself?"""
    group = GROUP[to.ip]
    yield from ud_pair()
    yield f"attach_mcast qp gid={group}"
    yield "a: write mr[0:64] pattern=491"
    yield f"post_recv qp wr_id=1 sge=mr[{PLACE}:{2 * PLACE}]"
    yield "sync joined"
    yield f"a: create_ah pd dgid={group} as ah"
    yield ud_post(1, 0, 64, to_qp="0xffffff")
    yield "a: poll_cq scq"
    yield "b: poll_cq rcq"
    yield f"b: check mr[{PLACE + GRH}:{PLACE + GRH + 64}] pattern=491"
    yield "a: drain_cq rcq time=1000 count=1"
    yield f"a: check mr[{PLACE}:{PLACE + GRH}] grh from=gid to={group}"
    yield f"a: check mr[{PLACE + GRH}:{PLACE + GRH + 64}] pattern=491"
    yield f"detach_mcast qp gid={group}"
    yield "a: destroy_ah ah"
    yield from end()
