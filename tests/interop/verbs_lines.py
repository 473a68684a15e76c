#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What the two sides of verbs_peer do: the lines of each section (docs/verbs_peer.md is their language).

usage: verbs_lines.py MTU LOSS IP     prints the file of that case

Where it matters, side a asks and side b answers: which of them is rxe and which the lab is the case's.
"""
import sys
from dataclasses import dataclass

import verbs_connected as connected
import verbs_datagrams as datagrams
import verbs_failures as failing
import verbs_traits as traits
from verbs_base import BIG, BIG_PLACE, LOSSES, MR_BYTES, To, places


@dataclass(frozen=True)
class Section:
    name: str
    lines: object  # of a To
    losses: tuple = LOSSES
    lossy: bool = False  # may messages be missing at b where frames are lost?
    big: bool = False  # of 1 MiB


def sized(name, lines, *options, losses=LOSSES, **more):
    """All sizes but 1 MiB."""
    return Section(name, lambda to: lines(to, *options, places(to.sizes()), **more), losses)


def one_big(name, lines, *options, **more):
    """1 MiB."""
    return Section(name, lambda to: lines(to, *options, [(0, BIG_PLACE, BIG)], **more), (0, 1), big=True)


def named(lines, losses=LOSSES):
    return Section(lines.__name__, lines, losses)


def with_op(lines, ops, losses=(0,), lossy=False):
    """A section for each of @ops."""
    return [Section(f"{lines.__name__}_{op}", lambda to, op=op: lines(to, op), losses, lossy) for op in ops]


def sections():
    """UC has no section of 1 MiB: nobody slows the sender down, and queues of the kernel are shorter."""
    return [
        sized("rc_send", connected.sends, "send", seed=100),
        sized("rc_send_with_imm", connected.sends, "send_with_imm", seed=110),
        sized("rc_write", connected.writes, "rdma_write", seed=200),
        sized("rc_write_with_imm", connected.writes, "rdma_write_with_imm", seed=210),
        sized("rc_read", connected.reads, seed=300),
        one_big("rc_send_1m", connected.sends, "send", seed=120),
        one_big("rc_write_1m", connected.writes, "rdma_write", seed=225),
        one_big("rc_write_with_imm_1m", connected.writes, "rdma_write_with_imm", seed=220),
        one_big("rc_read_1m", connected.reads, seed=320),
        named(connected.rc_atomics),
        named(connected.rc_pieces),
        named(connected.rc_inline),
        named(connected.rc_fence),
        named(connected.rc_crossing),
        named(connected.rc_psn_wrap),
        named(connected.srq),
        named(connected.mw_access),
        named(connected.mw_send_with_inv),
        named(connected.mw_local_inv, (0,)),
        named(connected.mw_after_inv, (0,)),
        named(connected.mw_bind_again, (0,)),
        named(connected.mw_type_1, (0,)),
        sized("uc_send", connected.sends, "send", losses=(0,), kind="uc", seed=130),
        sized("uc_write", connected.writes, "rdma_write", losses=(0,), kind="uc", seed=230),
        *with_op(datagrams.uc, ["send_with_imm", "rdma_write_with_imm"], LOSSES, lossy=True),
        Section("ud_messages", datagrams.ud_messages, lossy=True),
        named(datagrams.uc_refused, (0,)),
        named(datagrams.ud_area, (0,)),
        named(datagrams.ud_refused, (0,)),
        named(datagrams.mcast, (0,)),
        named(datagrams.mcast_own, (0,)),
        *failures(),
        *differences(),
    ]


def failures():
    """Without loss: who gives up after few retries must not do so too early."""
    for lines in failing.bad_rkey, failing.no_access, failing.no_qp_access, failing.out_of_range:
        yield from with_op(lines, failing.REMOTE_OPS)
    yield from with_op(failing.unaligned, ["fetch_add", "cmp_swap"])
    for lines in (failing.no_range, failing.after_success, failing.too_small, failing.bad_receive, failing.bad_lkey,
                  failing.local_range, failing.closed_sink, failing.bad_inv, failing.rnr_exceeded, failing.rnr_late):
        yield named(lines, (0,))
    for lines in failing.destroyed_by_b, failing.destroyed_by_a:
        yield from with_op(lines, ["rdma_write", "rdma_read"])


def differences():
    """Where rxe is not as the specification says."""
    for lines in (traits.imm_with_bad_rkey, traits.imm_without_receive_and_rkey, traits.unaligned_with_bad_rkey,
                  traits.mw_beyond, traits.mw_bad_local_inv, traits.mw_uc_local_inv, traits.uc_bad_lkey):
        yield named(lines, (0,))
    yield from with_op(traits.other_mtu, ["send", "read"])


def setup(windows):
    """Not every device has memory windows."""
    yield "alloc_pd as pd"
    yield f"reg_mr pd len={MR_BYTES} access=lw,rw,rr,ra{',mw' if windows else ''} as mr"
    yield "sync ready"


def file_of(to, chosen=None):
    """The text of a case: all sections that are tried with its loss, or those of them that are @chosen."""
    asked = [s for s in sections() if to.loss in s.losses and (chosen is None or s.name in chosen)]
    lines = list(setup(windows=any(s.name.startswith("mw_") for s in asked)))
    for s in asked:
        lines += [f"section {s.name}", *s.lines(to)]
    return "".join(line + "\n" for line in lines)


if __name__ == "__main__":
    print(file_of(To(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])), end="")
