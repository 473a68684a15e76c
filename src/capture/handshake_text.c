/* SPDX-License-Identifier: MIT */
/* Prints the handshakes of a capture as text. */
#include <inttypes.h>

#include "capture/check.h"
#include "emu/base/plural.h"
#include "emu/base/quantity.h"
#include "emu/facts/aeth.h"
#include "emu/facts/enum/cm_reason.h"
#include "emu/facts/enum/sidr_status.h"
#include "print/show_text.h"

#define INDENT 4u

static uint64_t number_of(const struct check *c, const struct cm_seen *m)
{
    return c->record.v[m->seen].number;
}

static void add_end(struct text *t, const struct check *c, const struct handshake *k, unsigned side)
{
    uint32_t qpn;

    addr_add(t, c->record.hosts[k->host[side]].gid);
    if (handshake_qpn(&c->record.handshakes, k, side, &qpn))
        text_addf(t, " QP %u", qpn);
}

/* Appends the service that side 0 asks for: a port of rdma_cm, or the service ID. */
static void add_service(struct text *t, uint64_t id)
{
    if (rdma_cm_has_header(id))
        text_addf(t, " for %s port %u", enum_name(&enum_port_space, (uint32_t)(id >> 16)),
                  (unsigned)(id & 0xffffu));
    else
        text_addf(t, " for service 0x%016" PRIx64, id);
}

static void print_ends(FILE *out, const struct check *c, size_t i)
{
    const struct handshakes *all = &c->record.handshakes;
    const struct handshake *k = &all->v[i];
    const uint32_t flow = handshake_flow(k);
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));
    uint64_t service;

    text_addf(&t, "%zu   ", i + 1);
    text_pad_to(&t, INDENT);
    add_end(&t, c, k, 0);
    text_add(&t, k->has_sides ? " asks " : " and ");
    add_end(&t, c, k, 1);
    if (handshake_service(all, k, &service))
        add_service(&t, service);
    if (flow != SEEN_NONE)
        text_addf(&t, "; connection #%u", c->of_flow[flow] + 1);
    show_hanging(out, INDENT, buf);
}

/* Appends the additional information of a rejection, if there is any. */
static void add_information(struct text *t, const uint8_t *info, uint32_t n, uint32_t room)
{
    if (n == 0)
        return;
    text_addf(t, ", ARI of %u byte%s", n, plural_s(n));
    for (uint32_t i = 0; i < n && i < room; i++)
        text_addf(t, "%s%02x", i ? "" : ": ", info[i]);
}

/* Appends a number that @names may have a row for: "reason 8 INVALID_SERVICE_ID: nobody listens".
 */
static void add_row(struct text *t, const char *what, const struct enum_table *names, uint32_t v)
{
    text_addf(t, " with %s %u", what, v);
    if (enum_by_value(names, v))
        text_addf(t, " %s: %s", enum_name(names, v), enum_text(names, v));
    else
        text_add(t, ", which is not defined");
}

static void add_rejection(struct text *t, const struct cm_rej *rej)
{
    add_row(t, "reason", &enum_cm_reason, rej->reason);
    if (rej->reason == CM_REASON_INVALID_GID && rej->info_length == GID_BYTES) {
        text_add(t, ", ARI: ");
        addr_add(t, rej->info);
    } else {
        add_information(t, rej->info, rej->info_length, sizeof(rej->info));
    }
}

static void add_sidr_rep(struct text *t, const struct cm_sidr_rep *rep)
{
    add_row(t, "status", &enum_sidr_status, rep->status);
    if (rep->status == SIDR_SUCCESS)
        text_addf(t, ", QP %u, Q_Key 0x%08x", rep->qpn, rep->qkey);
    else
        add_information(t, rep->info, rep->info_length, sizeof(rep->info));
}

/* Appends a message, how often it was sent, and who sent it if both sides may. */
static void add_messages(struct text *t, const struct check *c, const struct handshake *k,
                         enum cm_message kind)
{
    const struct cm_seen *m = handshake_first(&c->record.handshakes, k, kind);
    const uint32_t n = handshake_of(k, kind)->n;
    struct lnet_gist lnet;

