/* SPDX-License-Identifier: MIT */
/* The drill of verbs: queue pairs, their states, attributes and limits, and the events of their
 * queues.
 *
 * Each step is an experiment of its own, on queue pairs that it creates and destroys.  Any step can
 * therefore be left out.
 */
#include <string.h>

#include "emu/facts/enum/access.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/profile.h"
#include "emu/facts/virtio/feature.h"
#include "emu/trace/event.h"
#include "rdmalab/events.h"
#include "swarm/drills/kinds.h"
#include "swarm/drills/verbs.h"

/* Of a host: QPN 1, and so few others that a number is soon used again. */
#define FEW_QPS 4u

const uint32_t verbs_rights =
    ACC_LOCAL_WRITE | ACC_REMOTE_WRITE | ACC_REMOTE_READ | ACC_REMOTE_ATOMIC;

bool verbs_pair(struct drill *d, struct rdl_qp_config *c, struct verbs_pair *p)
{
    return verbs_pair_with_srq(d, c, (rdl_srq){0}, p);
}

bool verbs_pair_with_srq(struct drill *d, struct rdl_qp_config *c, rdl_srq srq,
                         struct verbs_pair *p)
{
    struct drill_verbs *k = d->own;

    for (unsigned i = 0; i < RIG_HOSTS; i++) {
        const struct verbs_side *s = &k->side[i];
        struct rig_end *e = &p->end[i];

        e->number = i;
        e->host = s->host;
        e->access = verbs_rights;
        snprintf(e->name, sizeof(e->name), "qp%u", d->step);
        e->sq_psn = drill_one_in(d, 3) ? 0xffffffu - drill_below(d, 4) : drill_below(d, 1u << 24);
        c->pd = s->pd;
        c->send_cq = s->scq;
        c->recv_cq = s->rcq;
        c->srq.raw = i == 1 ? srq.raw : 0;
        if (!rig_add_qp(d, e, c))
            return false;
    }
    return true;
}

bool verbs_unpair(struct drill *d, struct verbs_pair *p)
{
    struct drill_verbs *k = d->own;

    for (unsigned i = 0; i < RIG_HOSTS; i++) {
        drill_say(d, "destroy_qp h%u.%s", i + 1, p->end[i].name);
        if (!drill_is_done(d, k->host[i], rdl_destroy_qp(d->lab, p->end[i].qp),
                           "a queue pair can be destroyed"))
            return false;
    }
    return verbs_no_more(d);
}

bool verbs_fill(struct drill *d, unsigned host)
{
    struct drill_verbs *k = d->own;
    const uint32_t salt = drill_below(d, 1u << 20);

    for (uint32_t i = 0; i < VERBS_HALF; i++)
        k->sent[i] = (uint8_t)((i + salt) * 2654435761u >> 13);
    memset(k->got, 0, sizeof(k->got));
    return drill_works(
               d,
               rdl_mem_write(d->lab, k->host[host], k->side[host].addr, k->sent, sizeof(k->sent)),
               "a program can write to its memory") &&
           drill_works(d,
                       rdl_mem_write(d->lab, k->host[1 - host], k->side[1 - host].addr + VERBS_HALF,
                                     k->got, sizeof(k->got)),
                       "a program can write to its memory");
}

bool verbs_send(struct drill *d, const struct rig_end *e, struct rdl_send_wr *wr)
{
    struct drill_verbs *k = d->own;

    wr->wr_id = ++k->wr_id;
    d->n_unsaid++;
    return drill_works(d, rdl_post_send(d->lab, e->qp, wr, false), "a right request can be posted");
}

