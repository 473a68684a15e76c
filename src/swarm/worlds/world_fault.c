/* SPDX-License-Identifier: MIT */
#include "swarm/worlds/world_fault.h"

#include <inttypes.h>

#include "emu/base/text.h"
#include "emu/facts/enum/fault.h"
#include "emu/trace/event.h"
#include "rdmalab/inspect.h"

#define RATE_STANDARD UINT64_C(100000000000)
#define PPM           1000000u
#define LINE_BYTES    256u

/* --- Links ------------------------------------------------------------------------------------ */

void world_link_name(const struct world *w, unsigned host, char out[RDL_NAME_BYTES])
{
    const unsigned plug = world_plug(w, host);

    if (w->n_switches == 0)
        snprintf(out, RDL_NAME_BYTES, "h1-h2");
    else
        snprintf(out, RDL_NAME_BYTES, "h%u-s%u", plug + 1, w->host[plug].at_switch + 1);
}

/* Returns true if the link has jitter or loss bursts. */
static bool has_ways(const struct world_host *like)
{
    return like->jitter_ns || like->burst_ppm;
}

static void add_chance(struct text *t, const char *key, uint32_t ppm)
{
    text_addf(t, " %s=%u.%04u%%", key, ppm / (PPM / 100), ppm % (PPM / 100));
}

/* Adds the parameters of the commands `link` and `set link`. */
static void add_ways(struct text *t, const struct world_host *like, bool has_bursts)
{
    text_addf(t, " latency=%uns rate=%" PRIu64 "bps", like->latency_ns,
              like->rate_bps ? like->rate_bps : RATE_STANDARD);
    add_chance(t, "loss", like->loss_ppm);
    if (like->jitter_ns)
        text_addf(t, " jitter=%uns", like->jitter_ns);
    if (like->burst_ppm)
        add_chance(t, "burst", has_bursts ? like->burst_ppm : 0);
    if (like->burst_ppm && has_bursts) {
        text_addf(t, " burst_frames=%u", like->burst_frames);
        add_chance(t, "burst_loss", like->burst_loss_ppm);
    }
}

/* Sets both directions. */
static void set_ways(struct world_run *r, const struct world_host *like, rdl_link link,
                     bool has_bursts)
{
    const bool bursts = has_bursts && like->burst_ppm;
    const struct rdl_way_config way = {
        .latency_ns = like->latency_ns,
        .rate_bps = like->rate_bps ? like->rate_bps : RATE_STANDARD,
        .jitter_ns = like->jitter_ns,
        .loss_ppm = like->loss_ppm,
        .burst_ppm = bursts ? like->burst_ppm : 0,
        .burst_frames = bursts ? like->burst_frames : 0,
        .burst_loss_ppm = bursts ? like->burst_loss_ppm : 0,
    };

    for (uint32_t end = 0; end < 2; end++)
        world_works(r, rdl_link_set_way(r->lab, link, end, &way), "a link can be changed");
    r->is_faulty = r->is_faulty || bursts;
}

void world_add_link(struct world_run *r, const struct world_host *like, const char *a,
                    const char *b, rdl_link *ret)
{
    const struct rdl_link_config c = {.a = a,
                                      .b = b,
                                      .latency_ns = like->latency_ns,
                                      .rate_bps = like->rate_bps,
                                      .loss_ppm = like->loss_ppm};
    char line[LINE_BYTES];
    struct text t = text_on(line, sizeof(line));

    add_ways(&t, like, true);
    world_say(r, "link %s %s%s", a, b, line);
    r->is_faulty = r->is_faulty || like->loss_ppm > 0;
    if (world_works(r, rdl_link_add(r->lab, &c, ret), "a link can be added") && has_ways(like))
        set_ways(r, like, *ret, true);
}