    text_addf(t, "%s in frame %" PRIu64, enum_name(&enum_cm_message, kind), number_of(c, m));
    if (n > 1)
        text_addf(t, " and %u more", n - 1);
    if (kind == CM_REJ || kind == CM_DREQ || kind == CM_MRA) {
        text_add(t, " of ");
        addr_add(t, c->record.hosts[k->host[m->side]].gid);
    }
    if (kind == CM_REJ)
        add_rejection(t, &m->mad.u.rej);
    else if (kind == CM_SIDR_REP)
        add_sidr_rep(t, &m->mad.u.sidr_rep);
    if (lnet_messages_in_mad(&m->mad, &lnet)) {
        text_add(t, ", with ");
        lnet_gist_add(t, &lnet);
    }
}

/* Appends the time between two messages, if both were captured. */
static void add_time(struct text *t, const struct check *c, const char *before,
                     const struct cm_seen *from, const struct cm_seen *to)
{
    if (!from || !to || to->seen < from->seen)
        return;
    text_add(t, before);
    quantity_add_time_short(t, c->record.v[to->seen].at_ns - c->record.v[from->seen].at_ns);
}

/* Prints how far it got, its messages in the order of a connection, and how long it took. */
static void print_life(FILE *out, const struct check *c, const struct handshake *k)
{
    static const enum cm_message order[] = {CM_REQ,  CM_MRA,  CM_REP,      CM_RTU,     CM_REJ,
                                            CM_DREQ, CM_DREP, CM_SIDR_REQ, CM_SIDR_REP};
    const struct handshakes *all = &c->record.handshakes;
    char buf[2 * SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));
    const char *before = ": ";

    text_add(&t, handshake_state_text(handshake_state(all, k)));
    for (size_t i = 0; i < ARRAY_LEN(order); i++) {
        if (handshake_of(k, order[i])->n == 0)
            continue;
        text_add(&t, before);
        add_messages(&t, c, k, order[i]);
        before = "; ";
    }
    add_time(&t, c, "; made in ", handshake_first(all, k, CM_REQ), handshake_first(all, k, CM_RTU));
    add_time(&t, c, ", used for ", handshake_first(all, k, CM_RTU),
             handshake_first(all, k, CM_DREQ));
    show_wrap(out, INDENT, buf);
}

static void add_known(struct text *t, const char *before, uint32_t v)
{
    if (v == AGREED_UNKNOWN)
        text_addf(t, "%s?", before);
    else
        text_addf(t, "%s%u", before, v);
}

/* Prints the parameters, first those of side 0. */
static void print_agreed(FILE *out, const struct check *c, const struct handshake *k)
{
    const struct handshakes *all = &c->record.handshakes;
    const struct agreed a = handshake_agreed(all, k, 0), b = handshake_agreed(all, k, 1);
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    if (k->is_sidr || (a.sq_psn == AGREED_UNKNOWN && b.sq_psn == AGREED_UNKNOWN))
        return;
    add_known(&t, "path MTU ", a.mtu_bytes);
    add_known(&t, ", first PSN ", a.sq_psn);
    add_known(&t, " and ", b.sq_psn);
    add_known(&t, ", retries ", a.retry_cnt);
    add_known(&t, ", RNR retries ", a.rnr_retry);
    add_known(&t, " and ", b.rnr_retry);
    add_known(&t, ", READs and atomics at a time ", a.max_rd_atomic);
    add_known(&t, " and ", b.max_rd_atomic);
    if (b.timeout != AGREED_UNKNOWN) {
        text_add(&t, ", ACK timeout of the passive side ");
        if (b.timeout == 0)
            text_add(&t, "never");
        else
            quantity_add_time_short(&t, ack_timeout_ns((uint8_t)b.timeout));
    }
    show_wrap(out, INDENT, buf);
}

void check_text_handshakes(FILE *out, const struct check *c)
{
    const struct handshakes *all = &c->record.handshakes;
    bool is_first = true;

    for (size_t i = 0; i < all->n; i++) {
        if (!c->shows_handshake[i])
            continue;
        if (is_first)
            fputs("\nMade by the connection manager (the first number is that of the side that "
                  "asks)\n",
                  out);
        is_first = false;
        print_ends(out, c, i);
        print_life(out, c, &all->v[i]);
        print_agreed(out, c, &all->v[i]);
    }
}
