# SPDX-License-Identifier: MIT
"""Sections of verbs_lines.py: SEND, WRITE, READ and what else connected queue pairs do, with success."""
from verbs_base import (CONNECTED, IMPATIENT, MR_BYTES, PLACE, checked, end, pair, patience, places, queues,
                        queues_end, received, sge, written)


def sends(to, op, messages, seed, kind="rc"):
    imm = op.endswith("_imm")
    yield from pair(to, patience(messages), kind=kind)
    yield from written("a", messages, seed)
    yield from received(messages)
    yield "sync posted"
    for i, at, size in messages:
        yield f"a: post_send qp wr_id={i} op={op}{sge(at, size)}{f' imm={0xabc00 + i}' if imm else ''} signaled"
    yield f"a: poll_cq scq count={len(messages)}"
    yield f"b: poll_cq rcq count={len(messages)}"
    yield from checked("b", messages, seed)
    yield from end()


def writes(to, op, messages, seed, kind="rc"):
    imm = op.endswith("_imm")
    yield from pair(to, patience(messages), kind=kind)
    yield from written("a", messages, seed)
    if imm:
        for i, _, _ in messages:
            yield f"b: post_recv qp wr_id={i}"
        yield "sync posted"
    for i, at, size in messages:
        yield (f"a: post_send qp wr_id={i} op={op}{sge(at, size)} remote=peer.mr[{at}]"
               f"{f' imm={0xdef00 + i}' if imm else ''} signaled")
    yield f"a: poll_cq scq count={len(messages)}"
    if imm:
        yield f"b: poll_cq rcq count={len(messages)}"
    elif kind == "uc":
        yield f"b: await mr[{messages[-1][1]}:{sum(messages[-1][1:])}] pattern={seed + messages[-1][0]}"
    yield "sync written"
    yield from checked("b", messages, seed)
    yield from end()


def reads(to, messages, seed):
    yield from pair(to, patience(messages))
    yield from written("b", messages, seed)
    yield "sync written"
    for i, at, size in messages:
        yield f"a: post_send qp wr_id={i} op=rdma_read{sge(at, size)} remote=peer.mr[{at}] signaled"
    yield f"a: poll_cq scq count={len(messages)}"
    yield from checked("a", messages, seed)
    yield from end()


def rc_atomics(to):
    """Each returns what was there before; the sum is exact, and so is the last exchange."""
    yield from pair(to)
    yield "b: write mr[0:8] number=1000"
    yield "sync written"
    total = 1000
    before = []
    for i in range(8):
        add = (1 << 40) + i if i % 2 else 3 * i + 1
        yield (f"a: post_send qp wr_id={i} op=atomic_fetch_and_add sge=mr[{8 * i}:{8 * i + 8}] remote=peer.mr[0]"
               f" add={add} signaled")
        before.append(total)
        total += add
    for i, (compare, swap) in enumerate([(total, 77), (total, 88), (77, 0xffffffffffffffff)], 8):
        yield (f"a: post_send qp wr_id={i} op=atomic_cmp_and_swp sge=mr[{8 * i}:{8 * i + 8}] remote=peer.mr[0]"
               f" compare={compare} swap={swap} signaled")
    yield "a: post_send qp wr_id=11 op=atomic_fetch_and_add sge=mr[88:96] remote=peer.mr[0] add=6 signaled"
    before += [total, 77, 77, 0xffffffffffffffff]
    yield f"a: poll_cq scq count={len(before)}"
    for i, number in enumerate(before):
        yield f"a: check mr[{8 * i}:{8 * i + 8}] number={number}"
    yield "sync added"
    yield "b: check mr[0:8] number=5"  # the sum wraps around
    yield "b: check mr[8:4096] fill=0"
    yield from end()


