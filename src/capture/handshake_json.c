/* SPDX-License-Identifier: MIT */
/* Prints the handshakes of a capture as JSON.  An unknown number is null. */
#include <inttypes.h>

#include "capture/check.h"
#include "emu/facts/enum/cm_reason.h"
#include "emu/facts/enum/sidr_status.h"
#include "emu/past/past_lnet.h"
#include "print/print_json.h"

static void member(FILE *out, const char *name, bool is_known, uint64_t v)
{
    fprintf(out, ",\"%s\":", name);
    if (is_known)
        print_json_number(out, v);
    else
        fputs("null", out);
}

static void print_side(FILE *out, const struct check *c, const struct handshake *k, unsigned side)
{
    const struct handshakes *all = &c->record.handshakes;
    const struct agreed a = handshake_agreed(all, k, side);
    char addr[ADDR_TEXT_MAX];
    uint32_t qpn = 0;
    const bool has_qpn = handshake_qpn(all, k, side, &qpn);

    fputs(side ? ",{\"host\":" : "{\"host\":", out);
    print_json_string(out, addr_text(c->record.hosts[k->host[side]].gid, addr));
    member(out, "comm_id", k->has_id[side], k->id[side]);
    member(out, "qpn", has_qpn, qpn);
    if (!k->is_sidr) {
        member(out, "sq_psn", a.sq_psn != AGREED_UNKNOWN, a.sq_psn);
        member(out, "retry_cnt", a.retry_cnt != AGREED_UNKNOWN, a.retry_cnt);
        member(out, "rnr_retry", a.rnr_retry != AGREED_UNKNOWN, a.rnr_retry);
        member(out, "timeout", a.timeout != AGREED_UNKNOWN, a.timeout);
        member(out, "max_rd_atomic", a.max_rd_atomic != AGREED_UNKNOWN, a.max_rd_atomic);
    }
    fputc('}', out);
}

static void print_information(FILE *out, const uint8_t *info, uint32_t n, uint32_t room)
{
    fputs(",\"ari\":\"", out);
    for (uint32_t i = 0; i < n && i < room; i++)
        fprintf(out, "%02x", info[i]);
    fputc('"', out);
}

/* Prints the message of o2iblnd in the private data, if there is one. */
static void print_lnet(FILE *out, const struct cm_seen *m)
{
    char buf[PAST_LNET_BYTES];
    struct text t = text_on(buf, sizeof(buf));
    struct lnet_gist lnet;

    if (!lnet_messages_in_mad(&m->mad, &lnet))
        return;
    lnet_gist_add(&t, &lnet);
    fputs(",\"lnet\":", out);
    print_json_string(out, buf);
}

static void print_message(FILE *out, const struct check *c, const struct cm_seen *m)
{
    const struct seen *s = &c->record.v[m->seen];

    fprintf(out, "{\"frame\":%" PRIu64 ",\"message\":\"%s\",\"side\":%u", s->number,
            enum_name(&enum_cm_message, m->mad.head.attr_id), m->side);
    member(out, "at_ns", true, s->at_ns);
    if (m->mad.head.attr_id == CM_REJ) {
        const struct cm_rej *rej = &m->mad.u.rej;

        member(out, "reason", true, rej->reason);
        fprintf(out, ",\"reason_name\":\"%s\"", enum_name(&enum_cm_reason, rej->reason));
        print_information(out, rej->info, rej->info_length, sizeof(rej->info));
    } else if (m->mad.head.attr_id == CM_SIDR_REP) {
        member(out, "status", true, m->mad.u.sidr_rep.status);
        fprintf(out, ",\"status_name\":\"%s\"",
                enum_name(&enum_sidr_status, m->mad.u.sidr_rep.status));
    }
    print_lnet(out, m);
    fputc('}', out);
}

static void print_handshake(FILE *out, const struct check *c, uint32_t i)
{
    const struct handshakes *all = &c->record.handshakes;
    const struct handshake *k = &all->v[i];
    const uint32_t flow = handshake_flow(k);
    const uint32_t mtu = handshake_agreed(all, k, 0).mtu_bytes;
    bool is_first = true;
    uint64_t service;

    fprintf(out, "{\"number\":%u,\"state\":\"%s\"", i + 1,
            handshake_state_name(handshake_state(all, k)));
    member(out, "connection", flow != SEEN_NONE, flow != SEEN_NONE ? c->of_flow[flow] + 1 : 0);
    fprintf(out, ",\"sides_known\":%s", k->has_sides ? "true" : "false");
    if (handshake_service(all, k, &service))
        fprintf(out, ",\"service_id\":\"0x%016" PRIx64 "\"", service);
    else
        fputs(",\"service_id\":null", out);
    member(out, "mtu", mtu != AGREED_UNKNOWN, mtu);
    fputs(",\"sides\":[", out);
    print_side(out, c, k, 0);
    print_side(out, c, k, 1);
    fputs("],\"messages\":[", out);
    for (uint32_t m = k->first; m != HANDSHAKE_NONE; m = all->messages[m].next) {
        fputs(is_first ? "" : ",", out);
        is_first = false;
        print_message(out, c, &all->messages[m]);
    }
    fputs("]}", out);
}

void check_json_handshakes(FILE *out, const struct check *c)
{
    const struct handshakes *all = &c->record.handshakes;
    bool is_first = true;

    fputs(",\"handshakes\":[", out);
    for (uint32_t i = 0; i < all->n; i++) {
        if (!c->shows_handshake[i])
            continue;
        fputs(is_first ? "\n" : ",\n", out);
        is_first = false;
        print_handshake(out, c, i);
    }
    fputs("]", out);
}
