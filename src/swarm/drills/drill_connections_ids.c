/* SPDX-License-Identifier: MIT */
/* The drill of connections: programs create IDs, bind, listen and resolve. */
#include "swarm/drills/drill_connections.h"

#include <errno.h>

#include "emu/facts/enum/rdma_cm_event.h"

#define PORTS      2u
#define FIRST_PORT 7000u
#define BACKLOGS   3u
#define ADDR_NS    (2000 * MS)
#define IDS_MAX    48u /* that programs create */

bool conn_is_errno(struct drill *d, enum rdl_status st, const int *have, int want, const char *what)
{
    if (st == RDL_ERR_INVARIANT)
        return drill_works(d, st, what);
    return drill_expect(d, st == (want ? RDL_ERR_ERRNO : RDL_OK) && (!want || *have == want), what,
                        "%s, errno %d and not %d", rdl_status_name(st), *have, want) &&
           conn_hear(d);
}

/* Draws an ID that a program knows, of which @fits is true; NULL: there is none. */
struct conn_id *conn_pick(struct drill *d, bool (*fits)(const struct conn_id *id))
{
    struct connections *s = connections_of(d);
    const uint32_t from = drill_below(d, CONN_IDS);

    for (uint32_t i = 0; i < CONN_IDS; i++) {
        struct conn_id *id = &s->ids[(from + i) % CONN_IDS];

        if (id->is_used && id->is_told && fits(id))
            return id;
    }
    return NULL;
}

/* Draws an ID of which @fits is true, and now and then another one, of which @else_fits is. */
struct conn_id *conn_pick_mostly(struct drill *d, bool (*fits)(const struct conn_id *id),
                                 bool (*else_fits)(const struct conn_id *id))
{
    struct conn_id *id = drill_one_in(d, 6) ? NULL : conn_pick(d, fits);

    return id ? id : conn_pick(d, else_fits);
}

bool conn_is_client(const struct conn_id *id)
{
    return !id->is_server && id->step != STEP_LISTEN;
}

static bool has_address(const struct conn_id *id)
{
    return id->step == STEP_ADDR;
}

/* --- IDs and addresses ------------------------------------------------------------------------ */

static uint32_t count(const struct connections *s)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < CONN_IDS; i++)
        n += s->ids[i].is_used;
    return n;
}

/* Returns NULL, too, if there are enough. */
struct conn_id *conn_create(struct drill *d)
{
    struct connections *s = connections_of(d);
    const unsigned host = drill_below(d, RIG_HOSTS), channel = drill_below(d, CONN_CHANNELS);
    const enum port_space space = drill_one_in(d, 4) ? PORT_SPACE_UDP : PORT_SPACE_TCP;
    struct rdl_cm_id_info info;
    struct conn_id *id = count(s) < IDS_MAX ? conn_new(d, host) : NULL;

    if (!id ||
        !drill_works(
            d, rdl_cm_create_id(d->lab, s->channels[host][channel].channel, space, NULL, &id->id),
            "an ID can be created") ||
        !drill_works(d, rdl_cm_id_info(d->lab, id->id, &info), "an ID can be looked at"))
        return NULL;
    id->is_told = true;
    id->channel = channel;
    id->space = space;
    id->psn = info.psn;
    id->serial = ++s->n_serials;
    return id;
}

/* Returns the errno of two listeners with one port; 0: they can share it. */
static int conflict_of(enum conn_form a, enum conn_form b)
{
    if (a < CONN_OWN4 || b < CONN_OWN4)
        return EADDRNOTAVAIL; /* at least one stands for all addresses */
    return a == b ? EADDRINUSE : 0;
}

static int error_of(const struct connections *s, const struct conn_id *id, uint16_t port,
                    enum conn_form form)
{
    int error = 0;

    for (uint32_t i = 0; i < CONN_IDS && !error; i++) {
        const struct conn_id *o = &s->ids[i];

        if (o->is_used && o != id && o->host == id->host && o->step == STEP_LISTEN &&
            o->space == id->space && o->port == port)
            error = conflict_of(o->form, form);
    }
    return error;
}

/* Draws the address of a listener, mostly one that clients find. */
static bool draw_form(struct drill *d, unsigned host, struct rdl_cm_addr *ret,
                      enum conn_form *ret_form)
{
    const struct connections *s = connections_of(d);
    const uint32_t any = drill_below(d, CONN_FORMS);
    uint8_t mac[6];