def rc_pieces(to):
    """Gathered from three pieces and scattered into two, of odd lengths; only the last one is signaled."""
    size = to.mtu + 5
    yield from pair(to)
    yield f"a: write mr[0:{size}] pattern=400"
    yield f"b: post_recv qp wr_id=1 sge=mr[0:7],mr[7:{size}]"
    yield f"b: post_recv qp wr_id=2 sge=mr[{PLACE}:{PLACE + size - 1}],mr[{PLACE + size - 1}:{PLACE + size}]"
    yield "sync posted"
    pieces = f"mr[0:1],mr[1:{to.mtu - 2}],mr[{to.mtu - 2}:{size}]"
    yield f"a: post_send qp wr_id=1 sge={pieces}"
    yield f"a: post_send qp wr_id=2 sge={pieces}"
    yield f"a: post_send qp wr_id=3 op=rdma_write sge={pieces} remote=peer.mr[{2 * PLACE + 3}]"
    yield (f"a: post_send qp wr_id=4 op=rdma_read sge=mr[{PLACE}:{PLACE + 11}],mr[{PLACE + 11}:{PLACE + size}]"
           f" remote=peer.mr[{2 * PLACE + 3}] signaled")
    yield "a: poll_cq scq"
    yield f"a: check mr[{PLACE}:{PLACE + size}] pattern=400"
    yield "b: poll_cq rcq count=2"
    yield "sync sent"
    for at in 0, PLACE, 2 * PLACE + 3:
        yield f"b: check mr[{at}:{at + size}] pattern=400"
        yield f"b: check mr[{at + size}:{at + 2 * to.mtu}] fill=0"
    yield from end()


def rc_inline(to):
    """What is sent was copied when it was posted."""
    yield from pair(to, create=" max_inline_data=64")
    yield "a: write mr[0:64] pattern=410"
    yield "b: post_recv qp wr_id=1 sge=mr[0:64]"
    yield "sync posted"
    yield "a: post_send qp wr_id=1 sge=mr[0:64] inline signaled"
    yield f"a: post_send qp wr_id=2 op=rdma_write sge=mr[0:33] remote=peer.mr[{PLACE}] inline signaled"
    yield "a: write mr[0:64] fill=0"
    yield "a: poll_cq scq count=2"
    yield "b: poll_cq rcq"
    yield "sync sent"
    yield "b: check mr[0:64] pattern=410"
    yield f"b: check mr[{PLACE}:{PLACE + 33}] pattern=410"
    yield f"b: check mr[{PLACE + 33}:{PLACE + 64}] fill=0"
    yield from end()


def rc_fence(to):
    """What a READ brings is what the fenced SEND behind it takes away."""
    size = 3 * to.mtu + 1
    yield from pair(to)
    yield f"b: write mr[0:{size}] pattern=420"
    yield f"b: post_recv qp wr_id=1 sge=mr[{PLACE}:{PLACE + size}]"
    yield "sync posted"
    yield f"a: post_send qp wr_id=1 op=rdma_read sge=mr[0:{size}] remote=peer.mr[0] signaled"
    yield f"a: post_send qp wr_id=2 sge=mr[0:{size}] fence signaled"
    yield "a: poll_cq scq count=2"
    yield "b: poll_cq rcq"
    yield f"b: check mr[{PLACE}:{PLACE + size}] pattern=420"
    yield from end()


def rc_crossing(to):
    """Both ask at once: each answers between its own requests."""
    size = 3 * to.mtu + 1
    yield from pair(to)
    yield f"write mr[0:{size}] pattern=430"
    yield "sync written"
    for i in range(4):
        yield f"post_send qp wr_id={2 * i} op=rdma_write sge=mr[0:{size}] remote=peer.mr[{(i + 1) * PLACE}] signaled"
        yield (f"post_send qp wr_id={2 * i + 1} op=rdma_read sge=mr[{(i + 5) * PLACE}:{(i + 5) * PLACE + size}]"
               " remote=peer.mr[0] signaled")
    yield "poll_cq scq count=8"
    yield "sync crossed"
    for i in range(1, 9):
        yield f"check mr[{i * PLACE}:{i * PLACE + size}] pattern=430"
        yield f"check mr[{i * PLACE + size}:{(i + 1) * PLACE}] fill=0"
    yield from end()


