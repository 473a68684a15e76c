/* SPDX-License-Identifier: MIT */
/* Who has which address, and what waits for it to become known.
 *
 *                  resolve                    heard
 *	(unknown) ----------------> INCOMPLETE ----------> REACHABLE --- too old ---> INCOMPLETE
 *	                                 |
 *	                                 +-- asked GUEST_ARP_TRIES times --> FAILED
 *
 * PERMANENT entries are the lab's; nothing changes them.  Others are found again by a hash of the
 * address; when there are too many, one that nobody waits for is forgotten.
 */
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/base/fnv.h"
#include "emu/guest/stack.h"

static uint64_t now(const struct guest *g)
{
    return g->config.trace->now_ns;
}

static uint32_t *list_of(struct guest_neighbours *t, const uint8_t gid[GID_BYTES])
{
    const uint32_t h = fnv1a(gid, GID_BYTES);

    return &t->lists[(h ^ h >> 16) % GUEST_NEIGHBOUR_LISTS];
}

static struct guest_neighbour *find(const struct guest *g, const uint8_t gid[GID_BYTES])
{
    const struct guest_neighbours *t = &g->net.neighbours;
    /* The list is only read through this. */
    uint32_t i = *list_of((struct guest_neighbours *)t, gid);

    while (i && memcmp(t->v[i - 1].gid, gid, GID_BYTES) != 0)
        i = t->v[i - 1].next;
    return i ? &t->v[i - 1] : NULL;
}

static uint32_t index_of(const struct guest *g, const struct guest_neighbour *e)
{
    return (uint32_t)(e - g->net.neighbours.v);
}

static void list_add(struct guest *g, struct guest_neighbour *e)
{
    uint32_t *list = list_of(&g->net.neighbours, e->gid);

    e->next = *list;
    *list = index_of(g, e) + 1;
}

static void list_remove(struct guest *g, const struct guest_neighbour *e)
{
    uint32_t *at = list_of(&g->net.neighbours, e->gid);

    while (*at != index_of(g, e) + 1)
        at = &g->net.neighbours.v[*at - 1].next;
    *at = e->next;
}

/* Room for one more; entries move, but keep their index. */
static bool grow(struct guest *g)
{
    struct guest_neighbours *t = &g->net.neighbours;
    const uint32_t cap = t->cap ? 2 * t->cap : 8;
    struct guest_neighbour *v = arena_alloc(g->arena, cap * sizeof(*v));

    if (!v)
        return false;
    if (t->n > 0)
        memcpy(v, t->v, t->n * sizeof(*v));
    arena_release(g->arena, t->v, t->cap * sizeof(*t->v));
    t->v = v;
    t->cap = cap;
    return true;
}

/* An entry that nobody waits for, to be used for another; NULL if there is none. */
static struct guest_neighbour *forget_one(struct guest *g)
{
    struct guest_neighbours *t = &g->net.neighbours;

    for (uint32_t i = 0; i < t->n; i++) {
        struct guest_neighbour *e = &t->v[t->hand++ % t->n];

        if (e->state != NB_REACHABLE && e->state != NB_FAILED)
            continue;
        list_remove(g, e);
        t->n_learnt--;
        return e;
    }
    return NULL;
}

/* A new entry for @gid; NULL when there is no room. */
static struct guest_neighbour *add(struct guest *g, const uint8_t gid[GID_BYTES],
                                   enum neighbour_state state)
{
    struct guest_neighbours *t = &g->net.neighbours;
    struct guest_neighbour *e = NULL;

    if (state != NB_PERMANENT && t->n_learnt == GUEST_NEIGHBOURS_MAX)
        e = forget_one(g);
    else if (t->n < t->cap || grow(g))
        e = &t->v[t->n++];
    if (!e)
        return NULL;
    *e = (struct guest_neighbour){.state = state};
    memcpy(e->gid, gid, GID_BYTES);
    list_add(g, e);
    t->n_learnt += state != NB_PERMANENT;
    return e;
}

/* Says what became of @e; what follows happens because of that.  Returns the cause before. */
static ev_id announce(struct guest *g, const struct guest_neighbour *e)
{
    ev_id id;

    TRACE_ID(g->config.trace, id, neighbour, .host = g->config.host, .addr = stack_ev_addr(e->gid),
             .state = (uint32_t)e->state, .mac = ld_be(e->mac, MAC_BYTES), .attempt = e->attempts);
    return trace_because(g->config.trace, id);
}

/* Is the MAC of @e to be believed? */
static bool is_known(const struct guest *g, const struct guest_neighbour *e)
{
    return e->state == NB_PERMANENT ||
           (e->state == NB_REACHABLE && now(g) - e->heard_ns < GUEST_NEIGHBOUR_NS);
}

const uint8_t *guest_neighbour_mac(const struct guest *g, const uint8_t gid[GID_BYTES])
{
    const struct guest_neighbour *e;

    if (stack_is_own(g, gid))
        return g->config.mac;
    e = find(g, gid);
    return e && is_known(g, e) ? e->mac : NULL;
}

/* Asks once more for @e, and sees to it that this is looked after. */
static void ask(struct guest *g, struct guest_neighbour *e)
{
    ev_id before;

    e->attempts++;
    before = announce(g, e);
    e->timer = sim_schedule(g->config.sim, now(g) + GUEST_ARP_NS, SIM_GUEST_TIMER, g->config.host,
                            guest_timer_arg(GUEST_TIMER_NEIGHBOUR, index_of(g, e)));
    arp_nd_ask(g, e->gid);
    trace_because(g->config.trace, before);
}

