/* SPDX-License-Identifier: MIT */
/* rdma_cm of two hosts. */
#ifndef UNIT_GUEST_CM_CMA_RIG_H
#define UNIT_GUEST_CM_CMA_RIG_H

#include <errno.h>

#include "emu/facts/enum/access.h"
#include "emu/facts/enum/cm_reason.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/sidr_status.h"
#include "emu/guest/cm/cma.h"
#include "guest/cm/cm_rig.h"

#define PORT 7471u

struct host {
    struct end end;
    struct cma cma;
    struct cma_channel *ch;
    uint32_t n_woken; /* calls of has_event() */
    int resolve;      /* result of a resolution */
    uint8_t asked[GID_BYTES];
};

struct hosts {
    struct rig rig;
    struct host host[2];
};

static inline bool on_ib_event(void *ctx, struct ib_cm_id *id, const struct ib_cm_event *e)
{
    return cma_ib_event(&((struct host *)ctx)->cma, id, e);
}

static inline int resolve(void *ctx, const uint8_t gid[GID_BYTES])
{
    struct host *h = ctx;

    memcpy(h->asked, gid, GID_BYTES);
    return h->resolve;
}

static inline void cma_due(struct end *s, uint32_t number)
{
    cma_timer(&((struct host *)s)->cma, number);
}

static inline uint64_t start_cma_timer(void *ctx, uint32_t number, uint64_t ns)
{
    struct host *h = ctx;

    return rig_timer(&h->end, cma_due, number, h->end.rig->now_ns + ns);
}

static inline void has_event(void *ctx, struct cma_channel *ch)
{
    struct host *h = ctx;

    assert_ptr_equal(ch, h->ch);
    h->n_woken++;
}

static inline int set_up(void **state)
{
    struct hosts *h = calloc(1, sizeof(*h));

    assert_non_null(h);
    rig_init(&h->rig, &h->host[A].end, &h->host[B].end, on_ib_event);
    for (unsigned i = 0; i < 2; i++) {
        struct cma_config c = {.arena = h->rig.arena,
                               .path_mtu = 3,
                               .ack_delay = ACK_DELAY,
                               .packet_life = 18,
                               .ib = &h->host[i].end.cm,
                               .ops = {resolve, start_cma_timer, rig_stop_timer, has_event},
                               .ctx = &h->host[i]};

        memcpy(c.gid[0], gids[i], GID_BYTES);
        c.gid[1][0] = 0xfe;
        c.gid[1][15] = (uint8_t)(i + 1);
        cma_init(&h->host[i].cma, &c, prng_stream(7, 2 + i));
        h->host[i].ch = cma_channel_new(&h->host[i].cma);
        assert_non_null(h->host[i].ch);
    }
    *state = h;
    return 0;
}

static inline int tear_down(void **state)
{
    struct hosts *h = *state;

    arena_free(h->rig.arena);
    free(h);
    return 0;
}

static inline struct rdl_cm_addr address(unsigned host, uint16_t port)
{
    struct rdl_cm_addr a = {.version = 4, .port = port};

    memcpy(a.gid, gids[host], GID_BYTES);
    return a;
}

static inline struct rdl_cm_addr any_address(uint16_t port)
{
    return (struct rdl_cm_addr){.version = 4, .gid = {[10] = 0xff, [11] = 0xff}, .port = port};
}

static inline struct cma_id *new_id(struct hosts *h, unsigned host, enum port_space space)
{
    struct cma_id *id = cma_create(&h->host[host].cma, h->host[host].ch, space, NULL);

    assert_non_null(id);
    return id;
}

static inline struct cma_id *new_listener(struct hosts *h, enum port_space space, uint32_t backlog)
{
    const struct rdl_cm_addr at = any_address(PORT);
    struct cma_id *id = new_id(h, B, space);

    assert_int_equal(cma_bind(id, &at), 0);
    assert_int_equal(cma_listen(id, backlog), 0);
    return id;
}

/* The oldest event of @host, which is of @kind with @status.  It is acknowledged; what is returned
 * is a copy.
 */
static inline struct cma_event event_of(struct hosts *h, unsigned host, enum rdma_cm_event kind,
                                        int status)
{
    struct cma_event *e = cma_take(h->host[host].ch), copy;

    assert_non_null(e);
    assert_int_equal(e->kind, kind);
    assert_int_equal(e->status, status);
    copy = *e;
    cma_ack(&h->host[host].cma, e);
    return copy;
}

static inline void assert_quiet(const struct hosts *h)
{
    assert_null(h->host[A].ch->first);
    assert_null(h->host[B].ch->first);
}

/* An ID of host A whose way to B is known. */
static inline struct cma_id *routed(struct hosts *h, enum port_space space)
{
    const struct rdl_cm_addr to = address(B, PORT);
    struct cma_id *id = new_id(h, A, space);

    assert_int_equal(cma_resolve_addr(id, NULL, &to, 2000 * MS), 0);
    (void)event_of(h, A, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
    assert_int_equal(cma_resolve_route(id), 0);
    (void)event_of(h, A, RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
    return id;
}

static inline struct rdl_cm_param param(uint32_t qpn, const char *data)
{
    struct rdl_cm_param p = {.responder_resources = 1,
                             .initiator_depth = 2,
                             .retry_count = 7,
                             .rnr_retry_count = 6,
                             .qpn = qpn,
                             .private_bytes = strlen(data) + 1};

    memcpy(p.private_data, data, p.private_bytes);
    return p;
}

static inline struct cma_id *connect_with(struct hosts *h, enum port_space space, uint32_t qpn)
{
    struct cma_id *id = routed(h, space);
    const struct rdl_cm_param p = param(qpn, "hello");

    assert_int_equal(cma_connect(id, &p), 0);
    pass(&h->rig, 1);
    return id;
}

static inline struct cma_id *connect_to(struct hosts *h, enum port_space space)
{
    return connect_with(h, space, 17);
}

struct both {
    struct cma_id *a, *b;
};

static inline struct both connected(struct hosts *h)
{
    const struct rdl_cm_param p = param(18, "welcome");
    struct both ids;

    (void)new_listener(h, PORT_SPACE_TCP, 1);
    ids.a = connect_to(h, PORT_SPACE_TCP);
    ids.b = event_of(h, B, RDMA_CM_EVENT_CONNECT_REQUEST, 0).id;
    assert_int_equal(cma_accept(ids.b, &p), 0);
    pass(&h->rig, 1);
    (void)event_of(h, A, RDMA_CM_EVENT_CONNECT_RESPONSE, 0);
    assert_int_equal(cma_accept(ids.a, NULL), 0);
    pass(&h->rig, 1);
    (void)event_of(h, B, RDMA_CM_EVENT_ESTABLISHED, 0);
    return ids;
}

#define RIGGED(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

#endif
