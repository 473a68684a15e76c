# SPDX-License-Identifier: MIT
"""FLUSH and ATOMIC WRITE: lines of verbs_peer (docs/verbs_peer.md), and what side a prints of them.

Each section has one request that may be refused, its last.  Side a asks, side b answers.
"""
from dataclasses import dataclass

BYTES = 8192
PATIENCE = "timeout=14 retry_cnt=3 rnr_retry=0"
TAKEN = "SUCCESS opcode="
FLUSH = "op=flush remote=peer.{mr}[{at}] length={length} placement={placement} selectivity={selectivity}"


def flush(at=0, length=64, placement=1, selectivity=0, mr="mr", more=""):
    return FLUSH.format(**locals()) + more


def atomic_write(at, more=""):
    return f"op=atomic_write sge=mr[0:8] remote=peer.mr[{at}]{more}"


@dataclass(frozen=True)
class Section:
    name: str
    posts: tuple  # of side a
    ends: str  # the status of the last one
    access: str = "rw,rr,ra,fg"  # of b's queue pair
    depth: int = 4  # READs, atomics and these under way
    written: int = -1  # where b must find the 8 bytes; -1: nowhere

    def kind(self):
        return "FLUSH" if "op=flush" in self.posts[-1] else "ATOMIC_WRITE" if "atomic_write" in self.posts[-1] else "RDMA_READ"

    def lines(self):
        yield "create_cq cqe=64 as scq"
        yield "create_cq cqe=64 as rcq"
        yield "create_qp pd send_cq=scq recv_cq=rcq as qp"
        yield f"write mr[0:{BYTES}] fill=0"
        yield "sync created"
        yield f"a: connect qp peer.qp {PATIENCE} max_rd_atomic={self.depth}"
        yield f"b: connect qp peer.qp {PATIENCE} max_dest_rd_atomic={self.depth} access={self.access}"
        yield "sync connected"
        yield "a: write mr[0:8] number=0x1122334455667788"
        for i, post in enumerate(self.posts):
            yield f"a: post_send qp wr_id={i + 1} {post} signaled"
        yield f"a: poll_cq scq count={len(self.posts)}"
        yield "sync done"
        if self.written >= 0:
            yield f"b: check mr[{self.written}:{self.written + 8}] number=0x1122334455667788"
            yield f"b: check mr[{self.written + 8}:{BYTES}] fill=0"
        else:
            yield f"b: check mr[0:{BYTES}] fill=0"
        yield "destroy_qp qp"
        yield "destroy_cq scq"
        yield "destroy_cq rcq"


OFFERED = [
    Section("atomic_write", (atomic_write(64),), TAKEN, written=64),
    Section("flush_range", (flush(),), TAKEN),
    Section("flush_region", (flush(0, 0, selectivity=1),), TAKEN),
    Section("flush_of_no_bytes", (flush(0, 0),), TAKEN),
    # A log: data, then their place, then the new end, each behind the other.
    Section("log", ("op=rdma_write sge=mr[0:8] remote=peer.mr[4096]", flush(4096, 8), atomic_write(4096)), TAKEN, written=4096),
    # More than the responder has resources for; READs between them.
    Section("many", tuple(post for _ in range(6) for post in (
        atomic_write(128), flush(128, 8), "op=rdma_read sge=mr[1024:1032] remote=peer.mr[128]")), TAKEN, depth=2, written=128),
    Section("unaligned_atomic_write", (atomic_write(4),), "REM_INV_REQ_ERR"),
    Section("atomic_write_with_bad_rkey", (atomic_write(64, " rkey=1"),), "REM_ACCESS_ERR"),
    Section("atomic_write_out_of_range", (atomic_write(BYTES),), "REM_ACCESS_ERR"),
    Section("atomic_write_not_allowed", (atomic_write(64),), "REM_INV_REQ_ERR", access="rr,fg"),
    Section("flush_with_bad_rkey", (flush(more=" rkey=1"),), "REM_ACCESS_ERR"),
    Section("flush_of_no_bytes_with_bad_rkey", (flush(0, 0, more=" rkey=1"),), "REM_ACCESS_ERR"),
    Section("flush_of_region_with_bad_rkey", (flush(selectivity=1, more=" rkey=1"),), "REM_ACCESS_ERR"),
    Section("flush_out_of_range", (flush(BYTES),), "REM_ACCESS_ERR"),
    Section("flush_of_region_out_of_range", (flush(BYTES, selectivity=1),), TAKEN),
    Section("flush_not_allowed", (flush(),), "REM_INV_REQ_ERR", access="rw,rr,ra"),
    Section("flush_of_region_that_does_not_allow_it", (flush(mr="plain"),), "REM_ACCESS_ERR"),
    Section("flush_for_persistence", (flush(placement=2),), "REM_INV_REQ_ERR"),
    Section("flush_of_memory_that_is_not_persistent", (flush(placement=3),), "REM_ACCESS_ERR", access="rw,fg,fp"),
]
# To a host that has neither, and whose queue pair knows no such access.
REFUSED = [Section("atomic_write", (atomic_write(64),), "", access="rw,rr,ra"),
           Section("flush", (flush(mr="plain"),), "", access="rw,rr,ra")]


def file_of(sections, access):
    """The lines of @sections.  @access: of the region mr, for FLUSH."""
    lines = ["alloc_pd as pd", f"reg_mr pd len={BYTES} access=lw,rw,rr,ra{access} as mr",
             f"reg_mr pd len={BYTES} access=lw,rw,rr,ra as plain", "sync ready"]
    for s in sections:
        lines += [f"section {s.name}", *s.lines()]
    return "".join(line + "\n" for line in lines)


# Of READs that end with a NAK, with the lab as side b or a.
LONG = 4 << 20
READS = ["create_cq cqe=64 as scq", "create_cq cqe=64 as rcq", "create_qp pd send_cq=scq recv_cq=rcq as qp", "sync created",
         "connect qp peer.qp timeout=17 retry_cnt=2", "sync connected"]


def read_of(size):
    """The lines of one READ of @size bytes by side a."""
    lines = ["alloc_pd as pd", f"reg_mr pd len={LONG} access=lw,rw,rr,ra as mr", "sync ready", "section read", *READS,
             f"a: post_send qp wr_id=1 op=rdma_read sge=mr[0:{size}] remote=peer.mr[0] signaled", "a: poll_cq scq", "sync done"]
    return "".join(line + "\n" for line in lines)


def expected(section, ends):
    """Returns the line of side a about the last request of @section, which @ends with that status."""
    more = section.kind() if ends == TAKEN else ""
    if more == "RDMA_READ":
        more += " byte_len=8"
    return f"scq: qp=qp wr_id={len(section.posts)} status={ends}{more}"
