/* SPDX-License-Identifier: MIT */
/* The drill of wires: the lab, the steps, and what is compared with the model. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/virtio/feature.h"
#include "emu/trace/event.h"
#include "rdmalab/inspect.h"
#include "rdmalab/trace.h"
#include "swarm/drills/drill_wires.h"
#include "swarm/drills/kinds.h"
#include "swarm/drills/rig.h"

#define STEPS 24u

/* --- What the lab does ------------------------------------------------------------------------ */

static void on_leave(void *ctx, const void *frame, size_t bytes)
{
    const struct reader *r = ctx;
    struct leaver *l;

    if (r->w->n_have == FLIGHTS)
        return; /* more than the model expects */
    l = &r->w->have[r->w->n_have++];
    *l = (struct leaver){.port = r->port, .f.bytes = (uint32_t)bytes};
    memcpy(l->f.b, frame, bytes < PREFIX ? bytes : PREFIX);
}

static const struct {
    const char *name, *link;
} ports[PORTS] = {{"p1", "p1-s1"}, {"p2", "p2-s1"}, {"p3", "p3-s1"}};

static uint64_t draw_rate(struct drill *d)
{
    static const uint64_t rates[] = {10000000, 1000000000, 25000000000, 100000000000};

    return rates[drill_below(d, ARRAY_LEN(rates))];
}

/* Sends a frame through @port: from one station to another, or to a group. */
static bool send(struct drill *d, uint32_t port, uint32_t bytes, uint32_t to)
{
    struct wires *w = d->own;
    struct frame_copy f = {.bytes = bytes};
    const uint32_t from = drill_one_in(d, 3) ? drill_below(d, STATIONS) : port;
    const uint8_t macs[12] = {to == GROUP ? 3 : 2, 0, 0, 0, 0xaa, (uint8_t)to, 2, 0, 0, 0, 0xaa,
                              (uint8_t)from};

    for (uint32_t i = sizeof(macs); i < bytes && i < PREFIX; i++)
        f.b[i] = (uint8_t)drill_below(d, 256);
    memcpy(f.b, macs, bytes < sizeof(macs) ? bytes : sizeof(macs));
    if (bytes >= ETHERNET) {
        f.b[12] = RIG_ETHERTYPE >> 8;
        f.b[13] = RIG_ETHERTYPE & 0xff;
    }
    memcpy(w->bytes, f.b, bytes < PREFIX ? bytes : PREFIX);
    wires_come_in(w, rdl_now_ns(d->lab), port, f);
    return drill_works(d, rdl_port_receive(d->lab, w->port[port], w->bytes, bytes),
                       "a frame can come in through a port");
}

static bool run_for(struct drill *d, uint64_t ns)
{
    const uint64_t until = rdl_now_ns(d->lab) + ns;

    wires_run(d->own, until);
    return drill_run_until(d, until);
}

/* Checks when frames have left since the last call. */
static bool times_are_right(struct drill *d)
{
    struct wires *w = d->own;
    const struct ev *e;

    for (uint32_t k = 0; (e = drill_event(d, EV_port_out, &w->seen)) && k < w->n_want; k++) {
        if (!drill_expect(d, e->at_ns == w->want[k].at_ns,
                          "a frame leaves when the lines on its way have carried it",
                          "%u: at %" PRIu64 " ns, and not %" PRIu64, k, e->at_ns, w->want[k].at_ns))
            return false;
    }
    return true;
}

static bool frames_are_right(struct drill *d)
{
    struct wires *w = d->own;

    for (uint32_t i = 0; i < w->n_want && i < w->n_have; i++) {
        const struct leaver *want = &w->want[i], *have = &w->have[i];

        if (!drill_expect(d,
                          want->port == have->port && want->f.bytes == have->f.bytes &&
                              memcmp(want->f.b, have->f.b, PREFIX) == 0,
                          "each frame leaves at its place, as faults have left it",
                          "%u: %u bytes at p%u, and not %u at p%u, or others", i, have->f.bytes,
                          have->port + 1, want->f.bytes, want->port + 1))
            return false;
    }
    return drill_expect(d, w->n_want == w->n_have, "frames leave as often as they must",
                        "%u of %u did", w->n_have, w->n_want);
}

static bool number_is(struct drill *d, const char *part, const char *leaf, uint64_t want)
{
    char path[2 * RDL_NAME_BYTES];

    snprintf(path, sizeof(path), "%s.%s", part, leaf);
    return drill_number_is(d, path, want, "what is counted has happened");
}