def rc_psn_wrap(to):
    """The PSNs begin again at 0 inside a READ, inside a WRITE, and of what b sends inside a SEND."""
    size = 3 * to.mtu + 1
    yield from pair(to, f"{CONNECTED} sq_psn=0xfffffe peer_psn=0xfffffe")
    yield f"b: write mr[0:{size}] pattern=440"
    yield f"a: post_recv qp wr_id=7 sge=mr[{2 * PLACE}:{3 * PLACE}]"
    yield "sync written"
    yield f"a: post_send qp wr_id=1 op=rdma_read sge=mr[0:{size}] remote=peer.mr[0] signaled"
    yield f"a: post_send qp wr_id=2 op=rdma_write sge=mr[0:{size}] remote=peer.mr[{PLACE}] fence signaled"
    yield "a: poll_cq scq count=2"
    yield f"a: check mr[0:{size}] pattern=440"
    yield "sync read"
    yield f"b: check mr[{PLACE}:{PLACE + size}] pattern=440"
    yield f"b: post_send qp wr_id=3 sge=mr[0:{size}] signaled"
    yield "b: poll_cq scq"
    yield "a: poll_cq rcq"
    yield f"a: check mr[{2 * PLACE}:{2 * PLACE + size}] pattern=440"
    yield from end()
    yield from pair(to, f"{CONNECTED} sq_psn=0xfffffe peer_psn=0xfffffe")
    yield f"a: write mr[0:{size}] pattern=441"
    yield f"a: post_send qp wr_id=4 op=rdma_write sge=mr[0:{size}] remote=peer.mr[0] signaled"
    yield (f"a: post_send qp wr_id=5 op=atomic_fetch_and_add sge=mr[{PLACE}:{PLACE + 8}] remote=peer.mr[{PLACE}]"
           " add=1 signaled")
    yield "a: poll_cq scq count=2"
    yield "sync written_again"
    yield f"b: check mr[0:{size}] pattern=441"
    yield f"b: check mr[{PLACE}:{PLACE + 8}] number=1"
    yield from end()


def window(to, options=CONNECTED):
    """b has bound a window of type 2 to a place, and a has written through it."""
    yield from pair(to, options)
    yield "b: alloc_mw pd type=2 as mw"
    yield f"b: post_send qp wr_id=50 op=bind_mw mw=mw bind=mr[{PLACE}:{2 * PLACE}] access=rw,rr key=0x21 signaled"
    yield "b: poll_cq scq"
    yield "a: write mr[0:64] pattern=450"
    yield f"b: post_recv qp wr_id=1 sge=mr[{3 * PLACE}:{3 * PLACE + 64}]"
    yield "sync bound"
    yield "a: post_send qp wr_id=1 op=rdma_write sge=mr[0:64] remote=peer.mw[3] signaled"
    yield "a: poll_cq scq"
    yield "sync used"
    yield f"b: check mr[{PLACE + 3}:{PLACE + 67}] pattern=450"


def window_end():
    """rxe waits for its windows, most of a minute, when a queue pair is destroyed: so these go first."""
    yield "sync looked"
    yield "b: dealloc_mw mw"
    yield from end()


def window_refused():
    """The window is no more."""
    yield "a: post_send qp wr_id=2 op=rdma_write sge=mr[0:64] remote=peer.mw[100] signaled"
    yield "a: poll_cq scq"
    yield "sync refused"
    yield f"b: check mr[{PLACE + 67}:{2 * PLACE}] fill=0"


def mw_access(to):
    """The window's key reaches the window, at addresses of the region.  That it must not reach what is
    beside the window is left to the lab: rxe of Linux 6.1 holds it only against the region.
    """
    yield from window(to)
    yield "a: post_send qp wr_id=2 op=rdma_read sge=mr[64:128] remote=peer.mw[3] signaled"
    yield "a: poll_cq scq"
    yield "a: check mr[64:128] pattern=450"
    yield from window_end()


def mw_local_inv(to):
    """b takes the window back; what reaches for it afterwards is refused."""
    yield from window(to, IMPATIENT)
    yield "b: post_send qp wr_id=51 op=local_inv inv=mw signaled"
    yield "b: poll_cq scq"
    yield "sync taken_back"
    yield from window_refused()
    yield from window_end()


