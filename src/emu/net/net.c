/* SPDX-License-Identifier: MIT */
#include "emu/net/net.h"

#include "emu/base/assert.h"
#include "emu/base/cold.h"
#include "emu/facts/enum/fault.h"
#include "emu/net/internal.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/frames.h"

/* Targets of SIM_ARRIVE: a direction of a link, or a host directly. */
#define TARGET_HOST NET_TARGET_HOST

#define PPM 1000000u

const struct net_fate net_untouched = {.lost_by = 0};

void net_init(struct net *n, struct arena *a, struct sim *sim, const struct net_ops *ops,
              void *world, uint64_t seed)
{
    *n = (struct net){
        .arena = a, .trace = sim->trace, .sim = sim, .ops = ops, .world = world, .seed = seed};
    slots_init(&n->faults, a, NET_FAULTS_MAX);
    hash_lists_init(&n->fault_index.groups, a);
}

uint64_t net_drops_sum(const uint64_t drops[DROPS_MAX])
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < DROP_COUNT; i++)
        sum += drops[i];
    return sum;
}

enum rdl_status net_switch_add(struct net *n, const char *name, uint32_t *ret)
{
    const uint32_t index = n->n_switches;
    struct net_switch **v, *s;

    if (index == NET_SWITCHES_MAX)
        return RDL_ERR_LIMIT;
    v = arena_extend(n->arena, n->switches, &n->switches_cap, index, index + 1,
                     sizeof(struct net_switch *));
    if (!v)
        return RDL_ERR_NOMEM;
    n->switches = v;
    s = arena_alloc(n->arena, sizeof(*s));
    if (!s)
        return RDL_ERR_NOMEM;
    s->name = ev_str(name);
    n->switches[index] = s;
    n->n_switches++;
    *ret = index;
    return RDL_OK;
}

/* Chooses the port of a switch for one more link at @end, and makes room for it. */
static enum rdl_status choose_port(struct net *n, struct net_end *end)
{
    struct net_switch *s;
    uint32_t *v;

    end->port = 0;
    if (end->node != NET_SWITCH)
        return RDL_OK;
    s = n->switches[end->index];
    if (s->n_ports == NET_SWITCH_PORTS_MAX)
        return RDL_ERR_LIMIT;
    end->port = s->n_ports;
    v = arena_extend(n->arena, s->link_end, &s->ports_cap, s->n_ports, s->n_ports + 1, sizeof(*v));
    if (!v)
        return RDL_ERR_NOMEM;
    s->link_end = v;
    return RDL_OK;
}

static enum rdl_status link_room(struct net *n)
{
    struct net_link *v;

    if (n->n_links == NET_LINKS_MAX)
        return RDL_ERR_LIMIT;
    v = arena_extend(n->arena, n->links, &n->links_cap, n->n_links, n->n_links + 1, sizeof(*v));
    if (!v)
        return RDL_ERR_NOMEM;
    n->links = v;
    return RDL_OK;
}

void net_link_judge(struct net_link *l)
{
    l->at_risk = l->n_faults > 0 || l->n_held > 0;
    for (uint32_t i = 0; i < 2; i++) {
        const struct net_way *w = &l->dir[i].way;

        l->at_risk = l->at_risk || w->loss_ppm || w->burst_ppm || w->jitter_ns;
    }
}

enum rdl_status net_link_add(struct net *n, const struct net_link_config *config, uint32_t *ret)
{
    const uint32_t index = n->n_links;
    struct net_link l = {.end = {config->end[0], config->end[1]}};
    const struct net_way way = {.latency_ns = config->latency_ns,
                                .rate_bps = config->rate_bps,
                                .loss_ppm = config->loss_ppm};
    enum rdl_status st = link_room(n);

    RDL_ASSERT(way.rate_bps > 0 && way.loss_ppm <= PPM);
    for (uint32_t i = 0; i < 2 && st == RDL_OK; i++)
        st = choose_port(n, &l.end[i]);
    if (st != RDL_OK)
        return st;
    for (uint32_t i = 0; i < 2; i++) {
        l.dir[i].rng = prng_stream(n->seed, index * 2u + i);
        l.dir[i].way = way;
        if (l.end[i].node == NET_SWITCH) {
            struct net_switch *s = n->switches[l.end[i].index];

            s->link_end[s->n_ports++] = index << 1 | i;
        }
    }
    net_link_judge(&l);
    n->links[index] = l;
    n->n_links++;
    *ret = index;
    return RDL_OK;
}

uint64_t net_port_free_at(const struct net *n, uint32_t link_end)
{
    return n->links[link_end >> 1].dir[link_end & 1].free_at_ns;
}

