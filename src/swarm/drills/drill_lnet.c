/* SPDX-License-Identifier: MIT */
/* The drill of LNet: two to four nodes with drawn tunables, which send each other PUTs and GETs of
 * any length and shape, several at a time, in all directions.
 *
 * In a calm lab, and in one that loses some frames, nothing may fail but what the rules say.  In a
 * rough one nodes stop and start, links go down and devices lose interrupts: messages may fail
 * then, but each ends once, its sender learns an errno, and no byte changes but those of messages.
 */
#include "swarm/drills/drill_lnet.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/facts/enum/access.h"
#include "emu/facts/enum/device_type.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/lnet_map.h"
#include "emu/facts/virtio/feature.h"
#include "emu/trace/event.h"
#include "emu/trace/set.h"
#include "process/must.h"
#include "rdmalab/cm.h"
#include "rdmalab/fault.h"
#include "rdmalab/inspect.h"
#include "rdmalab/trace.h"
#include "rdmalab/verbs.h"
#include "swarm/drills/kinds.h"

#define STEPS      60u
#define KB         1024u
#define DOWN_TRIES 50u
#define RAM_BYTES  (UINT64_C(256) << 20) /* for the queues of all connections */

/* --- Setting up ------------------------------------------------------------------------------- */

static const char *host_name(unsigned host)
{
    static const char *const names[LN_HOSTS] = {"h1", "h2", "h3", "h4"};

    return names[host];
}

static bool add_host(struct drill *d, unsigned i)
{
    struct ln_host *h = &lnets_of(d)->host[i];
    struct rdl_host_config c = {.name = host_name(i), .device = h->device, .ram_bytes = RAM_BYTES};
    char words[EXTEND_WORDS_BYTES];
    const char *extensions = drill_extend(d, i, &c, words);

    c.ipv4[10] = c.ipv4[11] = 0xff;
    st_be32(c.ipv4 + 12, h->ip);
    drill_say(d, "host %s ip=10.0.%u.%u ram=256m%s%s", c.name, h->ip >> 8 & 255, h->ip & 255,
              c.device == DEVICE_pvrdma ? " device=pvrdma" : "", extensions);
    return drill_works(d, rdl_host_add(d->lab, &c, &h->host), "a host can be added");
}

static bool add_link(struct drill *d, const char *a, const char *b, uint64_t latency_ns)
{
    struct lnets *s = lnets_of(d);
    const struct rdl_link_config c = {.a = a, .b = b, .latency_ns = latency_ns};

    drill_say(d, "link %s %s latency=%" PRIu64 "ns", a, b, latency_ns);
    return drill_works(d, rdl_link_add(d->lab, &c, &s->link[s->n_links++]), "a link can be added");
}

static bool add_network(struct drill *d)
{
    static const uint64_t latencies_ns[] = {100, 1000, 1000, 5000, 50000};
    struct lnets *s = lnets_of(d);
    const uint64_t latency_ns = latencies_ns[drill_below(d, ARRAY_LEN(latencies_ns))];
    rdl_switch sw;

    for (unsigned i = 0; i < s->n_hosts; i++) {
        if (!add_host(d, i))
            return false;
    }
    if (s->n_hosts == 2)
        return add_link(d, host_name(0), host_name(1), latency_ns);
    drill_say(d, "switch s1");
    if (!drill_works(d, rdl_switch_add(d->lab, "s1", &sw), "a switch can be added"))
        return false;
    for (unsigned i = 0; i < s->n_hosts; i++) {
        if (!add_link(d, host_name(i), "s1", latency_ns))
            return false;
    }
    return true;
}

