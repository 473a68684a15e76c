# SPDX-License-Identifier: MIT
"""Sections of verbs_lines.py: what rxe does otherwise than the specification, rows of src/emu/facts/profiles.def.

What it prints in these is in verbs.expected as in all others; verbs_likes.py has what the specification asks for.
"""
from verbs_base import IMPATIENT, PLACE, end, pair, queues, sge
from verbs_failures import refused


def imm_with_bad_rkey(to):
    """REFUSED_WRITE_IS_LOC_ACCESS: the status of the receive that the refused WRITE has taken."""
    yield from refused(to, [f"op=rdma_write_with_imm sge=mr[0:64] remote=peer.mr[{PLACE}] rkey=1 imm=7"])


def imm_without_receive_and_rkey(to):
    """RECEIVE_AFTER_KEY: a wrong key, and no receive."""
    yield from pair(to, IMPATIENT)
    yield f"a: post_send qp wr_id=1 op=rdma_write_with_imm sge=mr[0:64] remote=peer.mr[{PLACE}] rkey=1 imm=7 signaled"
    yield "a: poll_cq scq"
    yield from end()


def unaligned_with_bad_rkey(to):
    """FORM_BEFORE_KEY: an atomic with two mistakes."""
    yield from refused(to, [f"op=atomic_fetch_and_add sge=mr[{PLACE}:{PLACE + 8}] add=1 remote=peer.mr[{PLACE + 4}] rkey=1"])


def mw_beyond(to):
    """WINDOW_BOUNDS_CHECKED: bytes behind the window, in its region."""
    yield "b: alloc_mw pd type=2 as mw"
    yield from pair(to, IMPATIENT)
    yield f"b: post_send qp wr_id=50 op=bind_mw mw=mw bind=mr[{PLACE}:{PLACE + 64}] signaled"
    yield "b: poll_cq scq"
    yield "sync bound"
    yield "a: write mr[0:64] pattern=520"
    yield "a: post_send qp wr_id=1 op=rdma_write sge=mr[0:64] remote=peer.mw[32] signaled"
    yield "a: poll_cq scq"
    yield "sync written"
    yield "b: dealloc_mw mw"  # rxe does not destroy a queue pair that a window of type 2 is bound to
    yield from end()


def mw_bad_local_inv(to):
    """KEY_WORK_IS_BIND_ERR: a key that cannot be invalidated."""
    yield from refused(to, ["op=local_inv inv=1"], told=False)


def mw_uc_local_inv(to):
    """UC_LOCAL_INV."""
    yield "a: alloc_mw pd type=2 as mw"
    yield from pair(to, "", kind="uc")
    yield f"a: post_send qp wr_id=1 op=bind_mw mw=mw bind=mr[{PLACE}:{PLACE + 64}] signaled"
    yield "a: poll_cq scq"
    yield "a: post_send qp wr_id=2 op=local_inv inv=mw signaled"
    yield "a: poll_cq scq"
    yield "a: dealloc_mw mw"  # rxe does not destroy a queue pair that a window of type 2 is bound to
    yield from end()


def uc_bad_lkey(to):
    """SEND_ERROR_IS_SQE: does it still receive?"""
    yield from pair(to, "", kind="uc")
    yield "a: post_recv qp wr_id=70 sge=mr[0:64]"
    yield "a: post_send qp wr_id=1 sge=mr[0:64] lkey=1 signaled"
    yield "a: poll_cq scq"
    yield "sync failed"
    yield "b: post_send qp wr_id=2 sge=mr[0:64] signaled"
    yield "b: poll_cq scq"
    yield "a: drain_cq rcq time=1000 count=1"
    yield from end()


def other_mtu(to, op):
    """LENGTH_CHECKED and READ_LENGTH_CHECKED: the two ends have different path MTUs."""
    yield from queues()
    yield "create_qp pd type=rc send_cq=scq recv_cq=rcq as qp"
    yield f"write mr[0:{2 * PLACE}] fill=0"
    yield "sync created"
    yield f"a: connect qp peer.qp mtu=512 {IMPATIENT}"
    yield f"b: connect qp peer.qp mtu=1024 {IMPATIENT}"
    yield "sync connected"
    yield "a: write mr[0:1500] pattern=530" if op == "send" else "b: write mr[0:1500] pattern=530"
    if op == "send":
        yield f"b: post_recv qp wr_id=70{sge(0, 1500)}"
        yield "sync ready"
    yield f"a: post_send qp wr_id=1{sge(0, 1500)}" + ("" if op == "send" else " op=rdma_read remote=peer.mr[0]") + " signaled"
    yield "a: poll_cq scq"
    yield "sync failed"
    if op == "send":
        yield "b: drain_cq rcq time=1000 count=1"
    yield from end()