/* Returns how long a frame of @bytes occupies a line of @rate_bps, rounded up. */
static uint64_t occupancy_ns(uint32_t bytes, uint64_t rate_bps)
{
    const uint32_t padded = bytes < NET_FRAME_BYTES_MIN ? NET_FRAME_BYTES_MIN : bytes;
    const uint64_t bits = (uint64_t)(padded + NET_GAP_BYTES) * 8;

    return (bits * 1000000000u + rate_bps - 1) / rate_bps;
}

bool net_has_room(const struct net *n, uint32_t link_end)
{
    const uint64_t rate_bps = n->links[link_end >> 1].dir[link_end & 1].way.rate_bps;
    const uint64_t free_at = net_port_free_at(n, link_end);
    const uint64_t now = sim_now(n->sim);

    if (free_at <= now)
        return true;
    return (free_at - now) <= (uint64_t)NET_QUEUE_BYTES_MAX * 8 * 1000000000u / rate_bps;
}

void net_drop(struct net *n, struct frame *f, uint32_t host, enum drop_reason reason)
{
    TRACE(n->trace, drop, .host = host, .qpn = f->note.qpn, .opcode = f->note.opcode,
          .psn = f->note.psn, .reason = (uint32_t)reason, .wire_bytes = f->len, .tx = f->tx,
          .cm = f->note.cm);
    n->counts.in_flight--;
    n->counts.dropped++;
    frame_unref(n->arena, f);
}

/* Values of `number` of lose(), the target of SIM_LOST. */
#define LOST_BY_CHANCE 0u

/* Schedules the loss of a frame, which has a tick and an event of its own.  The cause is the fault
 * in @fate, or @number if @fate is NULL.
 */
static void lose(struct net *n, struct frame *f, uint64_t at_ns, const struct net_fate *fate,
                 uint32_t number)
{
    if (fate) {
        RDL_ASSERT(f->refs == 1); /* faults that lose frames act before copies are made */
        f->lost_by = fate->lost_by;
        number = fate->number;
    }
    sim_enqueue(n->sim, at_ns, SIM_LOST, number, (uint64_t)(uintptr_t)f);
}

static void arrive_at(struct net *n, uint64_t at_ns, uint32_t target, struct frame *f)
{
    sim_enqueue(n->sim, at_ns, SIM_ARRIVE, target, (uint64_t)(uintptr_t)f);
}

/* Counts held frames on the link of @target.  @more is 1, or -1 as an unsigned number. */
static void count_held(struct net *n, uint32_t target, uint32_t more)
{
    struct net_link *l;

    if (target & TARGET_HOST)
        return;
    l = &n->links[target >> 1];
    l->n_held += more;
    net_link_judge(l);
}

/* Holds a frame that would arrive at @at_ns. */
static void hold(struct net *n, uint32_t target, uint64_t at_ns, struct frame *f,
                 const struct net_fate *fate)
{
    struct net_held *h = arena_alloc(n->arena, sizeof(*h)), **end = &n->held;

    if (!h) {
        arrive_at(n, at_ns, target, f);
        return;
    }
    *h = (struct net_held){.frame = f,
                           .target = target,
                           .left = fate->hold_frames,
                           .latest_ns = at_ns + fate->hold_ns};
    h->ticket = sim_schedule(n->sim, h->latest_ns, SIM_ARRIVE, target, (uint64_t)(uintptr_t)f);
    while (*end)
        end = &(*end)->next;
    *end = h;
    count_held(n, target, 1);
}

/* A frame arrives at @target at @at_ns: it overtakes the frames that are held there.  Held frames
 * that waited for no other arrive directly behind it.  A held frame whose time is over arrives, or
 * has arrived, by its own item; its entry is freed.
 */
static void overtake(struct net *n, uint32_t target, uint64_t at_ns)
{
    for (struct net_held **at = &n->held; *at;) {
        struct net_held *h = *at;

        if (h->target != target || --h->left > 0) {
            at = &h->next;
            continue;
        }
        if (at_ns <= h->latest_ns && sim_cancel(n->sim, h->ticket))
            arrive_at(n, at_ns, target, h->frame);
        *at = h->next;
        arena_release(n->arena, h, sizeof(*h));
        count_held(n, target, (uint32_t)-1);
    }
}

/* Schedules the arrival of the frame and of its copy, or holds it.  Without faults it would arrive
 * at @at_ns.
 */
static void carry(struct net *n, uint32_t target, uint64_t at_ns, struct frame *f,
                  const struct net_fate *fate)
{
    if (fate->duplicate) {
        n->counts.copied++;
        n->counts.in_flight++;
        arrive_at(n, at_ns + fate->delay_ns + fate->duplicate_delay_ns, target, frame_ref(f));
    }
    if (fate->hold_frames) {
        hold(n, target, at_ns + fate->delay_ns, f, fate);
        return;
    }
    arrive_at(n, at_ns + fate->delay_ns, target, f);
    if (n->held)
        overtake(n, target, at_ns + fate->delay_ns);
}