/* A program of the host has the memory, and fills it. */
static bool add_chunk(struct drill *d, unsigned i, uint32_t chunk, rdl_pd pd)
{
    struct lnets *s = lnets_of(d);
    struct ln_host *h = &s->host[i];
    const uint32_t source = s->source_bytes[chunk], sink = s->sink_bytes[chunk];
    char name[8];
    rdl_mr mr;

    snprintf(name, sizeof(name), "m%u", chunk);
    drill_say(d, "reg_mr h%u.pd len=%u access=lw as %s", i + 1, source + sink, name);
    drill_say(d, "write h%u.%s[0:%u] pattern=%u", i + 1, name, source + sink,
              i * LN_CHUNKS + chunk);
    if (!drill_works(d, rdl_mem_alloc(d->lab, h->host, source + sink, &h->base[chunk]),
                     "memory can be had") ||
        !drill_is_done(
            d, h->host,
            rdl_reg_mr(d->lab, pd, h->base[chunk], source + sink, ACC_LOCAL_WRITE, name, &mr),
            "memory can be registered"))
        return false;
    h->sink[chunk] = must_malloc(sink);
    h->owner[chunk] = must_malloc(sink);
    memset(h->owner[chunk], 0, sink);
    for (uint32_t k = 0; k < source; k++)
        s->have[k] = ln_byte(i, chunk, k);
    for (uint32_t k = 0; k < sink; k++)
        h->sink[chunk][k] = (uint8_t)~ln_byte(i, chunk, source + k);
    return drill_works(d, rdl_mem_write(d->lab, h->host, h->base[chunk], s->have, source),
                       "memory can be written") &&
           drill_works(
               d, rdl_mem_write(d->lab, h->host, h->base[chunk] + source, h->sink[chunk], sink),
               "memory can be written");
}

static bool add_memory(struct drill *d, unsigned i)
{
    rdl_pd pd;

    drill_say(d, "alloc_pd h%u as pd", i + 1);
    return drill_is_done(d, lnets_of(d)->host[i].host,
                         rdl_alloc_pd(d->lab, lnets_of(d)->host[i].host, "pd", &pd),
                         "a domain can be had") &&
           add_chunk(d, i, 0, pd) && add_chunk(d, i, 1, pd);
}

/* Draws the tunables of one node. */
static struct rdl_lnet_config draw_config(struct drill *d)
{
    static const uint32_t frag_bytes[] = {0, 0, 0, 512, 1024, 4096, 65536};
    static const uint32_t max_frags[] = {256, 64, 32, 32, 16, 16, 8, 3};
    static const uint64_t rough_ns[] = {2 * LN_MS, 20 * LN_MS, 1000 * LN_MS, 50000 * LN_MS};
    struct rdl_lnet_config c = rdl_lnet_defaults(false);
    const bool is_rough = lnets_of(d)->mood == LN_ROUGH;

    if (drill_one_in(d, 3))
        c.version = LN_VERSION_1;
    c.rules_2007 = drill_one_in(d, 8);
    c.race_by_hash = drill_one_in(d, 4);
    c.big_endian = drill_one_in(d, 3);
    c.cksum = drill_one_in(d, 3);
    c.map = drill_below(d, 3);
    c.frag_bytes = frag_bytes[drill_below(d, ARRAY_LEN(frag_bytes))];
    c.max_frags = max_frags[drill_below(d, ARRAY_LEN(max_frags))];
    c.peer_credits = 3 + drill_below(d, 14);
    c.peer_credits_hiw = drill_below(d, c.peer_credits + 2);
    c.credits = drill_one_in(d, 2) ? 256 : 1 + drill_below(d, 20);
    c.ntx = is_rough && drill_one_in(d, 3) ? 4 + drill_below(d, 40) : 192;
    c.concurrent_sends = drill_one_in(d, 2) ? 0 : 1 + drill_below(d, 2 * c.peer_credits);
    if (is_rough)
        c.timeout_ns = rough_ns[drill_below(d, ARRAY_LEN(rough_ns))];
    return c;
}

/* Draws the nodes.  In two labs of three they agree in what has to be negotiated. */
static void draw_nodes(struct drill *d)
{
    struct lnets *s = lnets_of(d);
    const bool agree = !drill_one_in(d, 3);
    const uint32_t net = drill_one_in(d, 4) ? drill_below(d, 70) : 0;

    for (unsigned i = 0; i < s->n_hosts; i++) {
        struct ln_host *h = &s->host[i];
        const uint32_t third = drill_below(d, 3);

        h->device = drill_one_in(d, 4) ? DEVICE_pvrdma : DEVICE_virtio;
        if (d->devices)
            h->device = drill_device(d, i);
        h->ip = 10u << 24 | third << 8 | (10 + LN_HOSTS - i);
        h->shared = LN_NONE;
        h->config = draw_config(d);
        h->config.net = net;
        if (agree && i > 0) {
            h->config.version = s->host[0].config.version;
            h->config.max_frags = s->host[0].config.max_frags;
            h->config.peer_credits = s->host[0].config.peer_credits;
        }
        h->config.rules_2007 &= h->config.version == LN_VERSION_1;
    }
}

