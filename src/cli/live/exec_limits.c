/* SPDX-License-Identifier: MIT */
#include "cli/live/exec_limits.h"

#include "emu/base/assert.h"

static struct exec_limit first_exceeded(const struct exec_limit *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (rows[i].found > rows[i].most)
            return rows[i];
    }
    return (struct exec_limit){.name = NULL};
}

/* A queue pair with a shared receive queue has no receive queue of its own. */
static struct exec_limit exceeded_by_qp(const struct exec_client *c,
                                        const struct rdl_device_attr *d)
{
    const struct program_cap *cap = &c->call.u.create_qp.cap;
    const struct exec_limit rows[] = {
        {"max_send_wr", cap->max_send_wr, d->max_qp_wr},
        {"max_send_sge", cap->max_send_sge, d->max_send_sge},
        {"max_inline_data", cap->max_inline_data, d->max_inline_data},
        {"max_recv_wr", cap->max_recv_wr, d->max_qp_wr},
        {"max_recv_sge", cap->max_recv_sge, d->max_recv_sge},
    };

    return first_exceeded(rows, c->call.u.create_qp.srq ? 3 : ARRAY_LEN(rows));
}

struct exec_limit exec_limit_exceeded(const struct exec_client *c)
{
    const bool is_srq = c->call.op == PROGRAM_CREATE_SRQ;
    struct rdl_device_attr d;

    if ((!is_srq && c->call.op != PROGRAM_CREATE_QP) ||
        rdl_device_attr(c->lab, c->host, &d) != RDL_OK)
        return (struct exec_limit){.name = NULL};
    if (is_srq) {
        const struct exec_limit rows[] = {
            {"max_wr", c->call.u.create_srq.max_wr, d.max_srq_wr},
            {"max_sge", c->call.u.create_srq.max_sge, d.max_srq_sge},
        };

        return first_exceeded(rows, ARRAY_LEN(rows));
    }
    return exceeded_by_qp(c, &d);
}
