# SPDX-License-Identifier: MIT
"""Where a side prints something else than rxe of Linux 6.1 does, because it is not like that, and why.

verbs.expected is what rxe of Linux 6.1 prints with itself.  A host of rdmalab with profile=rxe must print the
same.  One with another profile, and rxe of another Linux, differ in the rows here, and nowhere else.  Each
row says which side has to be like what for it, the line that takes the place of another, and the argument.
"""
from dataclasses import dataclass

RXE = {"a": "rxe", "b": "rxe"}  # what both sides are like


@dataclass(frozen=True)
class Row:
    section: str
    like: str  # a profile
    at: str  # the side, "a" or "b", that is like that
    side: str  # the side that prints it
    rxe: str
    line: str  # "": none
    why: str


ROWS = [
    Row("too_small", "iba", "b", "b", "rcq: qp=qp wr_id=70 status=LOC_QP_OP_ERR", "rcq: qp=qp wr_id=70 status=LOC_LEN_ERR",
        "the trait SHORT_RECV_IS_LEN_ERR: the message is longer than the receive"),
    Row("too_small", "iba", "b", "a", "scq: qp=qp wr_id=1 status=REM_OP_ERR", "scq: qp=qp wr_id=1 status=REM_INV_REQ_ERR",
        "the same trait: b answers NAK invalid request, as it was a that sent too much"),
    Row("bad_receive", "iba", "b", "b", "rcq: qp=qp wr_id=70 status=LOC_QP_OP_ERR",
        "rcq: qp=qp wr_id=70 status=LOC_PROT_ERR",
        "the trait RECV_KEY_IS_PROT_ERR: the key of the receive is b's own mistake"),
    Row("bad_lkey", "iba", "a", "a", "scq: qp=qp wr_id=1 status=LOC_QP_OP_ERR", "scq: qp=qp wr_id=1 status=LOC_PROT_ERR",
        "the trait SEND_KEY_IS_PROT_ERR: the key of the request is a's own mistake"),
    Row("ud_refused", "iba", "b", "b", "rcq: qp=qp wr_id=4 status=LOC_QP_OP_ERR", "",
        "the trait SHORT_RECV_IS_LEN_ERR again: a datagram that does not fit is a's mistake, and of that UD tells"
        " nobody; the receive is for the next one"),
    Row("bad_lkey", "rxe-7.3", "a", "a", "scq: qp=qp wr_id=1 status=LOC_QP_OP_ERR", "scq: qp=qp wr_id=1 status=WR_FLUSH_ERR",
        "the trait LOCAL_ERROR_IS_TOLD"),
    Row("local_range", "rxe-7.3", "a", "a", "scq: qp=qp wr_id=1 status=LOC_PROT_ERR",
        "scq: qp=qp wr_id=1 status=WR_FLUSH_ERR", "the trait LOCAL_ERROR_IS_TOLD"),
    Row("mw_bind_again", "rxe-7.3", "b", "b", "scq: qp=qp wr_id=53 status=MW_BIND_ERR",
        "scq: qp=qp wr_id=53 status=WR_FLUSH_ERR", "the trait LOCAL_ERROR_IS_TOLD, of a work on keys"),
    Row("ud_refused", "rxe-7.3", "b", "b", "rcq: qp=qp wr_id=4 status=LOC_QP_OP_ERR", "",
        "the trait SHORT_RECV_OF_UD_IS_KEPT"),
]

# Sections whose end depends on how fast a kernel is.
BY_CHANCE = {
    "rxe-7.3": {"destroyed_by_b_rdma_read": "has answered 16 MiB before b comes to destroy its queue pair"},
}


def lines(section, side, wanted, likes):
    """@wanted, which @side prints in @section where both are like rxe, where the sides are like @likes."""
    for row in ROWS:
        if (row.section, row.side) == (section, side) and likes[row.at] == row.like:
            wanted = [row.line if line == row.rxe else line for line in wanted]
    return [line for line in wanted if line]