enum rdl_status neighbour_resolve(struct guest *g, const uint8_t gid[GID_BYTES],
                                  const uint8_t **ret_mac)
{
    struct guest_neighbour *e;

    if (stack_is_own(g, gid)) {
        *ret_mac = g->config.mac;
        return RDL_OK;
    }
    e = find(g, gid);
    if (e && is_known(g, e)) {
        *ret_mac = e->mac;
        return RDL_OK;
    }
    if (e && e->state == NB_INCOMPLETE)
        return RDL_ERR_BUSY;
    if (!stack_is_unicast(gid) || !stack_source(g, gid) || !nic_link_is_up(g))
        return RDL_ERR_NO_ROUTE;
    if (!e)
        e = add(g, gid, NB_INCOMPLETE);
    if (!e)
        return RDL_ERR_NO_ROUTE;
    e->state = NB_INCOMPLETE;
    e->attempts = 0;
    memset(e->mac, 0, MAC_BYTES);
    ask(g, e);
    return RDL_ERR_BUSY;
}

void neighbour_keep(struct guest *g, const uint8_t gid[GID_BYTES], const uint8_t *frame, size_t n)
{
    struct guest_neighbour *e = find(g, gid);
    struct guest_waiting *w = NULL, **last;

    RDL_ASSERT(e && e->state == NB_INCOMPLETE);
    if (e->n_waiting < GUEST_WAITING_MAX)
        w = arena_alloc_raw(g->arena, sizeof(*w) + n);
    if (!w) {
        stack_drop_tx(g, frame, n, DROP_QUEUE_FULL);
        return;
    }
    *w = (struct guest_waiting){.len = (uint32_t)n};
    memcpy(w->bytes, frame, n);
    for (last = &e->waiting; *last; last = &(*last)->next)
        ;
    *last = w;
    e->n_waiting++;
}

/* Sends what waits for @mac, or drops it when that is NULL. */
static void let_go(struct guest *g, struct guest_waiting *w, const uint8_t *mac)
{
    while (w) {
        struct guest_waiting *next = w->next;

        if (mac) {
            memcpy(w->bytes, mac, MAC_BYTES);
            nic_send(g, w->bytes, w->len);
        } else {
            stack_drop_tx(g, w->bytes, w->len, DROP_UNRESOLVED);
        }
        arena_release(g->arena, w, sizeof(*w) + w->len);
        w = next;
    }
}

/* The question for @e, if there was one, is over: @state is not INCOMPLETE. */
static void settle(struct guest *g, struct guest_neighbour *e, enum neighbour_state state)
{
    struct guest_waiting *waiting = e->waiting;
    const bool found = state != NB_FAILED;
    uint8_t gid[GID_BYTES], mac[MAC_BYTES];
    ev_id before;

    memcpy(gid, e->gid, GID_BYTES);
    memcpy(mac, e->mac, MAC_BYTES);
    sim_cancel(g->config.sim, e->timer);
    e->timer = 0;
    e->state = state;
    e->attempts = 0;
    e->waiting = NULL;
    e->n_waiting = 0;
    before = announce(g, e);
    /* From here on entries may move. */
    let_go(g, waiting, found ? mac : NULL);
    if (!found)
        ping_unreachable(g, gid);
    modify_resolved(g, gid, found ? mac : NULL);
    trace_because(g->config.trace, before);
}

enum rdl_status guest_neighbour_add(struct guest *g, const uint8_t gid[GID_BYTES],
                                    const uint8_t mac[MAC_BYTES])
{
    struct guest_neighbour *e = find(g, gid);

    if (!e)
        e = add(g, gid, NB_PERMANENT);
    if (!e)
        return RDL_ERR_NOMEM;
    memcpy(e->mac, mac, MAC_BYTES);
    if (e->state != NB_PERMANENT) {
        g->net.neighbours.n_learnt--;
        settle(g, e, NB_PERMANENT);
    }
    return RDL_OK;
}

bool neighbour_heard(struct guest *g, const uint8_t gid[GID_BYTES], const uint8_t mac[MAC_BYTES],
                     bool asked_us)
{
    struct guest_neighbour *e = find(g, gid);
    bool is_news;

    if (!stack_is_unicast(gid) || stack_is_own(g, gid))
        return false;
    if (!e && asked_us)
        e = add(g, gid, NB_FAILED);
    if (!e)
        return false;
    if (e->state == NB_PERMANENT)
        return true;
    is_news = e->state != NB_REACHABLE || memcmp(e->mac, mac, MAC_BYTES) != 0;
    memcpy(e->mac, mac, MAC_BYTES);
    e->heard_ns = now(g);
    if (is_news)
        settle(g, e, NB_REACHABLE);
    return true;
}

void neighbour_timer(struct guest *g, uint32_t index)
{
    struct guest_neighbour *e = &g->net.neighbours.v[index];

    RDL_ASSERT(index < g->net.neighbours.n && e->state == NB_INCOMPLETE);
    e->timer = 0;
    if (e->attempts < GUEST_ARP_TRIES)
        ask(g, e);
    else
        settle(g, e, NB_FAILED);
}