static bool start(struct drill *d, unsigned i)
{
    static const char *const maps[] = {"growing", "demand"};
    struct ln_host *h = &lnets_of(d)->host[i];
    const struct rdl_lnet_config *c = &h->config;
    char more[96] = "";

    if (c->peer_credits_hiw)
        snprintf(more, sizeof(more), " peer_credits_hiw=%u", c->peer_credits_hiw);
    if (c->concurrent_sends)
        snprintf(more + strlen(more), sizeof(more) - strlen(more), " concurrent_sends=%u",
                 c->concurrent_sends);
    if (c->frag_bytes)
        snprintf(more + strlen(more), sizeof(more) - strlen(more), " frag=%u", c->frag_bytes);
    drill_say(
        d,
        "lnet_start h%u version=%u%s%s%s%s %s%s max_frags=%u net=%u peer_credits=%u credits=%u"
        " ntx=%u timeout=%" PRIu64 "ns%s",
        i + 1, c->version, c->rules_2007 ? " rules=2007" : "", c->race_by_hash ? " race=hash" : "",
        c->big_endian ? " endian=big" : "", c->cksum ? " cksum" : "",
        c->map == LNET_MAP_dma ? "profile=kernel" : "map=",
        c->map == LNET_MAP_dma ? "" : maps[c->map], c->max_frags, c->net, c->peer_credits,
        c->credits, c->ntx, c->timeout_ns, more);
    h->n_heard = 0;
    h->is_up = true;
    return drill_works(d, rdl_lnet_start(d->lab, h->host, c), "a node can be started");
}

static bool listen(struct drill *d)
{
    static const uint32_t kinds[] = {EV_lnet_sent,  EV_lnet_received, EV_lnet_state, EV_lnet_region,
                                     EV_lnet_event, EV_lnet_reject,   EV_rx,         EV_cqe};
    struct ev_set heard = ev_set_none;
    struct lnets *s = lnets_of(d);

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        ev_set_add(&heard, kinds[i]);
    if (!drill_works(d, rdl_listen(d->lab, ln_hear, d, &s->listener), "the lab can be listened to"))
        return false;
    rdl_hear(d->lab, s->listener, &heard);
    return true;
}

static bool settle(struct drill *d)
{
    drill_say(d, "run");
    if (!drill_settle(d))
        return false;
    ln_drain(d);
    return !d->wrong && ln_check_tree(d, true) && ln_check_ends(d) && ln_check_sinks(d);
}

static void set_up(struct drill *d)
{
    static const enum ln_mood moods[] = {LN_CALM,  LN_CALM,  LN_CALM, LN_LOSSY,
                                         LN_LOSSY, LN_ROUGH, LN_ROUGH};
    struct lnets *s = lnets_of(d);
    const uint32_t n = drill_below(d, 8);

    s->mood = moods[drill_below(d, ARRAY_LEN(moods))];
    s->is_large = drill_one_in(d, 12);
    s->n_hosts = n < 4 ? 2 : n < 6 ? 3 : 4;
    s->source_bytes[0] = (s->is_large ? 1100 : 96) * KB;
    s->sink_bytes[0] = (s->is_large ? 1300 : 96) * KB;
    s->source_bytes[1] = s->sink_bytes[1] = 16 * KB;
    s->have = must_malloc(2 * LN_MTU);
    s->want = must_malloc(LN_MTU);
    draw_nodes(d);
    if (!add_network(d) || !listen(d))
        return;
    for (unsigned i = 0; i < s->n_hosts; i++) {
        if (!add_memory(d, i) || !start(d, i))
            return;
    }
    (void)settle(d);
}

/* --- Trouble ---------------------------------------------------------------------------------- */

