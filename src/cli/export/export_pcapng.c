/* SPDX-License-Identifier: MIT */
/* Writes frames as a capture file.
 *
 * A frame appears where a capture on real machines would see it: outbound on its sender's
 * interface, and inbound on its receiver's.  It is damaged if it arrived damaged.  An external port
 * is an interface like a host: frames that enter the lab there are outbound.  A frame that a link
 * lost was received by nobody.  It appears at the time of its loss on a separate interface,
 * wire.lost.
 */
#include <stdlib.h>

#include "cli/export/export.h"
#include "emu/base/quantity.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/opcode.h"
#include "emu/past/past_index.h"
#include "emu/trace/event.h"
#include "emu/wire/pcapng.h"

#define COMMENTS_MAX  8u
#define COMMENT_BYTES 384u

struct pcapng_export {
    const struct past *p;
    struct pcapng w;
    struct past_index *index; /* owned */
    uint32_t n_hosts, n_ports;
    uint32_t lost; /* number of the interface wire.lost */
    uint64_t n_frames;
};

struct comments {
    char buf[COMMENTS_MAX][COMMENT_BYTES];
    const char *v[COMMENTS_MAX];
    size_t n;
};

/* Returns the next comment to write into.  If there are too many, returns the last one again. */
static struct text comment(struct comments *c)
{
    const size_t i = c->n < COMMENTS_MAX ? c->n++ : COMMENTS_MAX - 1;

    c->v[i] = c->buf[i];
    return text_on(c->buf[i], COMMENT_BYTES);
}

static void put(void *ctx, const void *bytes, size_t n)
{
    fwrite(bytes, 1, n, ctx);
}

/* Adds the request of the packet and the number of its transmission: "h1.qp wr_id=1 SEND". */
static void add_work(struct comments *cs, const struct past *p, const struct ev *tx)
{
    static const char *const kinds[] = {
        [OPK_SEND] = "SEND",     [OPK_WRITE] = "RDMA_WRITE", [OPK_READ] = "RDMA_READ",
        [OPK_ATOMIC] = "ATOMIC", [OPK_FLUSH] = "FLUSH",      [OPK_ATOMIC_WRITE] = "ATOMIC_WRITE"};
    const struct op_info *op = op_info((uint8_t)tx->u.tx.opcode);
    const char *kind = op->kind < sizeof(kinds) / sizeof(kinds[0]) ? kinds[op->kind] : NULL;
    struct text t = comment(cs);

    if (tx->u.tx.host >= EV_PORT_FIRST) {
        text_add(&t, "from outside, ");
        ev_add_id(&t, tx->id);
        return;
    }
    ev_names_object(p->names, &t, tx->u.tx.host, OBJ_QP, tx->u.tx.qpn);
    if (kind)
        text_addf(&t, " wr_id=%llu %s", (unsigned long long)tx->u.tx.wr_id, kind);
    else
        text_add(&t, " answers");
    text_add(&t, ", ");
    ev_add_id(&t, tx->id);
    if (tx->u.tx.attempt > 1) {
        t = comment(cs);
        text_addf(&t, "attempt %u", tx->u.tx.attempt);
    }
}

/* Adds a comment for each effect of a fault on the frame of @tx. */
static void add_mishaps(struct comments *cs, const struct pcapng_export *c, const struct ev *tx)
{
    for (uint32_t i = past_first_of_frame(c->index, tx->id); i != PAST_NONE;
         i = c->index->after[i]) {
        const struct ev *e = past_at(c->p, i);
        struct text t;

        if (e->kind != EV_fault && e->kind != EV_lost)
            continue;
        t = comment(cs);
        if (e->kind == EV_lost) {
            text_addf(&t, "lost on the wire, by %s", e->u.lost.name.s);
            continue;
        }
        text_add(&t, enum_name(&enum_fault, e->u.fault.by));
        text_addf(&t, " by %s", e->u.fault.name.s);
        if (e->u.fault.delay) {
            text_add(&t, ", ");
            quantity_add_time_short(&t, e->u.fault.delay);
        }
    }
}

/* Adds a comment if the packet of @tx was injected by a user.  Returns false if a queue pair sent
 * it.
 */
