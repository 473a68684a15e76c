/* SPDX-License-Identifier: MIT */
/* Looks for equal rounds: Brent's search for a cycle, in the series of the lab's states.
 *
 * The state of one tick, the anchor, is kept.  A later tick whose events are equal is compared with
 * it as a whole.  If none is equal within a distance, a later tick becomes the anchor, and the
 * distance doubles.  So the search costs little memory, and finds each round in the end.
 */
#include "rdmalab/rounds.h"

#include <stdlib.h>

#include "emu/lab/lab_state.h"
#include "emu/rnic/eswitch.h"
#include "emu/rnic/rnic.h"
#include "emu/trace/event.h"
#include "emu/virtio/fault.h"

#define FIRST_REACH 64u
#define HASH_START  0x9e3779b97f4a7c15u

struct rdl_rounds {
    struct trace_sink sink; /* first: as that of a listener, see rdl_lab_free() */
    struct rdl_lab *lab;
    uint32_t skip[EV_KINDS_MAX]; /* bit i: field i of the kind is not compared */
    uint64_t events;             /* hash of the events of this tick so far */
    uint64_t tick, ns;           /* of the last look */
    struct {
        bool there;
        uint64_t events, state, ns;
    } anchor;
    uint64_t reach; /* ticks after which the next anchor is taken */
    uint64_t since; /* ticks since the anchor, or since the end of the last round */
    uint64_t hash;  /* hash of their events */
    struct rdl_round found;
    uint64_t round_hash; /* of each round that was found */
};

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0xbf58476d1ce4e5b9u;
    return h ^ h >> 29;
}

static void on_event(void *ctx, const struct ev *e)
{
    struct rdl_rounds *r = ctx;
    const struct ev_schema *schema = ev_schema(e->kind);
    uint64_t h = mix(r->events, e->kind);

    for (size_t i = 0; i < schema->n_fields; i++) {
        const struct ev_field *f = &schema->fields[i];

        if (r->skip[e->kind] & 1u << i)
            continue;
        if (f->print != EVP_STR) {
            h = mix(h, ev_field_number(e, f));
            continue;
        }
        for (const char *s = (const char *)e + f->offset; *s; s++)
            h = mix(h, (unsigned char)*s);
    }
    r->events = h;
}

enum rdl_status rdl_rounds_new(struct rdl_lab *lab, struct rdl_rounds **ret)
{
    struct rdl_rounds *r = calloc(1, sizeof(*r));

    if (!r)
        return RDL_ERR_NOMEM;
    r->lab = lab;
    r->sink = (struct trace_sink){on_event, r, ev_set_all, NULL};
    r->tick = lab->state->trace.tick;
    r->ns = lab->state->trace.now_ns;
    r->reach = FIRST_REACH;
    for (uint32_t kind = 0; kind < EV_COUNT; kind++) {
        const struct ev_schema *schema = ev_schema(kind);

        RDL_ASSERT(schema->n_fields <= 32);
        for (size_t i = 0; i < schema->n_fields; i++)
            r->skip[kind] |= (uint32_t)!schema->fields[i].repeats << i;
    }
    trace_sink_add(&lab->sinks, &r->sink);
    *ret = r;
    return RDL_OK;
}

void rdl_rounds_free(struct rdl_rounds *r)
{
    if (!r)
        return;
    trace_sink_remove(&r->lab->sinks, &r->sink);
    free(r);
}

/* --- The state -------------------------------------------------------------------------------- */

/* Returns the time from now until @at_ns; 0: it is over. */
static uint64_t still(const struct lab_state *w, uint64_t at_ns)
{
    return at_ns > w->trace.now_ns ? at_ns - w->trace.now_ns : 0;
}

/* The argument of an item may be the address of a frame or of late data, which is another one in
 * each round.
 */
static uint64_t item_hash(const struct sim *sim, const struct sim_place *p)
{
    const bool is_address =
        p->item.kind == SIM_ARRIVE || p->item.kind == SIM_LOST || p->item.kind == SIM_LATE_DATA;
    uint64_t h = mix(HASH_START, p->when.at_ns - sim_now(sim));

    h = mix(h, sim->seq - p->when.seq);
    h = mix(h, (uint64_t)p->item.kind << 32 | p->item.target);
    return mix(h, is_address ? 0 : p->item.arg);
}

/* A sum, because the order in the heap depends on the past. */
static uint64_t scheduled_hash(const struct sim *sim)
{
    uint64_t sum = 0;

    for (unsigned q = 0; q < SIM_ROWS; q++) {
        for (const struct sim_place *p = sim->rows[q].first; p && p != &sim->end; p = p->next)
            sum += item_hash(sim, p);
    }
    for (uint32_t i = 0; i < sim->heap_len; i++) {
        if (sim->heap[i].place != &sim->end)
            sum += item_hash(sim, sim->heap[i].place);
    }
    return sum;
}

/* Mixes the turns of the ports of @s into the hash @h. */
static uint64_t switch_hash(const struct lab_state *w, uint64_t h, const struct eswitch *s)
{
    h = mix(h, still(w, s->local_free_at_ns));
    for (uint32_t i = 0; i < s->len; i++)
        h = mix(h, s->queue[(s->first + i) % s->n_ports]);
    for (uint32_t i = 0; i < s->n_ports; i++) {
        h = mix(h, still(w, s->ports[i].next_ns));
        h = mix(h, still(w, s->ports[i].paid_ns));
        if (s->ports[i].turn && s->ports[i].port->next_tenant)
            h = mix(h, s->ports[i].turn->host);
    }
    return h;
}