static bool port_is_right(struct drill *d, uint32_t port)
{
    const struct wires *w = d->own;
    const struct rdl_port_info *want = &w->info[port];
    struct rdl_port_info have;

    return drill_works(d, rdl_port_info(d->lab, w->port[port], &have), "a port has counters") &&
           drill_expect(d,
                        have.in_frames == want->in_frames && have.in_bytes == want->in_bytes &&
                            have.in_dropped == want->in_dropped &&
                            have.out_frames == want->out_frames &&
                            have.out_bytes == want->out_bytes,
                        "a port counts what comes in and what leaves",
                        "p%u: %" PRIu64 " frames of %" PRIu64 " bytes in, %" PRIu64
                        " dropped, and not %" PRIu64 " of %" PRIu64 ", %" PRIu64,
                        port + 1, have.in_frames, have.in_bytes, have.in_dropped, want->in_frames,
                        want->in_bytes, want->in_dropped) &&
           number_is(d, ports[port].link, "carried", w->line[port].carried) &&
           number_is(d, ports[port].link, "lost", w->line[port].lost) &&
           number_is(d, ports[port].link, "there.in_burst", w->line[port].in_burst[IN]) &&
           number_is(d, ports[port].link, "back.in_burst", w->line[port].in_burst[OUT]);
}

/* Checks that what was dropped where it came in was dropped at its port. */
static bool drops_are_right(struct drill *d)
{
    struct wires *w = d->own;
    const struct ev *e;

    while ((e = drill_event(d, EV_drop, &w->drops_seen))) {
        if (e->u.drop.host - EV_PORT_FIRST < PORTS)
            w->port_drops[e->u.drop.host - EV_PORT_FIRST]++;
    }
    for (uint32_t i = 0; i < PORTS; i++) {
        if (!drill_expect(d, w->port_drops[i] == w->info[i].in_dropped,
                          "what is dropped where it comes in is dropped at its port",
                          "%" PRIu64 " at p%u, and not %" PRIu64, w->port_drops[i], i + 1,
                          w->info[i].in_dropped))
            return false;
    }
    return true;
}

/* Lets all frames arrive, and checks what they have become and what was counted. */
static void check(struct drill *d)
{
    struct wires *w = d->own;

    wires_run(w, UINT64_MAX);
    if (!drill_settle(d) || !frames_are_right(d) || !times_are_right(d) ||
        !number_is(d, "s1", "rcvd_frames", w->rcvd) || !number_is(d, "s1", "sent_frames", w->sent))
        return;
    if (!drill_expect(d, rdl_total(d->lab, EV_drop) == w->dropped,
                      "a frame is dropped if its line is down or full, or it has no way",
                      "%" PRIu64 " were, and not %" PRIu64, rdl_total(d->lab, EV_drop), w->dropped))
        return;
    if (!drops_are_right(d))
        return;
    for (uint32_t i = 0; i < PORTS; i++) {
        if (!port_is_right(d, i))
            return;
    }
    for (uint32_t i = 0; i < FAULTS; i++) {
        const struct wire_fault *t = &w->fault[i];

        if (t->exists &&
            (!number_is(d, t->name, "hits", t->hits) || !number_is(d, t->name, "seen", t->seen)))
            return;
    }
    w->n_want = w->n_have = 0;
}

/* --- Steps ------------------------------------------------------------------------------------ */

static void send_some(struct drill *d)
{
    const uint32_t n = 1 + drill_below(d, SHORT_FRAMES);

    for (uint32_t i = 0; i < n; i++) {
        const uint32_t port = drill_below(d, PORTS), to = drill_below(d, STATIONS + 1);
        const uint32_t bytes =
            drill_one_in(d, 16) ? 1 + drill_below(d, ETHERNET) : ETHERNET + drill_below(d, 200);

        if (!send(d, port, bytes, to) ||
            (drill_one_in(d, 2) && !run_for(d, drill_below(d, MOST_APART_NS))))
            return;
    }
    check(d);
}

/* Fills the queue in front of a line. */
static void send_many(struct drill *d)
{
    const uint32_t port = drill_below(d, PORTS), to = drill_below(d, STATIONS);
    const uint32_t n = 1 + drill_below(d, LONG_FRAMES);

    for (uint32_t i = 0; i < n; i++) {
        if (!send(d, port, LONG_BYTES - drill_below(d, 100), to))
            return;
    }
    check(d);
}

/* Switches bursts of losses on or off in one direction. */
static void set_bursts(struct drill *d, uint32_t i, enum way way)
{
    struct wires *w = d->own;
    struct line *l = &w->line[i];
    struct rdl_way_config c = {.latency_ns = l->latency_ns, .rate_bps = l->rate_bps};

    l->bursts[way] = !l->bursts[way];
    if (l->bursts[way]) {
        c.burst_ppm = c.burst_loss_ppm = ALWAYS_PPM;
        c.burst_frames = 1;
    } else {
        l->in_burst[way] = false;
    }
    (void)drill_works(d, rdl_link_set_way(d->lab, w->link[i], way, &c),
                      "a direction of a link can be changed");
}

static void set_line(struct drill *d)
{
    struct wires *w = d->own;
    const uint32_t i = drill_below(d, PORTS);
    struct line *l = &w->line[i];
    const struct rdl_link_config c = {.latency_ns = 1 + drill_below(d, 3000),
                                      .rate_bps = draw_rate(d)};

    if (drill_one_in(d, 3)) {
        set_bursts(d, i, drill_one_in(d, 2) ? IN : OUT);
        return;
    }
    if (drill_one_in(d, 2)) {
        l->is_up = !l->is_up;
        (void)drill_works(d, rdl_link_raise(d->lab, w->link[i], l->is_up),
                          "a link can be taken down and up");
        return;
    }
    l->latency_ns = c.latency_ns;
    l->rate_bps = c.rate_bps;
    (void)drill_works(d, rdl_link_set(d->lab, w->link[i], &c), "a link can be changed");
}