void world_set_link(struct world_run *r, const struct world_host *like, rdl_link link,
                    const char *name, bool has_bursts)
{
    const struct rdl_link_config c = {
        .latency_ns = like->latency_ns, .rate_bps = like->rate_bps, .loss_ppm = like->loss_ppm};
    char line[LINE_BYTES];
    struct text t = text_on(line, sizeof(line));

    add_ways(&t, like, has_bursts);
    world_say(r, "set link %s%s", name, line);
    if (has_ways(like))
        set_ways(r, like, link, has_bursts);
    else
        world_works(r, rdl_link_set(r->lab, link, &c), "a link can be changed");
}

/* --- Faults ----------------------------------------------------------------------------------- */

/* The filter `where bytes > 100` of a script line. */
static bool is_long(void *ctx, const struct ev *sent, const uint8_t *frame, size_t bytes)
{
    (void)frame;
    (void)bytes;
    (void)ctx;
    return sent->u.tx.bytes > WORLD_LONG;
}

/* Selects the frames that the fault affects. */
static void aim(struct world_run *r, const struct world_fault *f, struct rdl_fault_config *c,
                struct text *t)
{
    char name[RDL_NAME_BYTES];

    text_addf(t, " from=h%u nth=%u count=%u", f->from + 1u, f->nth, f->count);
    if (f->opcode != RDL_ANY)
        text_addf(t, " opcode=%s", enum_name(&enum_opcode, f->opcode));
    c->transmission = f->transmission;
    if (f->transmission)
        text_addf(t, " transmission=%u", f->transmission);
    c->message = f->message;
    if (f->message) {
        c->qp = r->end[f->end].qp;
        text_addf(t, " qp=h%u.q%u message=%u", r->w->end[f->end].host + 1u, f->end, f->message);
    }
    if (f->is_on_link) {
        c->link = r->host[f->from].link;
        world_link_name(r->w, f->from, name);
        text_addf(t, " link=%s", name);
    }
}

/* Sets what the fault does. */
static void act(const struct world_fault *f, struct rdl_fault_config *c, struct text *t)
{
    switch ((enum fault_kind)f->kind) {
    case FLT_DUPLICATE:
    case FLT_DELAY:
        c->delay_ns = f->delay_ns;
        text_addf(t, " by=%uns", f->delay_ns);
        break;
    case FLT_REORDER:
        c->hold_frames = f->behind;
        c->delay_ns = f->delay_ns + 1;
        text_addf(t, " behind=%u within=%uns", f->behind, f->delay_ns + 1);
        break;
    case FLT_CORRUPT:
        c->field = f->field;
        c->corrupt_bit = f->field ? RDL_ANY : f->bit;
        if (f->field)
            text_addf(t, " field=%s", enum_name(&enum_wire_field, f->field));
        else
            text_addf(t, " bit=%u", f->bit);
        break;
    case FLT_TRUNCATE:
        c->to_bytes = f->bytes;
        text_addf(t, " bytes=%u", f->bytes);
        break;
    case FLT_FORGE:
        c->field = f->field;
        c->value = f->value;
        text_addf(t, " field=%s value=%u", enum_name(&enum_wire_field, f->field), f->value);
        break;
    default:
        break;
    }
}

/* Writes the path of the queue that the device fault affects.  Returns false if the end has no such
 * queue of its own.
 */
static bool queue_of_fault(const struct world_run *r, const struct world_device_fault *f,
                           char out[RDL_VALUE_BYTES])
{
    const struct world_end *e = &r->w->end[f->end];

    if (e->is_absent || (f->of_receives && e->has_srq) ||
        (f->kind == FLT_LOST_INTERRUPT && e->is_small))
        return false;
    if (f->kind == FLT_LOST_INTERRUPT)
        snprintf(out, RDL_VALUE_BYTES, "h%u.c%u", e->host + 1u, e->send_cq);
    else
        snprintf(out, RDL_VALUE_BYTES, "h%u.q%u.%s", e->host + 1u, f->end,
                 f->of_receives ? "rq" : "sq");
    return true;
}