/* Decides whether the next frame of the direction is lost by chance or in a burst.  It draws only
 * the random numbers that it needs: a link without bursts keeps the sequence that it always had.
 */
static bool is_unlucky(struct net_direction *d, uint32_t *ret_number)
{
    const struct net_way *w = &d->way;

    *ret_number = LOST_BY_CHANCE;
    if (w->burst_ppm) {
        if (d->in_burst)
            d->in_burst = prng_below(&d->rng, w->burst_frames) != 0;
        else
            d->in_burst = prng_below(&d->rng, PPM) < w->burst_ppm;
        if (d->in_burst &&
            (w->burst_loss_ppm == PPM || prng_below(&d->rng, PPM) < w->burst_loss_ppm)) {
            *ret_number = NET_LOST_IN_BURST;
            return true;
        }
    }
    return w->loss_ppm && prng_below(&d->rng, PPM) < w->loss_ppm;
}

/* Returns the arrival time with jitter.  Frames are not reordered. */
static uint64_t shaken(struct net_direction *d, uint64_t at_ns)
{
    if (d->way.jitter_ns == 0)
        return at_ns;
    at_ns += prng_below(&d->rng, d->way.jitter_ns + 1);
    if (at_ns < d->arrives_ns)
        at_ns = d->arrives_ns;
    d->arrives_ns = at_ns;
    return at_ns;
}

/* Applies the faults of this link.  If one loses the frame, *@f is replaced by a copy when others
 * share it.
 */
static void meet_faults_of_link(struct net *n, uint32_t link_end, struct frame **f,
                                struct net_fate *fate)
{
    const ev_id cause = n->trace->cause;
    struct frame *own;

    trace_because(n->trace, (*f)->tx);
    net_fault_apply_on_link(n, link_end >> 1, f, fate);
    trace_because(n->trace, cause);
    if (fate->lost_by == 0 || (*f)->refs == 1)
        return;
    own = frame_copy(n->arena, *f); /* other references go elsewhere and are not lost */
    if (!own) {
        fate->lost_by = 0;
        return;
    }
    frame_unref(n->arena, *f);
    *f = own;
}

/* Occupies the direction with the frame.  Returns the time at which its last bit has left. */
static uint64_t occupy(struct net *n, struct net_direction *d, const struct frame *f)
{
    const uint64_t now = sim_now(n->sim);
    const uint64_t start = d->free_at_ns > now ? d->free_at_ns : now;

    d->free_at_ns = start + occupancy_ns(f->len, d->way.rate_bps);
    return d->free_at_ns;
}

/* The general form of net_transmit(), with faults, loss and jitter.  It is a separate function, so
 * that net_transmit() need not save registers.
 */
RDL_COLD __attribute__((noinline)) static void
transmit_at_risk(struct net *n, uint32_t link_end, struct frame *f, const struct net_fate *fate)
{
    struct net_link *l = &n->links[link_end >> 1];
    struct net_direction *d = &l->dir[link_end & 1];
    struct net_fate here = *fate;
    uint32_t number = LOST_BY_CHANCE;
    uint64_t left_at;
    bool unlucky;

    if (l->n_faults)
        meet_faults_of_link(n, link_end, &f, &here);
    left_at = occupy(n, d, f);
    unlucky = is_unlucky(d, &number);
    if (unlucky || here.lost_by)
        l->lost++;
    else
        l->carried++;
    if (here.lost_by || unlucky)
        lose(n, f, left_at + d->way.latency_ns / 2, here.lost_by ? &here : NULL, number);
    else
        carry(n, link_end, shaken(d, left_at + d->way.latency_ns), f, &here);
}

void net_transmit(struct net *n, uint32_t link_end, struct frame *f, const struct net_fate *fate)
{
    struct net_link *l = &n->links[link_end >> 1];
    struct net_direction *d = &l->dir[link_end & 1];

    if (l->at_risk || fate != &net_untouched) {
        transmit_at_risk(n, link_end, f, fate);
        return;
    }
    l->carried++;
    arrive_at(n, occupy(n, d, f) + d->way.latency_ns, link_end, f);
}

const struct net_fate *net_depart(struct net *n, struct frame **f, struct net_fate *room)
{
    n->counts.sent++;
    n->counts.in_flight++;
    n->ops->keep(n->world, *f, false);
    /* The cause of what happens to the frame on its way is that it was sent. */
    trace_because(n->trace, (*f)->tx);
    if (n->n_asking)
        net_fault_tell_links(n, *f);
    if (n->fault_index.sets == 0)
        return &net_untouched;
    net_fault_apply(n, f, room);
    return room;
}