def mw_send_with_inv(to, options=CONNECTED):
    """a gives the window back with its last message."""
    yield from window(to, options)
    yield "a: post_send qp wr_id=3 op=send_with_inv sge=mr[0:64] inv=peer.mw signaled"
    yield "a: poll_cq scq"
    yield "b: poll_cq rcq"
    yield f"b: check mr[{3 * PLACE}:{3 * PLACE + 64}] pattern=450"
    if options == IMPATIENT:
        yield "sync given_back"
        yield from window_refused()
    yield from window_end()


def mw_after_inv(to):
    yield from mw_send_with_inv(to, IMPATIENT)


def mw_type_1(to):
    """A window of type 1 can be bound again as it is; bound to nothing it is no more."""
    yield from pair(to, IMPATIENT)
    yield "b: alloc_mw pd type=1 as mw"
    yield "a: write mr[0:64] pattern=455"
    for i in 1, 2:
        yield f"b: bind_mw qp wr_id={50 + i} mw=mw bind=mr[{i * PLACE}:{(i + 1) * PLACE}] access=rw,rr signaled"
        yield "b: poll_cq scq"
        yield f"sync bound_{i}"
        yield f"a: post_send qp wr_id={i} op=rdma_write sge=mr[0:64] remote=peer.mw[{i}] signaled"
        yield "a: poll_cq scq"
        yield f"sync used_{i}"
        yield f"b: check mr[{i * PLACE + i}:{i * PLACE + i + 64}] pattern=455"
    yield "b: bind_mw qp wr_id=53 mw=mw bind=mr[0:0] access=0 signaled"
    yield "b: poll_cq scq"
    yield "sync unbound"
    yield f"a: post_send qp wr_id=3 op=rdma_write sge=mr[0:64] remote=peer.mr[{3 * PLACE}] rkey=peer.mw signaled"
    yield "a: poll_cq scq"
    yield "sync refused"
    yield f"b: check mr[{3 * PLACE}:{4 * PLACE}] fill=0"
    yield from window_end()


def mw_bind_again(to):
    """A window of type 2 that is bound cannot be bound; taken back it can, with another key."""
    yield from window(to, IMPATIENT)
    yield "b: post_send qp wr_id=51 op=local_inv inv=mw signaled"
    yield f"b: post_send qp wr_id=52 op=bind_mw mw=mw bind=mr[{2 * PLACE}:{3 * PLACE}] access=rw key=0x22 signaled"
    yield "b: poll_cq scq count=2"
    yield "sync bound_again"
    yield "a: post_send qp wr_id=2 op=rdma_write sge=mr[0:64] remote=peer.mw[0] signaled"
    yield "a: poll_cq scq"
    yield "sync used_again"
    yield f"b: check mr[{2 * PLACE}:{2 * PLACE + 64}] pattern=450"
    yield f"b: post_send qp wr_id=53 op=bind_mw mw=mw bind=mr[0:{PLACE}] access=rw key=0x23 signaled"
    yield "b: poll_cq scq"
    yield from window_end()


def srq(to):
    """Two queue pairs of b take their receives from one queue, in its order."""
    yield from queues()
    yield f"write mr[0:{MR_BYTES}] fill=0"
    yield "b: create_srq pd max_wr=16 as srq"
    for qp in "qp1", "qp2":
        yield f"a: create_qp pd type=rc send_cq=scq recv_cq=rcq as {qp}"
        yield f"b: create_qp pd type=rc send_cq=scq recv_cq=rcq srq=srq as {qp}"
    yield "sync created"
    for qp in "qp1", "qp2":
        yield f"connect {qp} peer.{qp} mtu={to.mtu} {CONNECTED}"
    messages = places(to.sizes())
    yield from written("a", messages, 460)
    for i, at, _ in messages:
        yield f"b: post_srq_recv srq wr_id={i} sge=mr[{at}:{at + PLACE}]"
    yield "sync connected"
    for i, at, size in messages:
        yield f"a: post_send qp{i % 2 + 1} wr_id={i} op=send_with_imm imm={i}{sge(at, size)} signaled"
        yield "a: poll_cq scq"
    yield f"b: poll_cq rcq count={len(messages)}"
    yield from checked("b", messages, 460)
    yield "sync done"
    yield "destroy_qp qp1"
    yield "destroy_qp qp2"
    yield "b: destroy_srq srq"
    yield from queues_end()