bool verbs_recv(struct drill *d, const struct rig_end *e, uint32_t offset, uint32_t bytes)
{
    struct drill_verbs *k = d->own;
    const struct verbs_side *s = &k->side[e->number];
    const struct rdl_sge sge = {s->addr + offset, bytes, s->lkey};
    const struct rdl_recv_wr wr = {.wr_id = ++k->wr_id, .sge = &sge, .n_sge = 1};

    drill_say(d, "post_recv h%u.%s sge=mr[%u:%u] wr_id=%llu", e->number + 1, e->name, offset,
              offset + bytes, (unsigned long long)wr.wr_id);
    return drill_works(d, rdl_post_recv(d->lab, e->qp, &wr, false), "a receive can be posted");
}

bool verbs_done(struct drill *d, rdl_cq cq, uint32_t status, struct rdl_wc *ret)
{
    memset(ret, 0, sizeof(*ret));
    return drill_expect(d, rig_poll(d, cq, ret), "what ends has a completion", "none") &&
           drill_expect(d, ret->status == status,
                        "the status of a completion says what became of its request",
                        "%s in the place of %s", enum_name(&enum_wc_status, ret->status),
                        enum_name(&enum_wc_status, status));
}

bool verbs_no_more(struct drill *d)
{
    struct drill_verbs *k = d->own;
    struct rdl_wc wc = {0};

    for (unsigned i = 0; i < RIG_HOSTS; i++) {
        if (!drill_expect(d, !rig_poll(d, k->side[i].scq, &wc) && !rig_poll(d, k->side[i].rcq, &wc),
                          "nothing completes that was not asked for", "%s of wr_id %llu",
                          enum_name(&enum_wc_status, wc.status), (unsigned long long)wc.wr_id))
            return false;
    }
    return !d->wrong;
}

bool verbs_holds(struct drill *d, unsigned host, uint32_t offset, const void *want, uint32_t bytes,
                 const char *what)
{
    struct drill_verbs *k = d->own;
    const uint8_t *w = want;

    if (!drill_works(
            d, rdl_mem_read(d->lab, k->host[host], k->side[host].addr + offset, k->got, bytes),
            "a program can read its memory"))
        return false;
    for (uint32_t i = 0; i < bytes; i++) {
        if (!drill_expect(d, k->got[i] == w[i], what, "byte %u of %u is 0x%02x and not 0x%02x", i,
                          bytes, k->got[i], w[i]))
            return false;
    }
    return true;
}

const struct ev *verbs_event(struct drill *d, unsigned kind, uint64_t *at)
{
    const struct drill_verbs *k = d->own;

    if (*at < k->mark)
        *at = k->mark;
    return drill_event(d, kind, at);
}

bool verbs_frame(struct drill *d, unsigned host, uint64_t *at, const uint8_t **ret,
                 size_t *ret_bytes)
{
    const struct drill_verbs *k = d->own;
    const struct ev *e = verbs_event(d, EV_tx, at);

    while (e && e->u.tx.host + 1 != k->host[host].raw)
        e = verbs_event(d, EV_tx, at);
    if (e)
        *ret = rdl_record_frame(d->lab, e->id, ret_bytes);
    return e != NULL;
}

uint32_t verbs_count_tx(struct drill *d, unsigned host, uint32_t opcode)
{
    const struct drill_verbs *k = d->own;
    const struct ev *e;
    uint32_t n = 0;

    for (uint64_t at = 0; (e = verbs_event(d, EV_tx, &at));)
        n += e->u.tx.host + 1 == k->host[host].raw &&
             (opcode == RDL_ANY || (uint32_t)e->u.tx.opcode == opcode);
    return n;
}

bool verbs_fault(struct drill *d, struct rdl_fault_config *c, rdl_fault *ret)
{
    d->n_unsaid++;
    c->syndrome = c->psn = c->dest_qpn = RDL_ANY;
    return drill_works(d, rdl_fault_add(d->lab, c, ret), "a fault can be set");
}

/* --- Setup and steps -------------------------------------------------------------------------- */

