/* SPDX-License-Identifier: MIT */
/* The neighbour table, and the frames that wait for a MAC.
 *
 *	           resolve                    heard
 *	(unknown) ----------------> INCOMPLETE ----------> REACHABLE --- too old ---> INCOMPLETE
 *	                                 |
 *	                                 +-- asked GUEST_ARP_TRIES times --> FAILED
 *
 * Addresses in the lab's directory need no entry here, and nothing received changes them.  An entry
 * whose address enters the directory later becomes PERMANENT and may be reused.  Entries are found
 * by a hash of the address.  When the table is full, an entry that is not being resolved is reused.
 */
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/base/fnv.h"
#include "emu/guest/ip/stack.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/ip.h"

static uint64_t now(const struct guest_net *net)
{
    return net->config.trace->now_ns;
}

static uint32_t *list_of(struct guest_neighbours *t, const uint8_t gid[GID_BYTES])
{
    const uint32_t h = fnv1a(gid, GID_BYTES);

    return &t->lists[(h ^ h >> 16) % GUEST_NEIGHBOUR_LISTS];
}

static struct guest_neighbour *find(const struct guest_net *net, const uint8_t gid[GID_BYTES])
{
    const struct guest_neighbours *t = &net->neighbours;
    /* The cast is needed for reading only. */
    uint32_t i = *list_of((struct guest_neighbours *)t, gid);

    while (i && memcmp(t->v[i - 1].gid, gid, GID_BYTES) != 0)
        i = t->v[i - 1].next;
    return i ? &t->v[i - 1] : NULL;
}

static uint32_t index_of(const struct guest_net *net, const struct guest_neighbour *e)
{
    return (uint32_t)(e - net->neighbours.v);
}

static void list_add(struct guest_net *net, struct guest_neighbour *e)
{
    uint32_t *list = list_of(&net->neighbours, e->gid);

    e->next = *list;
    *list = index_of(net, e) + 1;
}

static void list_remove(struct guest_net *net, const struct guest_neighbour *e)
{
    uint32_t *at = list_of(&net->neighbours, e->gid);

    while (*at != index_of(net, e) + 1)
        at = &net->neighbours.v[*at - 1].next;
    *at = e->next;
}

/* Makes room for one more entry.  Entries may move but keep their index. */
static bool grow(struct guest_net *net)
{
    struct guest_neighbours *t = &net->neighbours;
    struct guest_neighbour *v = arena_extend(net->arena, t->v, &t->cap, t->n, t->n + 1, sizeof(*v));

    if (v)
        t->v = v;
    return v != NULL;
}

/* Removes an entry that is not being resolved and returns it for reuse.  NULL if there is none. */
static struct guest_neighbour *forget_one(struct guest_net *net)
{
    struct guest_neighbours *t = &net->neighbours;

    for (uint32_t i = 0; i < t->n; i++) {
        struct guest_neighbour *e = &t->v[t->hand++ % t->n];

        if (e->state == NB_INCOMPLETE)
            continue;
        list_remove(net, e);
        return e;
    }
    return NULL;
}

/* Adds an entry for @gid.  Returns NULL if there is no room. */
static struct guest_neighbour *add(struct guest_net *net, const uint8_t gid[GID_BYTES],
                                   enum neighbour_state state)
{
    struct guest_neighbours *t = &net->neighbours;
    struct guest_neighbour *e = NULL;

    if (t->n == GUEST_NEIGHBOURS_MAX)
        e = forget_one(net);
    else if (grow(net))
        e = &t->v[t->n++];
    if (!e)
        return NULL;
    *e = (struct guest_neighbour){.state = state};
    memcpy(e->gid, gid, GID_BYTES);
    list_add(net, e);
    if (net->config.directory)
        net->config.directory->asked = true;
    return e;
}

/* Emits the event of the new state of @e, which becomes the cause of the following events.  Returns
 * the previous cause.
 */
static ev_id announce(struct guest_net *net, const struct guest_neighbour *e)
{
    ev_id id;

    TRACE_ID(net->config.trace, id, neighbour, .host = net->config.host,
             .addr = stack_ev_addr(e->gid), .state = (uint32_t)e->state,
             .mac = ld_be(e->mac, MAC_BYTES), .attempt = e->attempts);
    return trace_because(net->config.trace, id);
}

/* The MAC in the directory, or NULL. */
static const uint8_t *told_mac(const struct guest_net *net, const uint8_t gid[GID_BYTES])
{
    const struct directory *d = net->config.directory;
    const struct directory_entry *e = d ? directory_find(d, gid) : NULL;

    return e ? e->mac : NULL;
}

/* Returns true if the MAC of @e is still valid. */
static bool is_known(const struct guest_net *net, const struct guest_neighbour *e)
{
    return e->state == NB_REACHABLE && now(net) - e->heard_ns < GUEST_NEIGHBOUR_NS;
}

/* The MAC of @gid, which is not the guest's own.  NULL if it is not known now. */
static const uint8_t *mac_of_other(const struct guest_net *net, const uint8_t gid[GID_BYTES])
{
    const uint8_t *mac = told_mac(net, gid);
    const struct guest_neighbour *e = mac ? NULL : find(net, gid);

    return e && is_known(net, e) ? e->mac : mac;
}

const uint8_t *guest_neighbour_mac(const struct guest_net *net, const uint8_t gid[GID_BYTES])
{
    return stack_is_own(net, gid) ? net->config.mac : mac_of_other(net, gid);
}

