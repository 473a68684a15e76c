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
    Row("imm_with_bad_rkey", "iba", "b", "b", "rcq: qp=qp wr_id=70 status=REM_ACCESS_ERR",
        "rcq: qp=qp wr_id=70 status=LOC_ACCESS_ERR", "the trait REFUSED_WRITE_IS_LOC_ACCESS"),
    Row("imm_without_receive_and_rkey", "iba", "b", "a", "scq: qp=qp wr_id=1 status=RNR_RETRY_EXC_ERR",
        "scq: qp=qp wr_id=1 status=REM_ACCESS_ERR", "the trait RECEIVE_AFTER_KEY"),
    Row("unaligned_with_bad_rkey", "iba", "b", "a", "scq: qp=qp wr_id=1 status=REM_ACCESS_ERR",
        "scq: qp=qp wr_id=1 status=REM_INV_REQ_ERR", "the trait FORM_BEFORE_KEY"),
    Row("mw_beyond", "iba", "b", "a", "scq: qp=qp wr_id=1 status=SUCCESS opcode=RDMA_WRITE",
        "scq: qp=qp wr_id=1 status=REM_ACCESS_ERR", "the trait WINDOW_BOUNDS_CHECKED"),
    Row("mw_bad_local_inv", "iba", "a", "a", "scq: qp=qp wr_id=1 status=LOC_QP_OP_ERR",
        "scq: qp=qp wr_id=1 status=MW_BIND_ERR", "the trait KEY_WORK_IS_BIND_ERR"),
    Row("mw_uc_local_inv", "iba", "a", "a", "scq: qp=qp wr_id=2 status=LOC_QP_OP_ERR",
        "scq: qp=qp wr_id=2 status=SUCCESS opcode=LOCAL_INV", "the trait UC_LOCAL_INV"),
    Row("uc_bad_lkey", "iba", "a", "a", "scq: qp=qp wr_id=1 status=LOC_QP_OP_ERR", "scq: qp=qp wr_id=1 status=LOC_PROT_ERR",
        "the trait SEND_KEY_IS_PROT_ERR"),
    Row("uc_bad_lkey", "iba", "a", "a", "rcq: qp=qp wr_id=70 status=WR_FLUSH_ERR",
        "rcq: qp=qp wr_id=70 status=SUCCESS opcode=RECV byte_len=64 wc_flags=0", "the trait SEND_ERROR_IS_SQE"),
    Row("other_mtu_send", "iba", "b", "a", "scq: qp=qp wr_id=1 status=SUCCESS opcode=SEND",
        "scq: qp=qp wr_id=1 status=REM_INV_REQ_ERR", "the trait LENGTH_CHECKED"),
    Row("other_mtu_send", "iba", "b", "b", "rcq: qp=qp wr_id=70 status=SUCCESS opcode=RECV byte_len=1500 wc_flags=0",
        "rcq: qp=qp wr_id=70 status=WR_FLUSH_ERR", "the length is looked at before a receive is taken"),
    Row("other_mtu_read", "iba", "a", "a", "scq: qp=qp wr_id=1 status=SUCCESS opcode=RDMA_READ byte_len=1500",
        "scq: qp=qp wr_id=1 status=BAD_RESP_ERR", "the trait READ_LENGTH_CHECKED"),
    Row("bad_lkey", "rxe-7.3", "a", "a", "scq: qp=qp wr_id=1 status=LOC_QP_OP_ERR", "scq: qp=qp wr_id=1 status=WR_FLUSH_ERR",
        "the trait LOCAL_ERROR_IS_TOLD"),
    Row("local_range", "rxe-7.3", "a", "a", "scq: qp=qp wr_id=1 status=LOC_PROT_ERR",
        "scq: qp=qp wr_id=1 status=WR_FLUSH_ERR", "the trait LOCAL_ERROR_IS_TOLD"),
    Row("mw_bind_again", "rxe-7.3", "b", "b", "scq: qp=qp wr_id=53 status=MW_BIND_ERR",
        "scq: qp=qp wr_id=53 status=WR_FLUSH_ERR", "the trait LOCAL_ERROR_IS_TOLD, of a work on keys"),
    Row("ud_refused", "rxe-7.3", "b", "b", "rcq: qp=qp wr_id=4 status=LOC_QP_OP_ERR", "",
        "the trait SHORT_RECV_OF_UD_IS_KEPT"),
    Row("mw_bad_local_inv", "rxe-7.3", "a", "a", "scq: qp=qp wr_id=1 status=LOC_QP_OP_ERR",
        "scq: qp=qp wr_id=1 status=WR_FLUSH_ERR", "the trait LOCAL_ERROR_IS_TOLD"),
    Row("mw_uc_local_inv", "rxe-7.3", "a", "a", "scq: qp=qp wr_id=2 status=LOC_QP_OP_ERR",
        "scq: qp=qp wr_id=2 status=WR_FLUSH_ERR", "the trait LOCAL_ERROR_IS_TOLD"),
    Row("uc_bad_lkey", "rxe-7.3", "a", "a", "scq: qp=qp wr_id=1 status=LOC_QP_OP_ERR",
        "scq: qp=qp wr_id=1 status=WR_FLUSH_ERR", "the trait LOCAL_ERROR_IS_TOLD"),
    Row("other_mtu_send", "rxe-7.3", "b", "a", "scq: qp=qp wr_id=1 status=SUCCESS opcode=SEND",
        "scq: qp=qp wr_id=1 status=REM_INV_REQ_ERR", "the trait LENGTH_CHECKED"),
    Row("other_mtu_send", "rxe-7.3", "b", "b", "rcq: qp=qp wr_id=70 status=SUCCESS opcode=RECV byte_len=1500 wc_flags=0",
        "rcq: qp=qp wr_id=70 status=REM_INV_REQ_ERR", "a receive is taken before the length is looked at"),
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