static bool clear_fault(struct drill *d)
{
    struct lnets *s = lnets_of(d);

    if (!s->has_fault)
        return true;
    s->has_fault = false;
    drill_say(d, "clear trouble");
    return drill_works(d, rdl_fault_remove(d->lab, s->fault), "a fault can be removed");
}

/* A few frames do not arrive as they were sent.  Both sides bear that. */
static void do_disturb(struct drill *d)
{
    static const uint32_t kinds[] = {FLT_DROP,  FLT_DROP,    FLT_DUPLICATE,
                                     FLT_DELAY, FLT_CORRUPT, FLT_REORDER};
    static const char *const words[] = {[FLT_DROP] = "drop",
                                        [FLT_DUPLICATE] = "duplicate",
                                        [FLT_DELAY] = "delay",
                                        [FLT_CORRUPT] = "corrupt",
                                        [FLT_REORDER] = "reorder"};
    struct lnets *s = lnets_of(d);
    const unsigned from = drill_below(d, s->n_hosts);
    struct rdl_fault_config c = {.name = "trouble",
                                 .kind = kinds[drill_below(d, ARRAY_LEN(kinds))],
                                 .from = s->host[from].host,
                                 .nth = 1 + drill_below(d, 20),
                                 .opcode = RDL_ANY,
                                 .syndrome = RDL_ANY,
                                 .psn = RDL_ANY,
                                 .dest_qpn = RDL_ANY,
                                 .corrupt_bit = RDL_ANY,
                                 .hold_frames = 1};
    const bool has_time = c.kind == FLT_DUPLICATE || c.kind == FLT_DELAY || c.kind == FLT_REORDER;
    char time[32] = "";

    c.count = 1 + drill_below(d, 3);
    c.delay_ns = has_time ? 500 + drill_below(d, 40000) : 0;
    if (!clear_fault(d))
        return;
    if (has_time && c.kind != FLT_REORDER)
        snprintf(time, sizeof(time), " by=%" PRIu64 "ns", c.delay_ns);
    d->n_unsaid += c.kind == FLT_REORDER;
    drill_say(d, "%s from=h%u nth=%u count=%u%s optional as trouble", words[c.kind], from + 1,
              c.nth, c.count, time);
    s->has_fault = drill_works(d, rdl_fault_add(d->lab, &c, &s->fault), "a fault can be added");
}

/* The device of a host takes nothing out of a queue for a time, so that deadlines pass. */
static void do_stall(struct drill *d)
{
    static const uint64_t spans_ns[] = {LN_MS, 30 * LN_MS, 200 * LN_MS, 3000 * LN_MS};
    struct lnets *s = lnets_of(d);
    const unsigned host = drill_below(d, s->n_hosts);
    const struct rdl_device_fault_config c = {
        .name = "trouble",
        .kind = FLT_STUCK_QUEUE,
        .host = s->host[host].host,
        .queue = RDL_ANY,
        .nth = 1 + drill_below(d, 30),
        .count = 1,
        .time_ns = spans_ns[drill_below(d, ARRAY_LEN(spans_ns))],
    };

    if (s->host[host].device != DEVICE_virtio || !clear_fault(d))
        return;
    s->was_stuck = true;
    d->n_unsaid++;
    s->has_fault =
        drill_works(d, rdl_device_fault_add(d->lab, &c, &s->fault), "a fault can be added");
}

/* The device of a host does not notice something, once. */
static void do_device_fault(struct drill *d)
{
    static const uint32_t kinds[] = {FLT_LOST_KICK, FLT_LOST_INTERRUPT};
    struct lnets *s = lnets_of(d);
    const unsigned host = drill_below(d, s->n_hosts);
    struct rdl_device_fault_config c = {.name = "trouble",
                                        .kind = kinds[drill_below(d, ARRAY_LEN(kinds))],
                                        .host = s->host[host].host,
                                        .queue = RDL_ANY,
                                        .nth = 1 + drill_below(d, 10),
                                        .count = 1};

    if (!clear_fault(d))
        return;
    s->is_hampered = true;
    drill_say(d, "lose the next %s of h%u as trouble",
              c.kind == FLT_LOST_KICK ? "kick" : "interrupt", host + 1);
    d->n_unsaid++;
    s->has_fault =
        drill_works(d, rdl_device_fault_add(d->lab, &c, &s->fault), "a fault can be added");
}