bool net_send(struct net *n, uint32_t link_end, struct frame *f)
{
    const bool up = net_is_up(n, link_end);
    const ev_id cause = n->trace->cause;
    struct net_fate room;
    const struct net_fate *fate = net_depart(n, &f, &room);

    if (up)
        net_transmit(n, link_end, f, fate);
    else
        net_drop(n, f, EV_HOST_NONE, DROP_NO_ROUTE);
    trace_because(n->trace, cause);
    return up;
}

void net_refuse(struct net *n, struct frame *f, uint32_t host, uint32_t reason)
{
    const ev_id cause = n->trace->cause;

    n->counts.sent++;
    n->counts.in_flight++;
    n->ops->keep(n->world, f, false);
    trace_because(n->trace, f->tx);
    net_drop(n, f, host, (enum drop_reason)reason);
    trace_because(n->trace, cause);
}

void net_loop_back(struct net *n, uint32_t host, struct frame *f)
{
    const ev_id cause = n->trace->cause;
    struct net_fate room;
    const struct net_fate *fate = net_depart(n, &f, &room);
    const uint64_t at = sim_now(n->sim) + NET_LOOPBACK_NS;

    if (fate->lost_by)
        lose(n, f, at, fate, LOST_BY_CHANCE);
    else
        carry(n, TARGET_HOST | host, at, f, fate);
    trace_because(n->trace, cause);
}

void net_loop_copy(struct net *n, uint32_t host, const struct frame *f)
{
    struct frame *copy = frame_copy(n->arena, f);
    ev_id cause;

    if (!copy)
        return; /* the arena is full: the lab stops */
    n->counts.copied++;
    n->counts.in_flight++;
    cause = trace_because(n->trace, f->tx);
    carry(n, TARGET_HOST | host, sim_now(n->sim) + NET_LOOPBACK_NS, copy, &net_untouched);
    trace_because(n->trace, cause);
}

void net_inject(struct net *n, uint32_t host, struct frame *f)
{
    n->counts.sent++;
    n->counts.in_flight++;
    arrive_at(n, sim_now(n->sim), TARGET_HOST | host, f);
}

void net_carry(struct net *n, uint32_t host, struct frame *f)
{
    RDL_ASSERT(f->cargo && f->len == 0);
    arrive_at(n, sim_now(n->sim) + NET_LOOPBACK_NS, TARGET_HOST | host, f);
}

static void deliver(struct net *n, uint32_t host, struct frame *f)
{
    if (!f->cargo) {
        n->counts.in_flight--;
        n->counts.delivered++;
    }
    n->ops->deliver(n->world, host, f);
    frame_unref(n->arena, f);
}

void net_arrive(struct net *n, struct sim_item item)
{
    struct frame *f = (struct frame *)(uintptr_t)item.arg;
    const struct net_end *to;

    if (item.target & TARGET_HOST) {
        deliver(n, item.target & ~TARGET_HOST, f);
        return;
    }
    to = &n->links[item.target >> 1].end[!(item.target & 1)];
    if (to->node == NET_HOST)
        deliver(n, to->index, f);
    else if (to->node == NET_EXT)
        net_ext_out(n, to->index, f);
    else
        net_switch_forward(n, to->index, to->port, f);
}

/* Returns the name of what lost @f: a fault, which may have been removed meanwhile, a burst, or
 * chance.
 */
static struct ev_str loser_name(const struct net *n, const struct frame *f, uint32_t number)
{
    const struct net_fault *fault = slots_get(&n->faults, f->lost_by);

    if (number == NET_LOST_IN_BURST)
        return ev_str(EV_BURST);
    if (number == LOST_BY_CHANCE)
        return ev_str(EV_CHANCE);
    return fault ? fault->name : ev_str("a removed fault");
}

static enum fault_kind loser_kind(uint32_t number)
{
    if (number == LOST_BY_CHANCE)
        return FLT_CHANCE;
    return number == NET_LOST_IN_BURST ? FLT_BURST : FLT_DROP;
}

void net_lost(struct net *n, struct sim_item item)
{
    struct frame *f = (struct frame *)(uintptr_t)item.arg;
    const uint32_t number = item.target;

    TRACE(n->trace, lost, .host = f->note.host, .qpn = f->note.qpn, .opcode = f->note.opcode,
          .psn = f->note.psn, .by = (uint32_t)loser_kind(number),
          .fault = number == NET_LOST_IN_BURST ? 0 : number, .name = loser_name(n, f, number),
          .tx = f->tx, .cm = f->note.cm);
    n->counts.in_flight--;
    n->counts.lost++;
    frame_unref(n->arena, f);
}
