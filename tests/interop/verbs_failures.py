# SPDX-License-Identifier: MIT
"""Sections of verbs_lines.py: what goes wrong, and how it ends at both sides."""
from verbs_base import CONNECTED, HUGE, IMPATIENT, MR_BYTES, PLACE, end, pair, queues_end, sge, written


def refused(to, posts, b_options="", before=(), after=(), receive="", told=True):
    """@posts go wrong: how does that end at both sides?  The next request of a is flushed, and if b is
    @told of it, so is its receive.
    """
    yield from pair(to, IMPATIENT, b_options=b_options)
    yield from before
    yield "a: write mr[0:64] pattern=500"
    yield f"b: post_recv qp wr_id=70{receive or ' sge=mr[0:64]'}"
    yield "sync ready"
    for i, post in enumerate(posts, 1):
        yield f"a: post_send qp wr_id={i} {post} signaled"
    yield f"a: poll_cq scq count={len(posts)}"
    yield f"a: post_send qp wr_id={len(posts) + 1} sge=mr[0:1] signaled"
    yield "a: poll_cq scq"
    yield "sync failed"
    yield "b: drain_cq rcq time=1000 count=1" if told else "b: drain_cq rcq time=20"
    yield f"b: check mr[64:{2 * PLACE}] fill=0"
    yield from after
    yield from end()


REMOTE_OPS = {
    "write": "op=rdma_write sge=mr[0:64]",
    "read": f"op=rdma_read sge=mr[{PLACE}:{PLACE + 64}]",
    "fetch_add": f"op=atomic_fetch_and_add sge=mr[{PLACE}:{PLACE + 8}] add=1",
    "cmp_swap": f"op=atomic_cmp_and_swp sge=mr[{PLACE}:{PLACE + 8}] compare=0 swap=1",
}


def bad_rkey(to, op):
    yield from refused(to, [f"{REMOTE_OPS[op]} remote=peer.mr[{PLACE}] rkey=1"])


def no_access(to, op):
    """The region allows nothing to the peer."""
    yield from refused(to, [f"{REMOTE_OPS[op]} remote=peer.closed[0]"],
                       before=["b: reg_mr pd len=4096 access=lw as closed"],
                       after=["b: check closed[0:4096] fill=0", "b: dereg_mr closed"])


def no_qp_access(to, op):
    """The queue pair allows nothing to the peer, though the region does."""
    yield from refused(to, [f"{REMOTE_OPS[op]} remote=peer.mr[{PLACE}]"], b_options=" access=0")


def out_of_range(to, op):
    yield from refused(to, [f"{REMOTE_OPS[op]} remote=peer.mr[{MR_BYTES}]"])


def unaligned(to, op):
    yield from refused(to, [f"{REMOTE_OPS[op]} remote=peer.mr[{PLACE + 4}]"])


def no_range(to):
    """A request of no bytes asks nothing of the key."""
    yield from pair(to)
    yield "a: post_send qp wr_id=1 op=rdma_write remote=peer.mr[0] rkey=1 signaled"
    yield "a: post_send qp wr_id=2 op=rdma_read remote=peer.mr[0] rkey=1 signaled"
    yield "a: poll_cq scq count=2"
    yield from end()


def after_success(to):
    """What came before the one that was refused has succeeded."""
    ok = f"op=rdma_write sge=mr[0:64] remote=peer.mr[{4 * PLACE}]"
    yield from refused(to, [ok, f"{REMOTE_OPS['read']} remote=peer.mr[{PLACE}] rkey=1", ok])


def too_small(to):
    yield from refused(to, ["sge=mr[0:64]"], receive=" sge=mr[0:63]")


def bad_receive(to):
    """The receive has a key that is not one."""
    yield from refused(to, ["sge=mr[0:64]"], receive=" sge=mr[0:64] lkey=1")


def bad_lkey(to):
    yield from refused(to, ["sge=mr[0:64] lkey=1"], told=False)


def local_range(to):
    yield from refused(to, [f"op=rdma_write sge=mr[{MR_BYTES - 1}:{MR_BYTES + 1}] remote=peer.mr[{PLACE}]"],
                       told=False)


def closed_sink(to):
    """What a READ brings must not be written where it goes."""
    yield from refused(to, [f"op=rdma_read sge=readonly[0:64] remote=peer.mr[{PLACE}]"],
                       before=["a: reg_mr pd len=4096 access=rr as readonly"],
                       after=["a: check readonly[0:4096] fill=0", "a: dereg_mr readonly"], told=False)


def bad_inv(to):
    """A key that cannot be invalidated: that of an ordinary region."""
    yield from refused(to, ["op=send_with_inv sge=mr[0:64] inv=peer.mr"])


def rnr_exceeded(to):
    yield from pair(to, IMPATIENT)
    yield "a: post_send qp wr_id=1 sge=mr[0:64] signaled"
    yield "a: post_send qp wr_id=2 sge=mr[0:64] signaled"
    yield "a: poll_cq scq count=2"
    yield from end()


def rnr_late(to):
    """The receive comes late, not too late."""
    yield from pair(to, f"{CONNECTED} min_rnr_timer=14")
    yield "a: write mr[0:64] pattern=510"
    yield "a: post_send qp wr_id=1 sge=mr[0:64] signaled"
    yield "sync sent"
    yield "b: sleep 20"
    yield "b: post_recv qp wr_id=1 sge=mr[0:64]"
    yield "a: poll_cq scq"
    yield "b: poll_cq rcq"
    yield "b: check mr[0:64] pattern=510"
    yield from end()


def big_pair(to):
    yield f"reg_mr pd len={HUGE} access=lw,rw,rr as huge"
    yield from pair(to, IMPATIENT)


def destroyed_by_b(to, op):
    """b destroys its queue pair while the bytes flow.  What has come until then has come."""
    watching = "b" if op == "rdma_write" else "a"
    source = "a" if op == "rdma_write" else "b"
    yield from big_pair(to)
    yield f"{source}: write huge[0:{HUGE}] fill=0x55"
    yield "sync filled"
    yield f"a: post_send qp wr_id=1 op={op} sge=huge[0:{HUGE}] remote=peer.huge[0] signaled"
    yield f"{watching}: await huge[0:{4 * to.mtu}] fill=0x55"
    if watching == "a":
        yield "sync flowing"
    yield "b: destroy_qp qp"
    yield "a: poll_cq scq"
    yield "sync gone"
    yield f"{watching}: check huge[{HUGE - 1}:{HUGE}] fill=0"
    yield "a: destroy_qp qp"
    yield from queues_end()
    yield "dereg_mr huge"


def destroyed_by_a(to, op):
    """a destroys its queue pair while the bytes flow: no completion, and nothing is written any more."""
    watching = "b" if op == "rdma_write" else "a"
    source = "a" if op == "rdma_write" else "b"
    yield from big_pair(to)
    yield f"{source}: write huge[0:{HUGE}] fill=0x55"
    yield "sync filled"
    yield f"a: post_send qp wr_id=1 op={op} sge=huge[0:{HUGE}] remote=peer.huge[0] signaled"
    yield f"{watching}: await huge[0:{4 * to.mtu}] fill=0x55"
    if watching == "b":
        yield "sync flowing"
    yield "a: destroy_qp qp"
    yield "sync gone"
    yield "a: drain_cq scq time=20"
    yield f"{watching}: check huge[{HUGE - 1}:{HUGE}] fill=0"
    yield "b: destroy_qp qp"
    yield from queues_end()
    yield "dereg_mr huge"