static bool add_side(struct drill *d, unsigned i)
{
    struct drill_verbs *k = d->own;
    struct verbs_side *s = &k->side[i];
    const unsigned h = i + 1;
    struct rdl_mr_info info;

    s->host = k->host[i];
    drill_say(d, "alloc_pd h%u as pd", h);
    if (!drill_is_done(d, s->host, rdl_alloc_pd(d->lab, s->host, "pd", &s->pd),
                       "a PD can be made") ||
        !drill_works(d, rdl_mem_alloc(d->lab, s->host, VERBS_BUF, &s->addr), "there is memory"))
        return false;
    drill_say(d, "reg_mr h%u.pd len=16k access=lw,rw,rr,ra as mr", h);
    if (!drill_is_done(d, s->host,
                       rdl_reg_mr(d->lab, s->pd, s->addr, VERBS_BUF, verbs_rights, "mr", &s->mr),
                       "memory can be registered") ||
        !drill_works(d, rdl_mr_info(d->lab, s->mr, &info), "a region has keys"))
        return false;
    s->lkey = info.lkey;
    s->rkey = info.rkey;
    drill_say(d, "create_cq h%u cqe=64 as scq", h);
    if (!drill_is_done(d, s->host, rdl_create_cq(d->lab, s->host, 64, "scq", &s->scq),
                       "a CQ can be made"))
        return false;
    drill_say(d, "create_cq h%u cqe=64 as rcq", h);
    return drill_is_done(d, s->host, rdl_create_cq(d->lab, s->host, 64, "rcq", &s->rcq),
                         "a CQ can be made");
}

static void set_up(struct drill *d)
{
    struct drill_verbs *k = d->own;
    struct rig_config c = {0};

    c.profile = drill_one_in(d, 3) ? rig_draw_rxe(d) : PROFILE_iba;
    k->profile = c.profile;
    k->is_resizable = !drill_one_in(d, 4);
    if (drill_one_in(d, 2))
        c.max_qp = FEW_QPS;
    c.intx = k->has_line = drill_one_in(d, 4);
    if (!k->is_resizable)
        c.features_off = VIRTIO_FEATURE(VF_RING_RESET);
    if (rig_add_hosts(d, &c, k->host, &k->link) && add_side(d, 0))
        (void)add_side(d, 1);
}

/* Takes all events.  None may be about a queue pair, because all of them are destroyed. */
static void take_events(struct drill *d)
{
    struct drill_verbs *k = d->own;

    for (unsigned i = 0; i < RIG_HOSTS; i++) {
        struct rdl_async_event e;
        size_t n = 1;

        while (n > 0 && !d->wrong) {
            if (drill_works(d, rdl_get_async_event(d->lab, k->host[i], &e, &n),
                            "events can be asked for") &&
                n > 0)
                drill_expect(d, e.object != OBJ_QP,
                             "events of a queue pair that is gone are not told", "%s",
                             enum_name(&enum_async_event, e.type));
        }
    }
}

static void take(struct drill *d)
{
    static void (*const steps[])(struct drill * d) = {
        verbs_step_message, verbs_step_message,   verbs_step_limits, verbs_step_read_lost,
        verbs_step_timeout, verbs_step_rnr,       verbs_step_sqd,    verbs_step_sqd_limit,
        verbs_step_fence,   verbs_step_local_inv, verbs_step_srq,    verbs_step_modify,
        verbs_step_gid,     verbs_step_cq,        verbs_step_rights, verbs_step_datagram,
        verbs_step_atomics, verbs_step_gap,       verbs_step_flush,  verbs_step_wrong,
        verbs_step_again,   verbs_step_turns,     verbs_step_held,   verbs_step_master,
    };
    struct drill_verbs *k = d->own;

    k->mark = drill_events(d);
    steps[drill_below(d, sizeof(steps) / sizeof(steps[0]))](d);
    if (!d->wrong)
        take_events(d);
}

const struct drill_kind drill_of_verbs = {.name = "verbs",
                                          .bytes = sizeof(struct drill_verbs),
                                          .steps = 10,
                                          .set_up = set_up,
                                          .take = take,
                                          .extensions = RDMA_EXTENSIONS};