/* Forgets the memory and the descriptors of a node that has gone. */
static void forget_all(struct lnets *s, unsigned host)
{
    for (uint32_t i = 0; i < s->n_mds; i++) {
        if (s->mds[i].is_live && s->mds[i].host == host)
            ln_forget(s, i);
    }
    for (uint32_t i = 0; i < LN_GRANTS; i++) {
        if (s->grants[i].host == host)
            s->grants[i].is_valid = false;
    }
}

static bool stop(struct drill *d, unsigned i)
{
    struct ln_host *h = &lnets_of(d)->host[i];

    if (!h->is_up)
        return true;
    h->is_up = false;
    drill_say(d, "lnet_stop h%u", i + 1);
    return drill_works(d, rdl_lnet_stop(d->lab, h->host), "a node can be stopped");
}

/* Counts the objects of nodes. */
static void count_object(void *ctx, const char *key, const struct rdl_value *v)
{
    unsigned *n = ctx;

    (void)v;
    *n += strncmp(key, "lnet", 4) == 0;
}

/* A node that was stopped is not there any more when the lab has come to rest. */
static bool check_down(struct drill *d, unsigned i)
{
    struct lnets *s = lnets_of(d);
    const struct ln_host *h = &s->host[i];
    struct rdl_cm_counts n = {0};
    unsigned objects = 0;
    size_t at;

    if (s->is_hampered)
        return true;
    if (!drill_works(d, rdl_inspect_list(d->lab, host_name(i), count_object, &objects, &at),
                     "a host can be inspected") ||
        !drill_expect(d, objects == 0, "a node that was stopped ends, with all of its objects",
                      "h%u: %u", i + 1, objects) ||
        !drill_expect(d, h->n_regions == 0 && h->pinned == 0,
                      "a node frees its regions before it goes", "h%u: %u", i + 1, h->n_regions) ||
        !drill_works(d, rdl_cm_counts(d->lab, h->host, &n), "a host counts its IDs"))
        return false;
    forget_all(s, i);
    return drill_expect(d, n.ids == 0, "a node destroys its IDs before it goes", "h%u: %u", i + 1,
                        n.ids);
}

/* Lets the lab go on until the node of @i, which was stopped, is down. */
static bool go_down(struct drill *d, unsigned i)
{
    char path[32];
    struct rdl_value v;
    size_t at;

    snprintf(path, sizeof(path), "h%u.lnet", i + 1);
    for (unsigned n = 0; n < DOWN_TRIES; n++) {
        if (rdl_inspect(d->lab, path, &v, &at) != RDL_OK)
            return ln_check_host(d, i);
        drill_say(d, "run 20us");
        if (!drill_run_for(d, 20000))
            return false;
        ln_drain(d);
    }
    return !d->wrong && settle(d);
}

/* A node stops in the middle of all, and starts again, with other tunables. */
static void do_restart(struct drill *d)
{
    struct lnets *s = lnets_of(d);
    const unsigned i = drill_below(d, s->n_hosts);
    const bool at_once = drill_one_in(d, 2);
    struct rdl_lnet_config c = draw_config(d);

    if (s->is_hampered)
        return;
    if (s->host[i].is_up) {
        if (!stop(d, i) || at_once)
            return;
    }
    if (!go_down(d, i) || !check_down(d, i))
        return;
    /* Peers remember what was negotiated with the node that was there before. */
    c.net = s->host[i].config.net;
    c.version = s->host[i].config.version;
    c.max_frags = s->host[i].config.max_frags;
    c.peer_credits = s->host[i].config.peer_credits;
    c.rules_2007 &= c.version == LN_VERSION_1;
    s->host[i].config = c;
    (void)start(d, i);
}

static bool raise_link(struct drill *d, unsigned i, bool up)
{
    const struct lnets *s = lnets_of(d);

    drill_say(d, "set link %s-%s %s", host_name(s->n_hosts == 2 ? 0 : i),
              s->n_hosts == 2 ? host_name(1) : "s1", up ? "up" : "down");
    return drill_works(d, rdl_link_raise(d->lab, s->link[i], up), "a link can be raised");
}

