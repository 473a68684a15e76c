/* SPDX-License-Identifier: MIT */
/* The drill of connections: queue pairs of IDs, as librdmacm moves them, and data between them. */
#include <stdio.h>
#include <string.h>

#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/enum/wr_opcode.h"
#include "rdmalab/memory.h"
#include "rdmalab/work.h"
#include "swarm/drills/drill_connections.h"

#define DATA_NS  1000000u
#define FLUSH_NS 5000u

bool conn_create_qp(struct drill *d, struct conn_id *id)
{
    struct connections *s = connections_of(d);
    const struct rdl_qp_config c = {.pd = s->pd[id->host],
                                    .type = QPT_RC,
                                    .send_cq = s->cq[id->host],
                                    .recv_cq = s->cq[id->host]};

    id->end = (struct rig_end){.number = id->host, .host = s->host[id->host]};
    snprintf(id->end.name, sizeof(id->end.name), "q%u", ++s->n_qps);
    if (!rig_add_qp(d, &id->end, &c) || !conn_hear(d))
        return false;
    id->has_qp = true;
    id->is_rts = id->is_err = false;
    id->qpn = id->end.qpn;
    return true;
}

bool conn_destroy_qp(struct drill *d, struct conn_id *id)
{
    if (!id->has_qp)
        return true;
    id->has_qp = id->is_rts = false;
    return drill_is_done(d, id->end.host, rdl_destroy_qp(d->lab, id->end.qp),
                         "a queue pair can be destroyed") &&
           conn_hear(d);
}

static bool check_attr(struct drill *d, const struct conn_id *id, uint32_t state,
                       const struct rdl_qp_attr *a)
{
    if (state == QPS_RTR)
        return drill_expect(d,
                            a->dest_qpn == id->remote_qpn && a->rq_psn == id->psn &&
                                a->max_dest_rd_atomic == id->resources,
                            "a queue pair expects what its side has told the peer",
                            "QPN %u, PSN %u, resources %u", a->dest_qpn, a->rq_psn,
                            a->max_dest_rd_atomic);
    return state != QPS_RTS ||
           drill_expect(d, a->sq_psn == id->remote_psn && a->max_rd_atomic == id->depth,
                        "a queue pair sends what the peer has told", "PSN %u, depth %u", a->sq_psn,
                        a->max_rd_atomic);
}

bool conn_move_qp(struct drill *d, struct conn_id *id, uint32_t state)
{
    struct rdl_modify_error error;
    struct rdl_qp_attr a;
    uint32_t mask;
    int e;

    if (!drill_works(d, rdl_cm_qp_attr(d->lab, id->id, state, &a, &mask, &e),
                     "an ID has attributes for its queue pair") ||
        !check_attr(d, id, state, &a) ||
        !drill_is_done(d, id->end.host, rdl_modify_qp(d->lab, id->end.qp, &a, mask, false, &error),
                       "the attributes of an ID fit its queue pair"))
        return false;
    id->is_rts = state == QPS_RTS;
    return conn_hear(d);
}

/* Checks that one completion at @host is for @end, with @status. */
static bool check_completion(struct drill *d, unsigned host, const struct rig_end *end,
                             uint64_t wr_id, uint32_t status)
{
    struct rdl_wc wc = {0};

    return drill_expect(d, rig_poll(d, connections_of(d)->cq[host], &wc), "a request completes",
                        "h%u.%s: no completion", host + 1, end->name) &&
           drill_expect(d, wc.status == status && wc.wr_id == wr_id && wc.qp_num == end->qpn,
                        "data passes between connected queue pairs, and between no others",
                        "h%u.%s: %s", host + 1, end->name, enum_name(&enum_wc_status, wc.status));
}

/* Posts a SEND of the first bytes of memory. */
static bool post_send(struct drill *d, const struct conn_id *from)
{
    struct connections *s = connections_of(d);
    const struct rdl_sge out = {s->base[from->host], CONN_BYTES, s->lkey[from->host]};
    const struct rdl_send_wr send = {
        .wr_id = s->wr_id, .opcode = WR_SEND, .flags = SF_SIGNALED, .sge = &out, .n_sge = 1};

    return drill_works(d, rdl_post_send(d->lab, from->end.qp, &send, false),
                       "a send can be posted");
}

bool conn_fail_qp(struct drill *d, struct conn_id *id)
{
    struct connections *s = connections_of(d);
    struct rdl_qp_attr a = {0};

    if (!id->has_qp || id->is_err)
        return true;
    id->is_err = true;
    id->is_rts = false;
    s->wr_id++;
    return rig_modify(d, &id->end, &a, QPS_ERR, 0) && conn_hear(d) && post_send(d, id) &&
           conn_run_until(d, rdl_now_ns(d->lab) + FLUSH_NS) &&
           check_completion(d, id->host, &id->end, s->wr_id, WCS_WR_FLUSH_ERR);
}

/* Checks that the bytes of the last message are at @to. */
static bool check_bytes(struct drill *d, const struct conn_id *to, const uint8_t want[CONN_BYTES])
{
    struct connections *s = connections_of(d);
    uint8_t have[CONN_BYTES];

    return drill_works(d,
                       rdl_mem_read(d->lab, s->host[to->host], s->base[to->host] + CONN_BYTES, have,
                                    CONN_BYTES),
                       "memory can be read") &&
           drill_expect(d, memcmp(have, want, CONN_BYTES) == 0, "a message arrives as it was sent",
                        "it begins with %u, and not with %u", have[0], want[0]);
}

bool conn_pass_data(struct drill *d, struct conn_id *from, struct conn_id *to)
{
    struct connections *s = connections_of(d);
    const uint64_t wr_id = ++s->wr_id;
    const struct rdl_sge in = {s->base[to->host] + CONN_BYTES, CONN_BYTES, s->lkey[to->host]};
    const struct rdl_recv_wr recv = {.wr_id = wr_id, .sge = &in, .n_sge = 1};
    uint8_t bytes[CONN_BYTES];

    memset(bytes, (uint8_t)wr_id, sizeof(bytes));
    return drill_works(
               d,
               rdl_mem_write(d->lab, s->host[from->host], s->base[from->host], bytes, CONN_BYTES),
               "memory can be written") &&
           drill_works(d, rdl_post_recv(d->lab, to->end.qp, &recv, false),
                       "a receive can be posted") &&
           post_send(d, from) && conn_run_until(d, rdl_now_ns(d->lab) + DATA_NS) &&
           check_completion(d, to->host, &to->end, wr_id, WCS_SUCCESS) &&
           check_completion(d, from->host, &from->end, wr_id, WCS_SUCCESS) &&
           check_bytes(d, to, bytes);
}
