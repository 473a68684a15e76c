# SPDX-License-Identifier: MIT
"""Where a side that behaves by the specification prints something else than rxe does, and why.

verbs.expected is what rxe prints with rxe.  A host of rdmalab with profile=rxe must print the same; one with
profile=iba differs in the rows here, and nowhere else.  Each row says which side has to be such a host
for it, the line that takes the place of another, and the argument.
"""
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    section: str
    iba: str  # the side, "a" or "b", that makes the difference
    side: str  # the side that prints it
    rxe: str
    line: str  # "": none
    why: str


ROWS = [
    Row("too_small", "b", "b", "rcq: qp=qp wr_id=70 status=LOC_QP_OP_ERR", "rcq: qp=qp wr_id=70 status=LOC_LEN_ERR",
        "the trait SHORT_RECV_IS_LEN_ERR: the message is longer than the receive"),
    Row("too_small", "b", "a", "scq: qp=qp wr_id=1 status=REM_OP_ERR", "scq: qp=qp wr_id=1 status=REM_INV_REQ_ERR",
        "the same trait: b answers NAK invalid request, as it was a that sent too much"),
    Row("bad_receive", "b", "b", "rcq: qp=qp wr_id=70 status=LOC_QP_OP_ERR",
        "rcq: qp=qp wr_id=70 status=LOC_PROT_ERR",
        "the trait RECV_KEY_IS_PROT_ERR: the key of the receive is b's own mistake"),
    Row("bad_lkey", "a", "a", "scq: qp=qp wr_id=1 status=LOC_QP_OP_ERR", "scq: qp=qp wr_id=1 status=LOC_PROT_ERR",
        "the trait SEND_KEY_IS_PROT_ERR: the key of the request is a's own mistake"),
    Row("ud_refused", "b", "b", "rcq: qp=qp wr_id=4 status=LOC_QP_OP_ERR", "",
        "the trait SHORT_RECV_IS_LEN_ERR again: a datagram that does not fit is a's mistake, and of that UD tells"
        " nobody; the receive is for the next one"),
]


def lines(section, side, wanted, iba):
    """@wanted, which @side prints in @section where all are like rxe, where the sides in @iba are not."""
    for row in ROWS:
        if (row.section, row.side) == (section, side) and row.iba in iba:
            wanted = [row.line if line == row.rxe else line for line in wanted]
    return [line for line in wanted if line]