/* Sends a request for @e and starts its timer. */
static void ask(struct guest_net *net, struct guest_neighbour *e)
{
    ev_id before;

    e->attempts++;
    before = announce(net, e);
    e->timer =
        sim_schedule(net->config.sim, now(net) + GUEST_ARP_NS, SIM_GUEST_TIMER, net->config.host,
                     guest_timer_arg(GUEST_TIMER_NEIGHBOUR, index_of(net, e)));
    arp_nd_ask(net, e->gid);
    trace_because(net->config.trace, before);
}

enum rdl_status guest_neighbour_resolve(struct guest_net *net, const uint8_t gid[GID_BYTES],
                                        const uint8_t **ret_mac)
{
    struct guest_neighbour *e;

    if (stack_is_own(net, gid)) {
        *ret_mac = net->config.mac;
        return RDL_OK;
    }
    *ret_mac = mac_of_other(net, gid);
    if (*ret_mac)
        return RDL_OK;
    e = find(net, gid);
    if (e && e->state == NB_INCOMPLETE)
        return RDL_ERR_BUSY;
    if (!stack_is_unicast(gid) || !stack_source(net, gid) || !nic_link_is_up(net))
        return RDL_ERR_NO_ROUTE;
    if (!e)
        e = add(net, gid, NB_INCOMPLETE);
    if (!e)
        return RDL_ERR_NO_ROUTE;
    e->state = NB_INCOMPLETE;
    e->attempts = 0;
    memset(e->mac, 0, MAC_BYTES);
    ask(net, e);
    return RDL_ERR_BUSY;
}

void neighbour_keep(struct guest_net *net, const uint8_t gid[GID_BYTES], const uint8_t *frame,
                    size_t n)
{
    struct guest_neighbour *e = find(net, gid);
    struct guest_waiting *w = NULL, **last;

    RDL_ASSERT(e && e->state == NB_INCOMPLETE);
    if (e->n_waiting < GUEST_WAITING_MAX)
        w = arena_alloc_raw(net->arena, sizeof(*w) + n);
    if (!w) {
        stack_drop_tx(net, frame, n, DROP_QUEUE_FULL);
        return;
    }
    *w = (struct guest_waiting){.len = (uint32_t)n};
    memcpy(w->bytes, frame, n);
    for (last = &e->waiting; *last; last = &(*last)->next)
        ;
    *last = w;
    e->n_waiting++;
}

/* Sends the queued frames to @mac, or drops them if it is NULL. */
static void let_go(struct guest_net *net, struct guest_waiting *w, const uint8_t *mac)
{
    while (w) {
        struct guest_waiting *next = w->next;

        if (mac) {
            memcpy(w->bytes, mac, MAC_BYTES);
            nic_send(net, w->bytes, w->len);
        } else {
            stack_drop_tx(net, w->bytes, w->len, DROP_UNRESOLVED);
        }
        arena_release(net->arena, w, sizeof(*w) + w->len);
        w = next;
    }
}

/* Ends the resolution of @e, if there was one, with @state; @state is not INCOMPLETE. */
static void settle(struct guest_net *net, struct guest_neighbour *e, enum neighbour_state state)
{
    struct guest_waiting *waiting = e->waiting;
    const bool found = state != NB_FAILED;
    uint8_t gid[GID_BYTES], mac[MAC_BYTES];
    ev_id before;

    memcpy(gid, e->gid, GID_BYTES);
    memcpy(mac, e->mac, MAC_BYTES);
    sim_cancel(net->config.sim, e->timer);
    e->timer = 0;
    e->state = state;
    e->attempts = 0;
    e->waiting = NULL;
    e->n_waiting = 0;
    before = announce(net, e);
    /* The calls below may move entries: @e is not used any more. */
    let_go(net, waiting, found ? mac : NULL);
    if (!found)
        ping_unreachable(net, gid);
    if (net->config.resolved)
        net->config.resolved(net->config.resolved_ctx, gid, found ? mac : NULL);
    trace_because(net->config.trace, before);
}

void guest_neighbour_told(struct guest_net *net, const uint8_t gid[GID_BYTES])
{
    struct guest_neighbour *e = find(net, gid);
    const uint8_t *mac = told_mac(net, gid);

    if (!e || !mac || e->state == NB_PERMANENT)
        return;
    memcpy(e->mac, mac, MAC_BYTES);
    settle(net, e, NB_PERMANENT);
}

bool neighbour_heard(struct guest_net *net, const uint8_t gid[GID_BYTES],
                     const uint8_t mac[MAC_BYTES], bool asked_us)
{
    struct guest_neighbour *e;
    bool is_news;

    if (!stack_is_unicast(gid) || stack_is_own(net, gid))
        return false;
    if (told_mac(net, gid))
        return true;
    e = find(net, gid);
    if (!e && asked_us)
        e = add(net, gid, NB_FAILED);
    if (!e)
        return false;
    is_news = e->state != NB_REACHABLE || memcmp(e->mac, mac, MAC_BYTES) != 0;
    memcpy(e->mac, mac, MAC_BYTES);
    e->heard_ns = now(net);
    if (is_news)
        settle(net, e, NB_REACHABLE);
    return true;
}

void neighbour_timer(struct guest_net *net, uint32_t index)
{
    struct guest_neighbour *e = &net->neighbours.v[index];

    RDL_ASSERT(index < net->neighbours.n && e->state == NB_INCOMPLETE);
    e->timer = 0;
    if (e->attempts < GUEST_ARP_TRIES)
        ask(net, e);
    else
        settle(net, e, NB_FAILED);
}