static bool add_made_by_hand(struct comments *cs, const struct past *p, const struct ev *tx)
{
    const struct ev *made = past_find(p, tx->cause);
    struct text t;

    if (!past_is_injected(tx))
        return false;
    t = comment(cs);
    text_addf(&t, "made by hand%s, ",
              made && made->kind == EV_inject && made->u.inject.bad_icrc ? " with a wrong ICRC"
                                                                         : "");
    ev_add_id(&t, tx->id);
    return true;
}

/* Adds the receiver's decision. */
static void add_verdict(struct comments *cs, const struct ev *e)
{
    struct text t = comment(cs);
    const struct enum_row *row;

    if (e->kind == EV_rx) {
        row = enum_by_value(&enum_pkt_act, e->u.rx.act);
        text_add(&t, row ? row->text : "?");
        if (e->u.rx.rule)
            text_addf(&t, ", by %s", enum_name(&enum_rule, e->u.rx.rule));
        ev_add_compared(&t, e, true);
    } else {
        row = enum_by_value(&enum_drop, e->u.drop.reason);
        text_addf(&t, "dropped: %s", row ? row->name : "?");
        if (row)
            text_addf(&t, ", %s", row->text);
        ev_add_compared(&t, e, true);
    }
}

static void write_frame(struct pcapng_export *c, const struct ev *e, uint32_t interface,
                        enum pcapng_direction direction)
{
    const struct ev_field *f = ev_field_find(e->kind, "tx");
    const struct ev *tx = e->kind == EV_tx ? e : past_tx_of(c->p, e);
    struct comments cs = {.n = 0};
    struct pcapng_packet packet = {
        .interface = interface, .at_ns = e->at_ns, .direction = direction, .comments = cs.v};
    size_t bytes = 0;

    packet.frame = past_frame(c->p, f ? ev_field_number(e, f) : e->id, &bytes);
    if (!packet.frame)
        return; /* forgotten; the section's comment says so */
    if (tx) {
        if (!add_made_by_hand(&cs, c->p, tx))
            add_work(&cs, c->p, tx);
        add_mishaps(&cs, c, tx);
    }
    if (e->kind == EV_rx || e->kind == EV_drop)
        add_verdict(&cs, e);
    packet.frame_bytes = (uint32_t)bytes;
    packet.n_comments = cs.n;
    pcapng_packet(&c->w, &packet);
    c->n_frames++;
}

/* Returns true if @e (at index @i) is an rx event that refuses a frame, and the drop event of the
 * same frame follows.  Only one of the two is written.
 */
static bool drop_follows(const struct pcapng_export *c, size_t i, const struct ev *e)
{
    const struct ev *next = i + 1 < c->p->n ? past_at(c->p, i + 1) : NULL;

    return e->kind == EV_rx && next && next->kind == EV_drop && next->u.drop.tx == e->u.rx.tx &&
           ev_tick(next->id) == ev_tick(e->id);
}

/* The interface of a host or an external port.  Returns wire.lost for any other node. */
static uint32_t interface_of(const struct pcapng_export *c, uint32_t host)
{
    if (host < c->n_hosts)
        return host;
    if (host >= EV_PORT_FIRST && host - EV_PORT_FIRST < c->n_ports)
        return c->n_hosts + host - EV_PORT_FIRST;
    return c->lost; /* a switch, or a port without a link */
}

static void write_event(struct pcapng_export *c, size_t i)
{
    const struct ev *e = past_at(c->p, i);
    const uint32_t interface = interface_of(c, past_host_of(e));

    if (drop_follows(c, i, e))
        return;
    switch (e->kind) {
    case EV_tx:
    case EV_eth_tx:
        write_frame(c, e, interface, PCAPNG_OUTBOUND);
        break;
    case EV_rx:
    case EV_eth_rx:
    case EV_drop:
    case EV_port_out:
        write_frame(c, e, interface, interface == c->lost ? PCAPNG_UNKNOWN : PCAPNG_INBOUND);
        break;
    case EV_lost:
        write_frame(c, e, c->lost, PCAPNG_UNKNOWN);
        break;
    default:
        break;
    }
}