static void say_device_fault(struct world_run *r, const struct world_device_fault *f,
                             const char *queue, const char *name)
{
    if (f->kind == FLT_STUCK_QUEUE && f->time_ns)
        world_say(r, "stall for=%uns queue=%s nth=%u count=%u optional as %s", f->time_ns, queue,
                  f->nth, f->count, name);
    else if (f->kind == FLT_STUCK_QUEUE)
        world_say(r, "stall queue=%s nth=%u count=%u optional as %s", queue, f->nth, f->count,
                  name);
    else
        world_say(r, "lose what=%s queue=%s nth=%u count=%u optional as %s",
                  f->kind == FLT_LOST_KICK ? "kick" : "interrupt", queue, f->nth, f->count, name);
}

/* Adds device fault @i, if there is one and its queue exists. */
static void add_device_fault(struct world_run *r, uint16_t i)
{
    const struct world_device_fault *f = &r->w->fault[i].device;
    const struct world_end *e = &r->w->end[f->end];
    char path[2 * RDL_VALUE_BYTES], queue[RDL_VALUE_BYTES], name[RDL_NAME_BYTES];
    struct rdl_device_fault_config c = {.name = name,
                                        .kind = f->kind,
                                        .host = r->host[e->host].host,
                                        .nth = f->nth,
                                        .count = f->count,
                                        .time_ns = f->time_ns,
                                        .id = RDL_ANY};
    struct rdl_value v;
    size_t at;

    if (f->kind == FLT_NONE || !queue_of_fault(r, f, queue))
        return;
    snprintf(name, sizeof(name), "d%u", i);
    snprintf(path, sizeof(path), "%s%s.number", queue,
             f->kind == FLT_LOST_INTERRUPT ? ".queue" : "");
    if (rdl_inspect(r->lab, path, &v, &at) != RDL_OK)
        return;
    c.queue = (uint32_t)v.number;
    say_device_fault(r, f, queue, name);
    if (f->kind == FLT_LOST_INTERRUPT)
        r->host[e->host].cq[e->send_cq].may_lose += f->count;
    world_works(r, rdl_device_fault_add(r->lab, &c, &r->device_fault[i]),
                "a fault of a device can be added");
}

/* The command that makes a fault of @kind has its name, in lower case. */
static void command_of(uint32_t kind, char out[RDL_NAME_BYTES])
{
    snprintf(out, RDL_NAME_BYTES, "%s", enum_name(&enum_fault, kind));
    for (; *out; out++) {
        if (*out >= 'A' && *out <= 'Z')
            *out = (char)(*out - 'A' + 'a');
    }
}

void world_add_fault(struct world_run *r, uint16_t i)
{
    const struct world_fault *f = &r->w->fault[i];
    struct rdl_fault_config c = {.kind = f->kind,
                                 .from = r->host[f->from].host,
                                 .opcode = f->opcode,
                                 .syndrome = RDL_ANY,
                                 .psn = RDL_ANY,
                                 .dest_qpn = RDL_ANY,
                                 .nth = f->nth,
                                 .count = f->count};
    char name[RDL_NAME_BYTES], line[LINE_BYTES], command[RDL_NAME_BYTES];
    struct text t = text_on(line, sizeof(line));

    if (r->fault[i].raw)
        return;
    command_of(f->kind, command);
    snprintf(name, sizeof(name), "f%u", i);
    c.name = name;
    aim(r, f, &c, &t);
    act(f, &c, &t);
    if (f->is_long) {
        c.where = is_long;
        text_addf(&t, " where bytes > %u", WORLD_LONG);
    }
    world_say(r, "%s%s optional as f%u", command, line, i);
    world_works(r, rdl_fault_add(r->lab, &c, &r->fault[i]), "a fault can be added");
    r->is_faulty = true;
    r->is_copying =
        r->is_copying || f->kind == FLT_DUPLICATE || f->kind == FLT_DELAY || f->kind == FLT_REORDER;
    add_device_fault(r, i);
}