static void do_unplug(struct drill *d)
{
    static const uint64_t spans_ns[] = {10000, 2 * LN_MS, 500 * LN_MS, 20000 * LN_MS};
    const struct lnets *s = lnets_of(d);
    const unsigned i = drill_below(d, s->n_links);
    const uint64_t ns = spans_ns[drill_below(d, ARRAY_LEN(spans_ns))];

    if (!raise_link(d, i, false))
        return;
    drill_say(d, "run %" PRIu64 "ns", ns);
    if (drill_run_for(d, ns))
        raise_link(d, i, true);
}

/* --- Steps ------------------------------------------------------------------------------------ */

static void do_settle(struct drill *d)
{
    (void)settle(d);
}

static void do_pass_time(struct drill *d)
{
    static const uint64_t spans_ns[] = {500, 2000, 5000, 10000, 10000, 30000, 100000, 1000000};
    const uint64_t ns = spans_ns[drill_below(d, ARRAY_LEN(spans_ns))];

    drill_say(d, "run %" PRIu64 "ns", ns);
    if (!drill_run_for(d, ns))
        return;
    ln_drain(d);
    if (!d->wrong)
        (void)ln_check_tree(d, false);
}

static void do_trouble(struct drill *d)
{
    const struct lnets *s = lnets_of(d);

    if (s->mood == LN_LOSSY)
        do_disturb(d);
    if (s->mood != LN_ROUGH)
        return;
    switch (drill_below(d, 8)) {
    case 0:
        if (drill_one_in(d, 4))
            do_device_fault(d);
        else
            do_stall(d);
        break;
    case 1:
    case 2:
        do_unplug(d);
        break;
    case 3:
    case 4:
        do_disturb(d);
        break;
    default:
        do_restart(d);
        break;
    }
}

static void take(struct drill *d)
{
    static void (*const steps[])(struct drill * d) = {
        ln_do_burst, ln_do_burst, ln_do_burst,  ln_do_burst,  ln_do_burst,  ln_do_burst,
        ln_do_burst, ln_do_burst, ln_do_attach, do_pass_time, do_pass_time, do_pass_time,
        do_settle,   do_settle,   do_trouble,   do_trouble,   ln_do_unlink, ln_do_wrong};

    ln_drain(d);
    if (!d->wrong)
        steps[drill_below(d, ARRAY_LEN(steps))](d);
}

/* All nodes end. */
static bool stop_all(struct drill *d)
{
    struct lnets *s = lnets_of(d);

    s->is_ending = true;
    for (unsigned i = 0; i < s->n_hosts; i++) {
        if (!stop(d, i))
            return false;
    }
    if (!settle(d))
        return false;
    for (unsigned i = 0; i < s->n_hosts; i++) {
        if (!check_down(d, i))
            return false;
    }
    s->is_ending = false;
    return true;
}

static void finish(struct drill *d)
{
    if (clear_fault(d) && settle(d))
        (void)stop_all(d);
}

static void close_lab(struct drill *d)
{
    struct lnets *s = lnets_of(d);

    if (d->lab)
        rdl_unlisten(d->lab, s->listener);
}

static void done(struct drill *d)
{
    struct lnets *s = lnets_of(d);

    for (unsigned i = 0; i < LN_HOSTS; i++) {
        for (uint32_t c = 0; c < LN_CHUNKS; c++) {
            free(s->host[i].sink[c]);
            free(s->host[i].owner[c]);
        }
    }
    for (uint32_t i = 0; i < s->n_mds; i++)
        free(s->mds[i].pieces);
    free(s->have);
    free(s->want);
}

const struct drill_kind drill_of_lnet = {.name = "lnet",
                                         .bytes = sizeof(struct lnets),
                                         .steps = STEPS,
                                         .set_up = set_up,
                                         .take = take,
                                         .finish = finish,
                                         .close = close_lab,
                                         .done = done,
                                         .any_device = true,
                                         .extensions = RDMA_EXTENSIONS};
