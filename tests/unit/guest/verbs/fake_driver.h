/* SPDX-License-Identifier: MIT */
/* A driver without a device, and the smallest possible driver.  By default it accepts every
 * request.  A test can inspect requests, refuse them, answer late, or let sending fail.
 */
#ifndef TESTS_UNIT_GUEST_VERBS_FAKE_DRIVER_H
#define TESTS_UNIT_GUEST_VERBS_FAKE_DRIVER_H

#include "testing.h"

#include <errno.h>
#include <string.h>

#include "emu/facts/enum_table.h"
#include "emu/guest/verbs/driver.h"
#include "emu/trace/event.h"
#include "emu/trace/kind.h"
#include "emu/trace/trace.h"
#include "guest/program.h"

#define FAKE_HOST      2u
#define FAKE_MAX       4u /* CQs and QPs */
#define FAKE_WR        1024u
#define FAKE_INLINE    3000u
#define FAKE_RAM_BYTES (1u << 20)
#define FAKE_UNPOLLED  8u
#define FAKE_CODE      77u /* the code with which this device refuses */

struct fake {
    struct arena *arena;
    struct trace_sinks sinks;
    struct trace_sink sink;
    struct trace trace;
    struct ram ram;
    struct space space;
    struct verbs verbs;

    bool late;              /* requests wait for fake_answer() */
    int refuse;             /* errno of the next answer, if not 0; its code is FAKE_CODE */
    enum rdl_status cannot; /* result of sending any request or work request, if not RDL_OK */
    uint32_t n_requests, n_sends, n_recvs, n_kicks;
    uint32_t n_shared;       /* receives posted to shared receive queues */
    uint32_t limit;          /* of the last MODIFY_SRQ, or for the next QUERY_SRQ */
    uint32_t number;         /* of the last object created */
    struct rdl_qp_attr attr; /* of the last MODIFY_QP, or for the next QUERY_QP */
    uint32_t mask;
    enum rdl_status neighbour; /* result of resolving a MAC */
    uint8_t mac[MAC_BYTES];
    struct rdl_wc unpolled[FAKE_UNPOLLED];
    uint32_t n_unpolled;
    uint32_t members; /* joins minus leaves */
    uint32_t events[EV_COUNT];
};

/* Answers the request under way. */
static inline void fake_answer(struct fake *f)
{
    struct verbs *v = &f->verbs;
    struct guest_object *o = v->request.object;
    const struct verbs_port port = {.active_mtu = MTU_2048};
    const int refuse = f->refuse;

    assert_true(v->request.n > 0);
    f->refuse = 0;
    if (refuse) {
        verbs_refused(v, refuse, FAKE_CODE);
        return;
    }
    switch (v->request.kind) {
    case VERBS_BOOT:
        verbs_up(v);
        break;
    case VERBS_CREATE:
        for (f->number = 1; !verbs_is_free(v, o->kind, f->number); f->number++)
            assert_true(f->number <= FAKE_MAX);
        verbs_created(o, f->number);
        break;
    case VERBS_DESTROY:
        verbs_destroyed(o);
        break;
    case VERBS_MODIFY_QP:
        verbs_modified((struct guest_qp *)o);
        break;
    case VERBS_QUERY_QP:
        verbs_queried((struct guest_qp *)o, &f->attr);
        break;
    case VERBS_QUERY_PORT:
        verbs_queried_port(v, &port);
        break;
    case VERBS_ATTACH_MCAST:
        verbs_attached((struct guest_qp *)o);
        break;
    case VERBS_DETACH_MCAST:
        verbs_detached((struct guest_qp *)o);
        break;
    case VERBS_QUERY_PKEY:
        verbs_queried_pkey(v, (uint16_t)f->number);
        break;
    case VERBS_SET_GID:
        verbs_gid_set(v);
        break;
    case VERBS_MODIFY_SRQ:
        verbs_srq_modified((struct guest_srq *)o);
        break;
    case VERBS_QUERY_SRQ:
        verbs_srq_queried((struct guest_srq *)o, f->limit);
        break;
    case VERBS_ARM_CQ:
        verbs_armed((struct guest_cq *)o);
        break;
    case VERBS_REREG_MR:
        verbs_reregistered((struct guest_mr *)o);
        break;
    case VERBS_MAP_MR_SG:
        verbs_mapped((struct guest_mr *)o);
        break;
    case VERBS_RESIZE_CQ:
        verbs_resized((struct guest_cq *)o);
        break;
    case VERBS_RESIZE_QP:
        verbs_qp_resized((struct guest_qp *)o);
        break;
    }
}