static void write_interface(struct pcapng_export *c, uint32_t host)
{
    const bool outside = host >= EV_PORT_FIRST;
    char name[64], what[96];
    struct text t = text_on(name, sizeof(name)), d = text_on(what, sizeof(what));

    ev_names_host(c->p->names, &t, host);
    text_addf(&d, "%s %s", outside ? "External port" : "Ethernet port of", name);
    if (!outside)
        text_add(&t, ".rdma0");
    (void)pcapng_interface(&c->w, name, what);
}

/* Writes an interface for each host and external port, in the order of their numbers, then
 * wire.lost.
 */
static void write_interfaces(struct pcapng_export *c)
{
    for (size_t i = 0; i < c->p->n; i++) {
        const uint32_t host = past_host_of(past_at(c->p, i));

        if (host < EV_PORT_FIRST && host >= c->n_hosts)
            c->n_hosts = host + 1;
        if (host >= EV_PORT_FIRST && host - EV_PORT_FIRST < EV_PORTS_MAX &&
            host - EV_PORT_FIRST >= c->n_ports)
            c->n_ports = host - EV_PORT_FIRST + 1;
    }
    for (uint32_t i = 0; i < c->n_hosts; i++)
        write_interface(c, i);
    for (uint32_t i = 0; i < c->n_ports; i++)
        write_interface(c, EV_PORT_FIRST + i);
    c->lost = pcapng_interface(&c->w, PCAPNG_LOST, "frames that no host received");
}

/* Writes the names of the hosts' addresses. */
static enum rdl_status write_hosts(struct pcapng_export *c)
{
    struct pcapng_host *hosts = calloc(c->n_hosts + 1, sizeof(*hosts));
    struct ev_str *names = calloc(c->n_hosts + 1, sizeof(*names));
    enum rdl_status st = hosts && names ? RDL_OK : RDL_ERR_NOMEM;
    struct ev e;
    size_t n = 0;

    for (size_t at = 0; st == RDL_OK && n < c->n_hosts && ev_names_next(c->p->names, &at, &e);) {
        if (e.kind != EV_host_up || !addr_parse(e.u.host_up.addr.s, hosts[n].gid))
            continue;
        names[n] = e.u.host_up.name;
        hosts[n].name = names[n].s;
        n++;
    }
    if (st == RDL_OK)
        pcapng_hosts(&c->w, hosts, n);
    free(hosts);
    free(names);
    return st;
}

static void begin(struct pcapng_export *c, FILE *out, const struct past_about *about)
{
    const uint64_t frames = past_frames_forgotten(c->p);
    struct comments cs = {.n = 0};
    struct text t;

    if (about->title && about->title[0]) {
        t = comment(&cs);
        text_add(&t, about->title);
    }
    t = comment(&cs);
    text_addf(&t, "seed %llu", (unsigned long long)about->seed);
    if (c->p->forgotten_frames || c->p->gap_from) {
        t = comment(&cs);
        past_add_missing(&t, c->p, 0, 0);
    }
    if (frames) {
        t = comment(&cs);
        past_add_frames_forgotten(&t, c->p, frames);
        text_add(&t, ": they are not in this file");
    }
    pcapng_begin(&c->w, put, out, cs.v, cs.n);
}

/* Writes the number of frames that were not captured, if it is known.  Only then may a reader draw
 * conclusions from a missing frame.
 */
static void write_dropped(struct pcapng_export *c)
{
    const struct past *p = c->p;

    if (p->n > 0 && p->forgotten_frames == 0 && p->gap_from == 0)
        pcapng_dropped(&c->w, c->lost, past_at(p, p->n - 1)->at_ns, past_frames_forgotten(p));
}

enum rdl_status export_pcapng(FILE *out, const struct past *p, const struct past_about *about,
                              uint64_t *ret_frames)
{
    struct pcapng_export c = {.p = p};
    enum rdl_status st = past_index_new(p, &c.index);

    if (st != RDL_OK)
        goto out;
    begin(&c, out, about);
    write_interfaces(&c);
    st = write_hosts(&c);
    for (size_t i = 0; i < p->n && st == RDL_OK; i++)
        write_event(&c, i);
    if (st == RDL_OK)
        write_dropped(&c);
    if (st == RDL_OK)
        *ret_frames = c.n_frames;
out:
    past_index_free(c.index);
    return st;
}
