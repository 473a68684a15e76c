/* SPDX-License-Identifier: MIT */
#include "emu/guest/cm/cma.h"

#include <errno.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/cma_calls.h"
#include "emu/guest/cm/cma_internal.h"

#define PORT_FIRST  32768u /* of those that are chosen  [Linux, ip_local_port_range] */
#define PORTS       28232u
#define BACKLOG_MAX 1024u /* [Linux, net.rdma_ucm.max_backlog] */
#define PSN_MASK    0xffffffu
#define TOS_MAX     255u
#define TIMEOUT_MAX 31u /* of a code of 5 bits */

void cma_init(struct cma *cma, const struct cma_config *config, struct prng rng)
{
    *cma = (struct cma){.config = *config, .rng = rng};
    hash_lists_init(&cma->by_number, config->arena);
    hash_lists_init(&cma->by_port, config->arena);
}

/* --- Addresses -------------------------------------------------------------------------------- */

bool cma_is_any(const struct rdl_cm_addr *a)
{
    static const uint8_t none[GID_BYTES];

    if (a->version == 4)
        return memcmp(a->gid + GID_IPV4_AT, none, GID_BYTES - GID_IPV4_AT) == 0;
    return memcmp(a->gid, none, GID_BYTES) == 0;
}

bool cma_has_device(const struct cma_id *id)
{
    return id->local.version != 0 && id->state != CMA_ADDR_QUERY && !cma_is_any(&id->local);
}

static bool is_same(const struct rdl_cm_addr *a, const struct rdl_cm_addr *b)
{
    return a->version == b->version && memcmp(a->gid, b->gid, GID_BYTES) == 0;
}

bool cma_is_own(const struct cma *cma, const uint8_t gid[GID_BYTES])
{
    return memcmp(gid, cma->config.gid[0], GID_BYTES) == 0 ||
           memcmp(gid, cma->config.gid[1], GID_BYTES) == 0;
}

/* An address and a port of this host in the version of @peer. */
static void choose_source(const struct cma *cma, const struct rdl_cm_addr *peer,
                          struct rdl_cm_addr *ret)
{
    ret->version = peer->version;
    memcpy(ret->gid, cma->config.gid[peer->version == 4 ? 0 : 1], GID_BYTES);
}

uint64_t cma_service_id(enum port_space space, uint16_t port)
{
    return (uint64_t)space << 16 | port;
}

/* --- Ports ------------------------------------------------------------------------------------ */

/* An ID with an IPv4 address, and one that said so, is none of IPv6. */
static bool is_of_one_version(const struct cma_id *id)
{
    return id->local.version == 4 || id->v6_only;
}

#define AT_PORT(node)                                                                              \
    ((node) ? (struct cma_id *)((char *)(node)-offsetof(struct cma_id, by_port)) : NULL)

/* Return an ID with a port of the same hash: the first one, and the one behind @id.  NULL: there is
 * none.
 */
static struct cma_id *first_at(const struct cma *cma, enum port_space space, uint16_t port)
{
    struct hash_node *n =
        hash_lists_first(&cma->by_port, hash_lists_of(cma_service_id(space, port)));

    return AT_PORT(n);
}

static struct cma_id *next_at(const struct cma_id *id)
{
    return AT_PORT(id->by_port.next);
}

static bool has_port(const struct cma_id *id, enum port_space space, uint16_t port)
{
    return id->space == space && id->local.port == port;
}

/* Returns the errno of two IDs with the same port; 0: their addresses differ, or both have
 * REUSEADDR and none of them listens.  An address that stands for all is taken, and not in use.
 * [Linux, cma_check_port()]
 */
static int conflict_of(const struct cma_id *a, const struct cma_id *b)
{
    if (a->reuses && b->reuses && a->state != CMA_LISTEN && b->state != CMA_LISTEN)
        return 0;
    if (is_of_one_version(a) && is_of_one_version(b) && a->local.version != b->local.version)
        return 0;
    if (cma_is_any(&a->local) || cma_is_any(&b->local))
        return EADDRNOTAVAIL;
    return is_same(&a->local, &b->local) ? EADDRINUSE : 0;
}