static inline enum rdl_status fake_request(struct verbs *v)
{
    struct fake *f = v->driver;

    if (f->cannot != RDL_OK)
        return f->cannot;
    f->n_requests++;
    if (!f->late)
        fake_answer(f);
    return RDL_OK;
}

static inline enum rdl_status fake_create_pd(struct guest_pd *pd)
{
    return fake_request(pd->o.verbs);
}

static inline enum rdl_status fake_reg_mr(struct guest_mr *mr)
{
    return fake_request(mr->o.verbs);
}

static inline enum rdl_status fake_create_cq(struct guest_cq *cq)
{
    return fake_request(cq->o.verbs);
}

static inline enum rdl_status fake_create_qp(struct guest_qp *qp)
{
    return fake_request(qp->o.verbs);
}

static inline enum rdl_status fake_destroy(struct guest_object *o)
{
    return fake_request(o->verbs);
}

static inline void fake_listen(struct verbs *v)
{
    (void)v;
}

static inline enum rdl_status fake_resize_cq(struct guest_cq *cq, uint32_t cqe)
{
    (void)cqe;
    return fake_request(cq->o.verbs);
}

static inline enum rdl_status fake_resize_qp(struct guest_qp *qp, uint32_t max_send_wr,
                                             uint32_t max_recv_wr)
{
    (void)max_send_wr;
    (void)max_recv_wr;
    return fake_request(qp->o.verbs);
}

static inline enum rdl_status fake_arm_cq(struct guest_cq *cq, bool solicited_only)
{
    (void)solicited_only;
    return fake_request(cq->o.verbs);
}

static inline enum rdl_status fake_modify_qp(struct guest_qp *qp, const struct rdl_qp_attr *attr,
                                             uint32_t mask)
{
    struct fake *f = qp->o.verbs->driver;

    f->attr = *attr;
    f->mask = mask;
    return fake_request(qp->o.verbs);
}

static inline enum rdl_status fake_query_qp(struct guest_qp *qp)
{
    return fake_request(qp->o.verbs);
}

static inline enum rdl_status fake_query_pkey(struct verbs *v, uint32_t index)
{
    struct fake *f = v->driver;

    f->number = index + 0x100;
    return fake_request(v);
}

static inline enum rdl_status fake_set_gid(struct verbs *v, uint32_t index, bool valid)
{
    struct fake *f = v->driver;

    f->number = index + (valid ? 0x100 : 0x200);
    return fake_request(v);
}

static inline enum rdl_status fake_alloc_mw(struct guest_mw *mw)
{
    return fake_request(mw->o.verbs);
}

static inline enum rdl_status fake_rereg_mr(struct guest_mr *mr, const struct verbs_region *to)
{
    (void)to;
    return fake_request(mr->o.verbs);
}

static inline enum rdl_status fake_map_mr_sg(struct guest_mr *mr, const struct rdl_mr_range *range)
{
    (void)range;
    return fake_request(mr->o.verbs);
}

static inline enum rdl_status fake_mcast(struct guest_qp *qp, const uint8_t gid[GID_BYTES])
{
    (void)gid;
    return fake_request(qp->o.verbs);
}

static inline const char *fake_request_name(const struct verbs *v)
{
    (void)v;
    return "something";
}