    *ret_form = drill_one_in(d, 2) ? (s->family ? CONN_ANY6 : CONN_ANY4) : (enum conn_form)any;
    *ret = (struct rdl_cm_addr){.version = 4, .gid = {[10] = 0xff, [11] = 0xff}};
    if (*ret_form == CONN_ANY6 || *ret_form == CONN_OWN6)
        *ret = (struct rdl_cm_addr){.version = 6};
    return *ret_form < CONN_OWN4 ||
           drill_works(
               d, rdl_host_address(d->lab, s->host[host], *ret_form - CONN_OWN4, ret->gid, mac),
               "a host has an address");
}

void conn_do_listen(struct drill *d)
{
    struct connections *s = connections_of(d);
    struct conn_id *id = conn_create(d);
    struct rdl_cm_addr at;
    enum conn_form form;
    int error = 0, want;

    if (!id || !draw_form(d, id->host, &at, &form))
        return;
    at.port = (uint16_t)(FIRST_PORT + drill_below(d, PORTS));
    want = error_of(s, id, at.port, form);
    if (!conn_is_errno(d, rdl_cm_bind(d->lab, id->id, &at, &error), &error, want,
                       "a port is given once"))
        return;
    if (want) {
        if (drill_works(d, rdl_cm_destroy_id(d->lab, id->id), "an ID can be destroyed"))
            conn_forget(d, id);
        return;
    }
    id->backlog = 1 + drill_below(d, BACKLOGS);
    if (!conn_is_errno(d, rdl_cm_listen(d->lab, id->id, id->backlog, &error), &error, 0,
                       "an ID with a port can listen"))
        return;
    id->step = STEP_LISTEN;
    id->port = at.port;
    id->form = form;
}

/* No two clients of a host have the same port. */
static bool check_port(struct drill *d, struct conn_id *id)
{
    struct connections *s = connections_of(d);
    struct rdl_cm_id_info info;

    if (!drill_works(d, rdl_cm_id_info(d->lab, id->id, &info), "an ID can be looked at"))
        return false;
    id->own_port = info.local.port;
    for (uint32_t i = 0; i < CONN_IDS; i++) {
        const struct conn_id *o = &s->ids[i];

        if (o->is_used && o != id && o->host == id->host && o->space == id->space &&
            !o->is_server && o->own_port == id->own_port)
            return drill_expect(d, false, "a port is given once", "IDs %u and %u have port %u",
                                id->number, o->number, id->own_port);
    }
    return true;
}

bool conn_resolve(struct drill *d, struct conn_id *id, bool is_nobody)
{
    struct connections *s = connections_of(d);
    const int want = id->step == STEP_NEW ? 0 : EINVAL;
    struct rdl_cm_addr to = {.version = s->family ? 6 : 4};
    uint8_t mac[6];
    int error = 0;

    if (!drill_works(d, rdl_host_address(d->lab, s->host[!id->host], s->family, to.gid, mac),
                     "a host has an address"))
        return false;
    to.port = (uint16_t)(FIRST_PORT + drill_below(d, PORTS));
    to.gid[15] = is_nobody ? 99 : to.gid[15];
    if (!want && !is_nobody) {
        id->step = STEP_ADDR;
        conn_expect_event(d, id, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
    } else if (!want) {
        id->step = STEP_QUERY;
        id->due_ns = rdl_now_ns(d->lab) + ADDR_NS;
    }
    if (!want)
        id->port = to.port;
    return conn_is_errno(d, rdl_cm_resolve_addr(d->lab, id->id, NULL, &to, ADDR_NS, &error), &error,
                         want, "only a new ID resolves an address") &&
           check_port(d, id);
}

void conn_do_resolve(struct drill *d)
{
    struct conn_id *id = drill_one_in(d, 2) ? conn_create(d) : conn_pick(d, conn_is_client);

    if (id)
        conn_resolve(d, id, drill_one_in(d, 6));
}

bool conn_route(struct drill *d, struct conn_id *id)
{
    const int want = id->step == STEP_ADDR ? 0 : EINVAL;
    int error = 0;

    if (!want) {
        id->step = STEP_ROUTE;
        conn_expect_event(d, id, RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
    }
    return conn_is_errno(d, rdl_cm_resolve_route(d->lab, id->id, &error), &error, want,
                         "only an ID with an address resolves a route");
}

void conn_do_route(struct drill *d)
{
    struct conn_id *id = conn_pick_mostly(d, has_address, conn_is_client);

    if (id)
        conn_route(d, id);
}