/* Returns 0 if @port is free for @id, which has its address already, or the errno. */
static int check_port(const struct cma_id *id, uint16_t port)
{
    int error = 0;

    for (const struct cma_id *o = first_at(id->cma, id->space, port); o && !error; o = next_at(o)) {
        if (o != id && has_port(o, id->space, port))
            error = conflict_of(o, id);
    }
    return error;
}

static int set_port(struct cma_id *id, uint16_t port)
{
    id->local.port = port;
    id->has_port = hash_lists_add(&id->cma->by_port, &id->by_port,
                                  hash_lists_of(cma_service_id(id->space, port)));
    return id->has_port ? 0 : ENOMEM;
}

/* Gives @id the port @port, or one that nobody has if that is 0. */
static int take_port(struct cma_id *id, uint16_t port)
{
    uint32_t at;
    int error;

    if (port != 0) {
        error = check_port(id, port);
        return error ? error : set_port(id, port);
    }
    at = (uint32_t)prng_below(&id->cma->rng, PORTS);
    for (uint32_t i = 0; i < PORTS; i++) {
        const uint16_t next = (uint16_t)(PORT_FIRST + (at + i) % PORTS);

        if (check_port(id, next) == 0)
            return set_port(id, next);
    }
    return EADDRNOTAVAIL;
}

int cma_bind(struct cma_id *id, const struct rdl_cm_addr *at)
{
    int error;

    if (!cma_call_is_permitted(CMA_CALL_BIND, id->state) || (at->version != 4 && at->version != 6))
        return EINVAL;
    if (!cma_is_any(at) && !cma_is_own(id->cma, at->gid))
        return EADDRNOTAVAIL;
    id->local = *at;
    id->local.port = 0;
    error = take_port(id, at->port);
    if (error) {
        id->local = (struct rdl_cm_addr){.version = 0};
        return error;
    }
    id->state = CMA_ADDR_BOUND;
    return 0;
}

/* --- Listeners -------------------------------------------------------------------------------- */

/* All listeners of a port share one ID of ib_cm, because they may have different addresses. */
static int open_service(const struct cma *cma, uint64_t service_id)
{
    struct ib_cm_id *ib = ib_cm_listener(cma->config.ib, service_id);

    if (!ib) {
        ib = ib_cm_create(cma->config.ib, NULL);
        if (!ib)
            return ENOMEM;
        if (ib_cm_listen(ib, service_id) != RDL_OK) {
            ib_cm_destroy(ib);
            return ENOMEM;
        }
    }
    ib->n_listeners++;
    return 0;
}

static void close_service(const struct cma *cma, uint64_t service_id)
{
    struct ib_cm_id *ib = ib_cm_listener(cma->config.ib, service_id);

    RDL_ASSERT(ib);
    if (--ib->n_listeners == 0)
        ib_cm_destroy(ib);
}

static const struct rdl_cm_addr any_v4 = {.version = 4, .gid = {[10] = 0xff, [11] = 0xff}};

/* Another ID with the port may have bound it without listening.  [Linux, cma_bind_listen()] */
int cma_listen(struct cma_id *id, uint32_t backlog)
{
    int error = 0;

    if (!cma_call_is_permitted(CMA_CALL_LISTEN, id->state))
        return EINVAL;
    if (id->state == CMA_IDLE)
        error = cma_bind(id, &any_v4);
    if (error)
        return error;
    id->state = CMA_LISTEN;
    error = check_port(id, id->local.port);
    if (!error)
        error = open_service(id->cma, cma_service_id(id->space, id->local.port));
    if (error) {
        id->state = CMA_ADDR_BOUND;
        return error;
    }
    id->backlog = backlog > 0 && backlog < BACKLOG_MAX ? backlog : BACKLOG_MAX;
    return 0;
}

struct cma_id *cma_listener_at(const struct cma *cma, enum port_space space,
                               const struct rdl_cm_addr *to)
{
    for (struct cma_id *id = first_at(cma, space, to->port); id; id = next_at(id)) {
        if (id->state != CMA_LISTEN || !has_port(id, space, to->port))
            continue;
        if (is_same(&id->local, to) ||
            (cma_is_any(&id->local) &&
             (id->local.version == to->version || (id->local.version == 6 && !id->v6_only))))
            return id;
    }
    return NULL;
}