static inline enum rdl_status fake_post_send(struct guest_qp *qp, const struct verbs_send *send,
                                             uint32_t *ret_entry)
{
    struct fake *f = qp->o.verbs->driver;

    (void)send;
    *ret_entry = f->n_sends;
    f->n_sends += f->cannot == RDL_OK;
    return f->cannot;
}

static inline enum rdl_status fake_post_recv(struct guest_qp *qp, const struct rdl_recv_wr *wr,
                                             uint32_t *ret_entry)
{
    struct fake *f = qp->o.verbs->driver;

    (void)wr;
    *ret_entry = f->n_recvs;
    f->n_recvs += f->cannot == RDL_OK;
    return f->cannot;
}

static inline enum rdl_status fake_create_srq(struct guest_srq *srq)
{
    return fake_request(srq->o.verbs);
}

static inline enum rdl_status fake_modify_srq(struct guest_srq *srq, uint32_t limit, uint32_t mask)
{
    struct fake *f = srq->o.verbs->driver;

    f->limit = limit;
    f->mask = mask;
    return fake_request(srq->o.verbs);
}

static inline enum rdl_status fake_query_srq(struct guest_srq *srq)
{
    return fake_request(srq->o.verbs);
}

static inline enum rdl_status fake_post_srq_recv(struct guest_srq *srq,
                                                 const struct rdl_recv_wr *wr, uint32_t *ret_entry)
{
    struct fake *f = srq->o.verbs->driver;

    (void)wr;
    *ret_entry = f->n_shared;
    f->n_shared += f->cannot == RDL_OK;
    return f->cannot;
}

static inline void fake_kick_srq(struct guest_srq *srq)
{
    ((struct fake *)srq->o.verbs->driver)->n_kicks++;
}

static inline void fake_kick(struct guest_qp *qp, bool send)
{
    (void)send;
    ((struct fake *)qp->o.verbs->driver)->n_kicks++;
}

static inline enum rdl_status fake_poll_cq(struct guest_cq *cq, size_t max, struct rdl_wc *ret,
                                           size_t *ret_n)
{
    struct fake *f = cq->o.verbs->driver;
    size_t n = 0;

    for (; n < max && n < f->n_unpolled; n++) {
        ret[n] = f->unpolled[n];
        verbs_polled(cq, &ret[n]);
    }
    f->n_unpolled -= (uint32_t)n;
    memmove(f->unpolled, f->unpolled + n, f->n_unpolled * sizeof(f->unpolled[0]));
    *ret_n = n;
    return RDL_OK;
}

static inline uint32_t fake_count_unpolled(const struct guest_cq *cq)
{
    return ((const struct fake *)cq->o.verbs->driver)->n_unpolled;
}

static const struct enum_row fake_code_rows[] = {
    {"ODD", FAKE_CODE, "the only code of this device"}};
static const struct enum_table fake_codes = {"fake_code", "response", fake_code_rows, 1};

static const struct verbs_driver_ops fake_ops = {
    .object_bytes =
        {
            [OBJ_PD] = sizeof(struct guest_pd),
            [OBJ_MR] = sizeof(struct guest_mr),
            [OBJ_CQ] = sizeof(struct guest_cq),
            [OBJ_QP] = sizeof(struct guest_qp),
            [OBJ_AH] = sizeof(struct guest_ah),
            [OBJ_MW] = sizeof(struct guest_mw),
            [OBJ_CHANNEL] = sizeof(struct guest_channel),
            [OBJ_SRQ] = sizeof(struct guest_srq),
        },
    .responses = &fake_codes,
    .create_pd = fake_create_pd,
    .reg_mr = fake_reg_mr,
    .create_cq = fake_create_cq,
    .create_qp = fake_create_qp,
    .create_srq = fake_create_srq,
    .modify_srq = fake_modify_srq,
    .query_srq = fake_query_srq,
    .destroy = fake_destroy,
    .resize_cq = fake_resize_cq,
    .resize_qp = fake_resize_qp,
    .arm_cq = fake_arm_cq,
    .modify_qp = fake_modify_qp,
    .query_qp = fake_query_qp,
    .listen = fake_listen,
    .query_port = fake_request,
    .query_pkey = fake_query_pkey,
    .set_gid = fake_set_gid,
    .alloc_mw = fake_alloc_mw,
    .rereg_mr = fake_rereg_mr,
    .map_mr_sg = fake_map_mr_sg,
    .attach_mcast = fake_mcast,
    .detach_mcast = fake_mcast,
    .request_name = fake_request_name,
    .post_send = fake_post_send,
    .post_recv = fake_post_recv,
    .post_srq_recv = fake_post_srq_recv,
    .kick = fake_kick,
    .kick_srq = fake_kick_srq,
    .poll_cq = fake_poll_cq,
    .count_unpolled = fake_count_unpolled,
};