/* The oldest fault goes, if there is no place for one more. */
static bool make_place(struct drill *d)
{
    struct wires *w = d->own;
    const rdl_fault oldest = w->fault[0].handle;

    if (!w->fault[FAULTS - 1].exists)
        return true;
    memmove(&w->fault[0], &w->fault[1], (FAULTS - 1) * sizeof(w->fault[0]));
    w->fault[FAULTS - 1].exists = false;
    return drill_works(d, rdl_fault_remove(d->lab, oldest), "a fault can be removed");
}

static void add_fault(struct drill *d)
{
    static const uint32_t kinds[] = {FLT_DROP,     FLT_DELAY,   FLT_DELAY,   FLT_DUPLICATE,
                                     FLT_TRUNCATE, FLT_CORRUPT, FLT_REORDER, FLT_REORDER};
    struct wires *w = d->own;
    struct wire_fault *t = w->fault;
    struct rdl_fault_config c = {.opcode = RDL_ANY,
                                 .syndrome = RDL_ANY,
                                 .psn = RDL_ANY,
                                 .dest_qpn = RDL_ANY,
                                 .nth = 1 + drill_below(d, 3)};

    if (!make_place(d))
        return;
    while (t->exists)
        t++;
    *t = (struct wire_fault){.exists = true,
                             .kind = kinds[drill_below(d, ARRAY_LEN(kinds))],
                             .from = drill_below(d, PORTS + 1),
                             .line = drill_one_in(d, 2) ? drill_below(d, PORTS) : PORTS,
                             .nth = c.nth,
                             .left = drill_one_in(d, 3) ? UINT32_MAX : 1 + drill_below(d, 4)};
    t->delay_ns = t->kind == FLT_DELAY || t->kind == FLT_DUPLICATE ? 1 + drill_below(d, 2000) : 0;
    if (t->kind == FLT_REORDER) {
        t->delay_ns = 1 + drill_below(d, 20000);
        t->hold_frames = 1 + drill_below(d, 3);
        t->left = 1 + drill_below(d, 4);
    }
    t->bit = drill_below(d, 2400);
    t->to_bytes = t->kind == FLT_TRUNCATE ? 1 + drill_below(d, 214) : 0;
    if (t->line < PORTS)
        t->from = PORTS;
    snprintf(t->name, sizeof(t->name), "f%u", ++w->n_faults_made);
    c.name = t->name;
    c.kind = t->kind;
    c.count = t->left;
    c.delay_ns = t->delay_ns;
    c.hold_frames = t->hold_frames;
    c.corrupt_bit = t->kind == FLT_CORRUPT ? t->bit : 0;
    c.to_bytes = t->to_bytes;
    if (t->from < PORTS)
        c.from_port = w->port[t->from];
    if (t->line < PORTS)
        c.link = w->link[t->line];
    (void)drill_works(d, rdl_fault_add(d->lab, &c, &t->handle), "a fault can be added");
}

static bool add_port(struct drill *d, uint32_t i)
{
    struct wires *w = d->own;
    struct line *l = &w->line[i];
    const struct rdl_port_config port = {.name = ports[i].name};
    const struct rdl_link_config link = {.a = ports[i].name,
                                         .b = "s1",
                                         .latency_ns = 1 + drill_below(d, 3000),
                                         .rate_bps = draw_rate(d)};

    w->reader[i] = (struct reader){w, i};
    *l = (struct line){.latency_ns = link.latency_ns, .rate_bps = link.rate_bps, .is_up = true};
    return drill_works(d, rdl_port_add(d->lab, &port, &w->port[i]), "a port can be added") &&
           drill_works(d, rdl_port_read(d->lab, w->port[i], on_leave, &w->reader[i]),
                       "a port can be read") &&
           drill_works(d, rdl_link_add(d->lab, &link, &w->link[i]), "a link can be added");
}

static void set_up(struct drill *d)
{
    rdl_switch s;

    if (!drill_works(d, rdl_switch_add(d->lab, "s1", &s), "a switch can be added"))
        return;
    for (uint32_t i = 0; i < PORTS; i++) {
        if (!add_port(d, i))
            return;
    }
}

static void take(struct drill *d)
{
    static void (*const steps[])(struct drill *) = {send_some, send_some, send_some, send_some,
                                                    set_line,  add_fault, add_fault};

    d->n_unsaid++;
    if (drill_one_in(d, 24))
        send_many(d);
    else
        steps[drill_below(d, ARRAY_LEN(steps))](d);
}

const struct drill_kind drill_of_wires = {.name = "wires",
                                          .bytes = sizeof(struct wires),
                                          .steps = STEPS,
                                          .set_up = set_up,
                                          .take = take,
                                          .extensions = RDMA_EXTENSIONS};
