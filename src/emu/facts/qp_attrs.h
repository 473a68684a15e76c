/* SPDX-License-Identifier: MIT */
/* The attributes of a queue pair that are copied from one structure to another.
 *
 * QP_ATTRS has a row X(to, from, name, RFC's name) for each.  The RFC's structure has names of its
 * own; in those of the lab, of the device, of PVRDMA and of programs an attribute has @name.
 * Address vectors, sizes and sq_draining are not among them; sizes have QP_SIZES.
 */
#ifndef EMU_FACTS_QP_ATTRS_H
#define EMU_FACTS_QP_ATTRS_H

#include <stdint.h>

#define QP_ATTRS(X, to, from)                                                                      \
    X(to, from, state, qp_state)                                                                   \
    X(to, from, cur_state, cur_qp_state)                                                           \
    X(to, from, path_mtu, path_mtu)                                                                \
    X(to, from, access, qp_access_flags)                                                           \
    X(to, from, pkey_index, pkey_index)                                                            \
    X(to, from, port, port_num)                                                                    \
    X(to, from, qkey, qkey)                                                                        \
    X(to, from, dest_qpn, dest_qp_num)                                                             \
    X(to, from, rq_psn, rq_psn)                                                                    \
    X(to, from, sq_psn, sq_psn)                                                                    \
    X(to, from, max_rd_atomic, max_rd_atomic)                                                      \
    X(to, from, max_dest_rd_atomic, max_dest_rd_atomic)                                            \
    X(to, from, min_rnr_timer, min_rnr_timer)                                                      \
    X(to, from, timeout, timeout)                                                                  \
    X(to, from, retry_cnt, retry_cnt)                                                              \
    X(to, from, rnr_retry, rnr_retry)                                                              \
    X(to, from, en_sqd_async_notify, en_sqd_async_notify)

/* Sets the unsigned member @to to as many low bits of @from as it has room for. */
#define QP_ATTR_SET(to, from) ((to) = (from) & (UINT64_MAX >> (64 - 8 * sizeof(to))));

#define QP_ATTR_SAME(to, from, name, rfc)     QP_ATTR_SET((to)->name, (from)->name)
#define QP_ATTR_TO_RFC(to, from, name, rfc)   QP_ATTR_SET((to)->rfc, (from)->name)
#define QP_ATTR_FROM_RFC(to, from, name, rfc) QP_ATTR_SET((to)->name, (from)->rfc)

/* Copy all attributes; @to and @from are pointers to the structures. */
#define QP_ATTRS_COPY(to, from)                                                                    \
    do {                                                                                           \
        QP_ATTRS(QP_ATTR_SAME, to, from)                                                           \
    } while (0)
#define QP_ATTRS_TO_RFC(to, from)                                                                  \
    do {                                                                                           \
        QP_ATTRS(QP_ATTR_TO_RFC, to, from)                                                         \
    } while (0)
#define QP_ATTRS_FROM_RFC(to, from)                                                                \
    do {                                                                                           \
        QP_ATTRS(QP_ATTR_FROM_RFC, to, from)                                                       \
    } while (0)

/* Initializers of the sizes of the queues, which have the same names in all structures. */
#define QP_SIZES(from)                                                                             \
    .max_send_wr = (from)->max_send_wr, .max_recv_wr = (from)->max_recv_wr,                        \
    .max_send_sge = (from)->max_send_sge, .max_recv_sge = (from)->max_recv_sge

#endif