static inline enum rdl_status fake_resolve(void *ctx, const uint8_t gid[GID_BYTES],
                                           const uint8_t **ret_mac)
{
    const struct fake *f = ctx;

    (void)gid;
    *ret_mac = f->mac;
    return f->neighbour;
}

static inline void fake_event(void *ctx, const struct ev *e)
{
    ((struct fake *)ctx)->events[e->kind]++;
}

static inline void fake_member(void *ctx, const uint8_t gid[GID_BYTES], bool joins)
{
    struct fake *f = ctx;

    (void)gid;
    f->members += joins ? 1u : UINT32_MAX;
}

/* Verbs of a device that is not up. */
static inline struct fake *fake_new(void)
{
    struct fake *f = test_calloc(1, sizeof(*f));
    const struct verbs_config config = {
        .host = FAKE_HOST,
        .gid = {{[10] = 0xff, 0xff, 10, 0, 0, 1}, {0xfe, 0x80, [15] = 1}},
        .trace = &f->trace,
        .space = &f->space,
        .resolve = fake_resolve,
        .member = fake_member,
        .ctx = f,
    };
    const struct verbs_limits limits = {
        .max_mr_bytes = 1u << 30,
        .max_cq = FAKE_MAX,
        .max_qp = FAKE_MAX,
        .max_cqe = FAKE_WR,
        .max_qp_wr = FAKE_WR,
        .max_send_sge = RDL_SGE_MAX,
        .max_recv_sge = RDL_SGE_MAX,
        .max_sge_rd = RDL_SGE_MAX,
        .max_inline_data = FAKE_INLINE,
        .max_pkeys = 1,
        .max_rd_atomic = 16,
        .max_dest_rd_atomic = 16,
        .n_ports = 1,
        .has_mcast = true,
        .max_srq = FAKE_MAX,
        .max_srq_wr = FAKE_WR,
        .max_srq_sge = RDL_SGE_MAX,
    };
    struct prng rng = prng_stream(1, 1);

    f->arena = arena_new((size_t)1 << 30);
    assert_non_null(f->arena);
    f->sink = (struct trace_sink){fake_event, f, ev_set_all, NULL};
    f->trace.sinks = &f->sinks;
    trace_sink_add(&f->sinks, &f->sink);
    assert_true(ram_init(&f->ram, f->arena, FAKE_RAM_BYTES));
    assert_true(space_init(&f->space, &f->ram, &rng));
    verbs_init(&f->verbs, f->arena, &config, &fake_ops, f);
    assert_true(verbs_meet(&f->verbs, &limits));
    return f;
}

static inline int fake_set_up(void **state)
{
    struct fake *f = fake_new();

    verbs_boot(&f->verbs);
    f->verbs.port.active_mtu = MTU_4096;
    verbs_up(&f->verbs);
    *state = f;
    return 0;
}

static inline int fake_tear_down(void **state)
{
    struct fake *f = *state;

    arena_free(f->arena);
    test_free(f);
    return 0;
}

#endif