static uint64_t router_hash(const struct lab_state *w, uint64_t h, const struct router *r)
{
    h = mix(h, still(w, r->process->free_at_ns));
    return mix(h, (uint64_t)r->n_turns << 32 | r->n_ends);
}

static uint64_t links_hash(const struct lab_state *w, uint64_t h)
{
    for (uint32_t i = 0; i < w->net.n_links; i++) {
        for (unsigned end = 0; end < 2; end++) {
            const struct net_direction *d = &w->net.links[i].dir[end];

            h = mix(h, d->rng.state);
            h = mix(h, still(w, d->free_at_ns) << 1 | d->in_burst);
            h = mix(h, still(w, d->arrives_ns));
        }
    }
    for (const struct net_held *held = w->net.held; held; held = held->next)
        h = mix(h, held->left);
    for (uint32_t i = 0; i < w->n_hosts; i++) {
        const struct eth_port *p = &w->hosts[i]->port;

        h = mix(h, still(w, p->loop_free_at_ns));
        h = mix(h, (uint64_t)p->turn << 32 | p->waiting);
        if (host_is_machine(w->hosts[i]))
            h = switch_hash(w, h, p->sw);
        if (w->hosts[i]->rnic && w->hosts[i]->rnic->router)
            h = router_hash(w, h, w->hosts[i]->rnic->router);
    }
    return h;
}

/* The next act of a fault depends on its counts: on @seen up to the first hit, then on @count and
 * on the place between two hits.
 */
static uint64_t counts_hash(uint64_t h, uint32_t seen, uint32_t nth, uint32_t every, uint32_t count)
{
    const uint32_t at = seen < nth ? seen : nth + (every > 1 ? (seen - nth) % every : 0);

    return mix(h, (uint64_t)at << 32 | count);
}

static uint64_t faults_hash(const struct lab_state *w, uint64_t h)
{
    for (uint32_t i = 0; i < w->net.faults.n_touched; i++) {
        const struct net_fault *f = slots_at(&w->net.faults, i);

        if (!f)
            continue;
        h = counts_hash(h, f->seen, f->nth, f->every, f->count);
        h = mix(h, f->aim.begun);
        if (f->device) {
            h = counts_hash(h, f->device->seen, f->device->nth, f->device->every, f->device->count);
            h = mix(h, f->device->rng.state);
        }
    }
    return h;
}

static uint64_t state_hash(const struct lab_state *w, uint64_t more)
{
    return faults_hash(w, links_hash(w, mix(scheduled_hash(&w->sim), more)));
}

/* Returns true if fault @f may act in a later round although @rounds of them were equal.  A
 * condition may compare anything.  Each packet of a round is sent once more in each round, so a
 * transmission up to @rounds has passed.
 */
static bool may_act(const struct net_fault *f, uint64_t rounds)
{
    if (f->device)
        return f->device->where && f->device->count > 0;
    return (f->group || f->on_link) && (f->aim.where || f->aim.transmission > rounds);
}

/* --- The search ------------------------------------------------------------------------------- */

static void take_anchor(struct rdl_rounds *r, uint64_t events, uint64_t more)
{
    const struct lab_state *w = r->lab->state;

    r->anchor.there = true;
    r->anchor.events = events;
    r->anchor.state = state_hash(w, more);
    r->anchor.ns = w->trace.now_ns;
    r->found = (struct rdl_round){.n = 0};
    r->since = 0;
    r->hash = HASH_START;
}

/* The state is that of the anchor again.  Returns false if the way there was another one. */
static bool end_round(struct rdl_rounds *r)
{
    const uint64_t now = r->lab->state->trace.now_ns;

    if (r->found.n > 0 && r->hash != r->round_hash)
        return false;
    if (r->found.n == 0)
        r->found = (struct rdl_round){.ticks = r->since, .ns = now - r->anchor.ns};
    r->found.n++;
    r->round_hash = r->hash;
    r->since = 0;
    r->hash = HASH_START;
    return true;
}

void rdl_rounds_look(struct rdl_rounds *r, uint64_t (*more)(void *ctx), void *ctx)
{
    const struct trace *t = &r->lab->state->trace;
    const uint64_t events = mix(r->events, t->now_ns - r->ns);
    const bool missed = t->tick != r->tick + 1;
    const uint64_t length = r->found.n > 0 ? r->found.ticks : 0;

    r->events = 0;
    r->tick = t->tick;
    r->ns = t->now_ns;
    r->since++;
    r->hash = mix(r->hash, events);
    if (!r->anchor.there || missed) {
        take_anchor(r, events, more ? more(ctx) : 0);
        return;
    }
    if (length > 0 ? r->since == length : events == r->anchor.events) {
        const uint64_t other = more ? more(ctx) : 0;

        if (state_hash(r->lab->state, other) == r->anchor.state && end_round(r))
            return;
        if (length > 0)
            take_anchor(r, events, other);
    }
    if (r->found.n == 0 && r->since >= r->reach) {
        r->reach *= 2;
        take_anchor(r, events, more ? more(ctx) : 0);
    }
}

struct rdl_round rdl_rounds_found(const struct rdl_rounds *r)
{
    return r->found;
}

bool rdl_rounds_standstill(const struct rdl_rounds *r)
{
    const struct slots *faults = &r->lab->state->net.faults;
    const struct rdl_round *found = &r->found;

    if (found->n < RDL_ROUNDS_LEAST ||
        (found->n < RDL_ROUNDS_EQUAL && found->n * found->ticks < RDL_ROUNDS_TICKS))
        return false;
    for (uint32_t i = 0; i < faults->n_touched; i++) {
        const struct net_fault *f = slots_at(faults, i);

        if (f && may_act(f, found->n))
            return false;
    }
    return true;
}