uint32_t cma_services(const struct cma *cma)
{
    return cma->config.ib->by_service.n;
}

/* --- Addresses and routes of peers ------------------------------------------------------------ */

static void stop_timer(struct cma_id *id)
{
    if (id->timer)
        id->cma->config.ops.stop_timer(id->cma->config.ctx, id->timer);
    id->timer = 0;
}

static void resolved(struct cma_id *id, int error)
{
    stop_timer(id);
    id->cma->n_querying--;
    if (error) {
        id->state = CMA_ADDR_BOUND;
        cma_tell(id, RDMA_CM_EVENT_ADDR_ERROR, -error);
        return;
    }
    if (cma_is_any(&id->local))
        choose_source(id->cma, &id->peer, &id->local);
    id->state = CMA_ADDR_RESOLVED;
    cma_tell(id, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
}

int cma_resolve_addr(struct cma_id *id, const struct rdl_cm_addr *from,
                     const struct rdl_cm_addr *to, uint64_t timeout_ns)
{
    const struct cma_config *c = &id->cma->config;
    struct rdl_cm_addr at = {.version = to->version};
    int error = 0;

    if (!cma_call_is_permitted(CMA_CALL_RESOLVE_ADDR, id->state) ||
        (to->version != 4 && to->version != 6))
        return EINVAL;
    if (to->version == 4)
        at = any_v4;
    if (from && from->version != 0)
        at = *from;
    if (id->state == CMA_IDLE)
        error = at.version == to->version ? cma_bind(id, &at) : EINVAL;
    if (error)
        return error;
    if (id->local.version != to->version)
        return EINVAL;
    id->peer = *to;
    if (cma_is_any(to)) /* this host */
        choose_source(id->cma, to, &id->peer);
    id->state = CMA_ADDR_QUERY;
    id->cma->n_querying++;
    error = cma_is_own(id->cma, id->peer.gid) || gid_is_group(id->peer.gid)
                ? 0
                : c->ops.resolve(c->ctx, id->peer.gid);
    if (error == EAGAIN)
        id->timer = c->ops.start_timer(c->ctx, id->number, timeout_ns);
    else
        resolved(id, error);
    return 0;
}

void cma_timer(struct cma *cma, uint32_t number)
{
    /* stop_timer() was called for an ID that is gone, so this one is there. */
    struct cma_id *id = (struct cma_id *)hash_lists_first(&cma->by_number, hash_lists_of(number));

    while (id && id->number != number)
        id = (struct cma_id *)id->by_number.next;
    RDL_ASSERT(id);
    id->timer = 0;
    resolved(id, ETIMEDOUT);
}

void cma_resolved(struct cma *cma, const uint8_t gid[GID_BYTES], bool found)
{
    uint32_t left = cma->n_querying;

    for (struct cma_id *id = cma->ids; id && left > 0; id = id->next) {
        left -= id->state == CMA_ADDR_QUERY;
        if (id->state == CMA_ADDR_QUERY && memcmp(id->peer.gid, gid, GID_BYTES) == 0)
            resolved(id, found ? 0 : ETIMEDOUT);
    }
}

int cma_resolve_route(struct cma_id *id)
{
    if (!cma_call_is_permitted(CMA_CALL_RESOLVE_ROUTE, id->state))
        return EINVAL;
    cma_take_route(id);
    id->state = CMA_ROUTE_RESOLVED;
    cma_tell(id, RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
    return 0;
}

/* --- Events ----------------------------------------------------------------------------------- */

struct cma_event *cma_event_new(struct cma_id *id, enum rdma_cm_event kind, int status)
{
    struct cma_event *e = arena_alloc(id->cma->config.arena, sizeof(*e));

    if (e)
        *e = (struct cma_event){.kind = kind, .status = status, .id = id};
    return e;
}

static void enqueue(struct cma_channel *ch, struct cma_event *e)
{
    e->next = NULL;
    e->before = ch->last;
    if (ch->last)
        ch->last->next = e;
    else
        ch->first = e;
    ch->last = e;
    ch->n_events++;
}

static void dequeue(struct cma_channel *ch, const struct cma_event *e)
{
    if (e->before)
        e->before->next = e->next;
    else
        ch->first = e->next;
    if (e->next)
        e->next->before = e->before;
    else
        ch->last = e->before;
    ch->n_events--;
}

static bool is_end(const struct cma_event *e)
{
    return e->kind == RDMA_CM_EVENT_REJECTED || e->kind == RDMA_CM_EVENT_DISCONNECTED;
}

/* Returns true if the program does not get @e.  Events end with their ID and their membership, and
 * a program does not know an ID whose request it has not accepted.  [Linux, ucma_event_handler()]
 */
static bool is_lost(const struct cma_event *e)
{
    const struct cma_id *id = e->id;

    return id->state == CMA_DESTROYING || (e->group && e->group->is_left) ||
           (id->is_unaccepted && e->kind != RDMA_CM_EVENT_CONNECT_REQUEST) ||
           (id->hides_end && is_end(e));
}

void cma_post(struct cma_event *e)
{
    struct cma *cma = e->id->cma;

    if (is_lost(e)) {
        arena_release(cma->config.arena, e, sizeof(*e));
        return;
    }
    if (e->id->last)
        e->id->last->next_of_id = e;
    else
        e->id->first = e;
    e->id->last = e;
    enqueue(e->id->channel, e);
    cma->config.ops.has_event(cma->config.ctx, e->id->channel);
}

void cma_tell(struct cma_id *id, enum rdma_cm_event kind, int status)
{
    struct cma_event *e = cma_event_new(id, kind, status);

    if (e)
        cma_post(e);
}

/* The ID that waits for the acknowledgement of @e before it can be destroyed. */
static struct cma_id *counts_at(const struct cma_event *e)
{
    return e->listener ? e->listener : e->id;
}

/* The place of @id in the backlog, if it has one, is free again. */
static void leave_backlog(struct cma_id *id)
{
    if (id->is_request && id->from) {
        id->from->backlog++;
        id->from->n_requests--;
    }
    id->is_request = false;
    id->from = NULL;
}

struct cma_event *cma_take(struct cma_channel *ch)
{
    struct cma_event *e = ch->first;

    if (!e)
        return NULL;
    RDL_ASSERT(e->id->first == e); /* both queues have the same order */
    e->id->first = e->next_of_id;
    if (!e->id->first)
        e->id->last = NULL;
    dequeue(ch, e);
    counts_at(e)->n_told++;
    leave_backlog(e->id);
    return e;
}

void cma_ack(struct cma *cma, struct cma_event *e)
{
    counts_at(e)->n_told--;
    arena_release(cma->config.arena, e, sizeof(*e));
}

void cma_forget_lost(struct cma_id *id)
{
    struct cma_event **at = &id->first, *stays = NULL;

    while (*at) {
        struct cma_event *e = *at;

        if (!is_lost(e)) {
            stays = e;
            at = &e->next_of_id;
            continue;
        }
        *at = e->next_of_id;
        dequeue(id->channel, e);
        arena_release(id->cma->config.arena, e, sizeof(*e));
    }
    id->last = stays;
}

void cma_hide_end(struct cma_id *id)
{
    id->hides_end = true;
    cma_forget_lost(id);
}

static void move_id(struct cma_id *id, struct cma_channel *to)
{
    id->channel->n_ids--;
    id->channel = to;
    to->n_ids++;
}

/* The events of a listener are those of the IDs of its requests, too, in one order. */
void cma_migrate(struct cma_id *id, struct cma_channel *to)
{
    struct cma_channel *from = id->channel;
    const bool listens = id->state == CMA_LISTEN;
    struct cma_event *e = listens ? from->first : id->first;

    if (to == from)
        return;
    move_id(id, to);
    while (e) {
        struct cma_event *next = listens ? e->next : e->next_of_id;

        if (e->id == id || e->listener == id) {
            if (e->id != id)
                move_id(e->id, to);
            dequeue(from, e);
            enqueue(to, e);
        }
        e = next;
    }
}

/* --- Channels and IDs ------------------------------------------------------------------------- */

struct cma_channel *cma_channel_new(struct cma *cma)
{
    return arena_alloc(cma->config.arena, sizeof(struct cma_channel));
}

void cma_channel_free(struct cma *cma, struct cma_channel *ch)
{
    RDL_ASSERT(ch->n_ids == 0 && !ch->first);
    arena_release(cma->config.arena, ch, sizeof(*ch));
}

struct cma_id *cma_create(struct cma *cma, struct cma_channel *ch, enum port_space space,
                          void *user)
{
    struct cma_id *id = arena_alloc(cma->config.arena, sizeof(*id));

    if (!id)
        return NULL;
    *id = (struct cma_id){.cma = cma,
                          .next = cma->ids,
                          .channel = ch,
                          .user = user,
                          .number = cma->n_created + 1,
                          .space = space};
    if (!hash_lists_add(&cma->by_number, &id->by_number, hash_lists_of(id->number))) {
        arena_release(cma->config.arena, id, sizeof(*id));
        return NULL;
    }
    id->psn = (uint32_t)prng_next(&cma->rng) & PSN_MASK;
    cma->n_created++;
    if (cma->ids)
        cma->ids->before = id;
    cma->ids = id;
    cma->n_ids++;
    ch->n_ids++;
    return id;
}

/* Destroys the IDs whose CONNECT_REQUESTs to @listener nobody has taken, the newest first. */
static void drop_requests(const struct cma_id *listener)
{
    struct cma_id *id = listener->cma->ids;

    while (listener->n_requests > 0) {
        struct cma_id *next = id->next;

        if (id->is_request && id->from == listener)
            cma_destroy(id);
        id = next;
    }
}

static void drop_groups(struct cma_id *id)
{
    while (id->groups)
        cma_leave(id, id->groups);
}

static void leave_tables(struct cma_id *id)
{
    struct cma *cma = id->cma;

    hash_lists_remove(&cma->by_number, &id->by_number);
    if (id->has_port)
        hash_lists_remove(&cma->by_port, &id->by_port);
    if (id->before)
        id->before->next = id->next;
    else
        cma->ids = id->next;
    if (id->next)
        id->next->before = id->before;
}

void cma_destroy(struct cma_id *id)
{
    struct cma *cma = id->cma;

    if (id->state == CMA_LISTEN) {
        drop_requests(id);
        close_service(cma, cma_service_id(id->space, id->local.port));
    }
    if (id->state == CMA_ADDR_QUERY)
        cma->n_querying--;
    id->state = CMA_DESTROYING;
    stop_timer(id);
    if (id->ib)
        ib_cm_destroy(id->ib);
    leave_backlog(id);
    cma_forget_lost(id); /* which are all */
    drop_groups(id);
    leave_tables(id);
    cma->n_ids--;
    id->channel->n_ids--;
    arena_release(cma->config.arena, id, sizeof(*id));
}

/* --- Options ---------------------------------------------------------------------------------- */

/* [Linux, rdma_set_service_type(), rdma_set_reuseaddr(), rdma_set_afonly(), rdma_set_ack_timeout()]
 */
int cma_set_option(struct cma_id *id, enum cm_option option, uint32_t value)
{
    switch (option) {
    case CM_OPTION_TOS:
        if (value > TOS_MAX)
            return EINVAL;
        id->tos = (uint8_t)value;
        return 0;
    case CM_OPTION_REUSEADDR:
        if (id->state != CMA_IDLE && (value == 0 || id->state == CMA_LISTEN))
            return EINVAL;
        id->reuses = value != 0;
        return 0;
    case CM_OPTION_AFONLY:
        if (id->state != CMA_IDLE && id->state != CMA_ADDR_BOUND)
            return EINVAL;
        id->v6_only = value != 0;
        return 0;
    case CM_OPTION_ACK_TIMEOUT:
        if (cma_is_datagram(id) || value > TIMEOUT_MAX)
            return EINVAL;
        id->has_timeout = true;
        id->timeout = value;
        return 0;
    }
    return EINVAL;
}
