/* SPDX-License-Identifier: MIT */
/* Two connection managers whose events are noted. */
#ifndef UNIT_GUEST_CM_IB_CM_RIG_H
#define UNIT_GUEST_CM_IB_CM_RIG_H

#include "emu/facts/enum/cm_answered.h"
#include "emu/facts/enum/cm_reason.h"
#include "emu/facts/enum/sidr_status.h"
#include "guest/cm/cm_rig.h"

#define SERVICE 0x01061d2fu
#define LIFE    18u /* of the path: Linux 6.1 */

struct event {
    enum ib_cm_event_kind kind;
    struct ib_cm_id *id;
    struct mad mad;
};

struct side {
    struct end end;
    struct event events[RECORDED_MAX];
    size_t n_events;
    bool is_full; /* has no room for requests */
};

/* A rig whose sides note the events. */
struct noted {
    struct rig rig;
    struct side sides[2];
};

static inline bool note_event(void *ctx, struct ib_cm_id *id, const struct ib_cm_event *e)
{
    struct side *s = ctx;

    assert_true(s->n_events < RECORDED_MAX);
    if (s->is_full && e->listener)
        return false;
    s->events[s->n_events].kind = e->kind;
    s->events[s->n_events].id = id;
    if (e->mad)
        s->events[s->n_events].mad = *e->mad;
    s->n_events++;
    return true;
}

static inline int set_up(void **state)
{
    struct noted *n = calloc(1, sizeof(*n));

    assert_non_null(n);
    rig_init(&n->rig, &n->sides[A].end, &n->sides[B].end, note_event);
    *state = n;
    return 0;
}

static inline int tear_down(void **state)
{
    struct noted *n = *state;

    arena_free(n->rig.arena);
    free(n);
    return 0;
}

/* The side with @number, which is a struct side. */
static inline struct side *side_of(const struct rig *r, unsigned number)
{
    return (struct side *)r->ends[number];
}

static const struct event *last(const struct rig *r, unsigned side)
{
    assert_true(side_of(r, side)->n_events > 0);
    return &side_of(r, side)->events[side_of(r, side)->n_events - 1];
}

static inline void listen_at(struct rig *r, unsigned side)
{
    struct ib_cm_id *id = ib_cm_create(&r->ends[side]->cm, NULL);

    assert_non_null(id);
    assert_int_equal(ib_cm_listen(id, SERVICE), RDL_OK);
}

/* Sends @req from @side to the other one. */
static inline struct ib_cm_id *ask(struct rig *r, unsigned side, struct ib_cm_req req)
{
    struct ib_cm_id *id = ib_cm_create(&r->ends[side]->cm, NULL);

    assert_non_null(id);
    memcpy(req.path.sgid, gids[side], GID_BYTES);
    memcpy(req.path.dgid, gids[!side], GID_BYTES);
    assert_int_equal(ib_cm_send_req(id, &req), RDL_OK);
    return id;
}

static inline struct ib_cm_id *request(struct rig *r, unsigned side, uint32_t qpn)
{
    const struct ib_cm_req req = {.path = {.hop_limit = 64},
                                  .path_mtu = 3,
                                  .packet_life = LIFE,
                                  .service_id = SERVICE,
                                  .qpn = qpn,
                                  .starting_psn = 100,
                                  .remote_cm_timeout = 20,
                                  .local_cm_timeout = 20,
                                  .max_cm_retries = 15,
                                  .retry_count = 7,
                                  .private_data = "hello",
                                  .private_bytes = 6};

    return ask(r, side, req);
}

static inline void reply(struct ib_cm_id *id, uint32_t qpn)
{
    const struct ib_cm_rep rep = {.qpn = qpn, .starting_psn = 200};

    assert_int_equal(ib_cm_send_rep(id, &rep), RDL_OK);
}

struct both {
    struct ib_cm_id *a, *b;
};

/* A connection of queue pair 17 at A with 18 at B. */
static inline struct both connect_them(struct rig *r)
{
    struct both ids;

    listen_at(r, B);
    ids.a = request(r, A, 17);
    pass(r, 1);
    assert_int_equal(last(r, B)->kind, IB_CM_REQ_RECEIVED);
    ids.b = last(r, B)->id;
    reply(ids.b, 18);
    pass(r, 1);
    assert_int_equal(last(r, A)->kind, IB_CM_REP_RECEIVED);
    assert_int_equal(ib_cm_send_rtu(ids.a, NULL, 0), RDL_OK);
    pass(r, 1);
    return ids;
}

/* The message that @side has sent last, as the other one got it. */
static inline const struct mad *heard(const struct rig *r, unsigned side)
{
    return &last(r, !side)->mad;
}

#define RIGGED(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

#endif
