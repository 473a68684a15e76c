/* SPDX-License-Identifier: MIT */
/* Prints the report as one JSON object.  Names are the same as in the text report; an unknown
 * number is null.
 */
#include <inttypes.h>

#include "capture/check.h"
#include "print/print_json.h"
#include "print/show_text.h"

static const char *service(const struct flow *f)
{
    return f->service == OPS_RC ? "RC" : f->service == OPS_UC ? "UC" : "UD";
}

static void member(FILE *out, const char *name, uint64_t v)
{
    fprintf(out, ",\"%s\":", name);
    print_json_number(out, v);
}

static void member_address(FILE *out, const char *before, const struct station *h)
{
    char addr[ADDR_TEXT_MAX];

    fputs(before, out);
    print_json_string(out, addr_text(h->gid, addr));
}

static void print_direction(FILE *out, const struct check *c, const struct connection *k,
                            unsigned way)
{
    const struct half_sums *s = &k->sums[way];
    const struct flow *f = &c->record.flows[k->flow[way]];
    const struct flow *back = f->peer == SEEN_NONE ? NULL : &c->record.flows[f->peer];
    uint64_t median_ns = 0, worst_ns = 0;

    member_address(out, "{\"src\":", check_src(c, k->flow[way]));
    if (back)
        member(out, "src_qpn", back->dest_qpn);
    else
        fputs(",\"src_qpn\":null", out);
    member_address(out, ",\"dst\":", check_dst(c, k->flow[way]));
    member(out, "dst_qpn", f->dest_qpn);
    member(out, "messages", s->messages);
    member(out, "bytes", s->bytes);
    member(out, "goodput_bit_s", check_goodput(s));
    member(out, "packets", s->requests);
    member(out, "answers", s->answers);
    member(out, "again", s->again);
    member(out, "missing", s->missing);
    member(out, "naks", s->naks);
    member(out, "rnr_naks", s->rnrs);
    member(out, "timeouts", s->timeouts);
    member(out, "repairs", s->n_repairs);
    if (check_repairs(s, &median_ns, &worst_ns)) {
        member(out, "repair_median_ns", median_ns);
        member(out, "repair_worst_ns", worst_ns);
    }
    member(out, "ce_frames", f->n_ce);
    member(out, "cnps", back ? back->n_cnps : 0);
    check_json_lnet(out, c, k->flow[way]);
    fputc('}', out);
}

static void print_connections(FILE *out, const struct check *c)
{
    fputs(",\"connections\":[", out);
    for (uint32_t n = 0; n < c->n_shown; n++) {
        const uint32_t i = c->shown[n];
        const struct connection *k = &c->v[i];
        const struct flow *f = &c->record.flows[k->flow[0]];
        const uint32_t mtu = record_mtu(&c->record, f);
        bool is_first = true;

        fprintf(out, "%s\n{\"number\":%u,\"service\":\"%s\"", n ? "," : "", i + 1, service(f));
        if (mtu)
            member(out, "mtu", mtu);
        else
            fputs(",\"mtu\":null", out);
        member(out, "findings", k->findings);
        member(out, "ends_at_host", k->n_ends);
        member(out, "ends_judged_there", k->n_exact);
        fputs(",\"directions\":[", out);
        for (unsigned way = 0; way < 2; way++) {
            if (k->sums[way].requests == 0)
                continue;
            fputs(is_first ? "" : ",", out);
            print_direction(out, c, k, way);
            is_first = false;
        }
        fputs("]}", out);
    }
    fputs("]", out);
}

static void print_finding(FILE *out, const struct check *c, const struct found *f)
{
    const struct finding_row *row = &finding_rows[f->finding];
    char says[SHOW_LINE_BYTES];
    struct text t = text_on(says, sizeof(says));

    fprintf(out, "{\"frame\":%" PRIu64 ",\"finding\":\"%s\",\"severity\":\"%s\"", f->frame,
            row->name, found_severity(row->severity));
    if (f->flow != FOUND_NOWHERE)
        member(out, "connection", c->of_flow[f->flow] + 1);
    if (f->handshake)
        member(out, "handshake", f->handshake);
    member(out, "psn", f->psn);
    member(out, "n", f->n);
    if (f->earlier)
        member(out, "earlier_frame", f->earlier);
    if (f->time_ns)
        member(out, "time_ns", f->time_ns);
    found_says(&t, f);
    fputs(",\"text\":", out);
    print_json_string(out, says);
    fputc('}', out);
}

static void print_row(FILE *out, const struct axis *a, const char *name, enum axis_kind kind)
{
    fprintf(out, ",\"%s\":[", name);
    for (uint32_t i = 0; i < a->n_steps; i++)
        fprintf(out, "%s%" PRIu64, i ? "," : "", a->v[kind][i]);
    fputc(']', out);
}

/* Congestion over time; null if there is none. */
static void print_axis(FILE *out, const struct axis *a)
{
    bool is_first = true;

    fputs(",\"congestion\":", out);
    if (!axis_is_congested(a)) {
        fputs("null", out);
        return;
    }
    fputs("{\"from_ns\":", out);
    print_json_number(out, a->from_ns);
    member(out, "step_ns", a->step_ns);
    print_row(out, a, "packets", AXIS_PACKETS);
    print_row(out, a, "ce", AXIS_CE);
    print_row(out, a, "cnps", AXIS_CNP);
    print_row(out, a, "pfc_stops", AXIS_STOP);
    print_row(out, a, "pfc_starts", AXIS_START);
    fputs(",\"pfc_priorities\":[", out);
    for (unsigned i = 0; i < 8; i++) {
        if (!(a->priorities & 1u << i))
            continue;
        fprintf(out, "%s%u", is_first ? "" : ",", i);
        is_first = false;
    }
    fputs("]}", out);
}

static void print_counts(FILE *out, const struct found_list *l)
{
    bool is_first = true;

    fputs(",\"counts\":{", out);
    for (unsigned i = 0; i < FIND_COUNT; i++) {
        if (l->count[i] == 0)
            continue;
        fprintf(out, "%s\"%s\":%" PRIu64, is_first ? "" : ",", finding_rows[i].name, l->count[i]);
        is_first = false;
    }
    fputc('}', out);
    member(out, "errors", found_count(l, FINDING_ERROR));
    member(out, "losses", found_count(l, FINDING_LOSS));
    member(out, "notes", found_count(l, FINDING_NOTE));
}

void check_json(FILE *out, const struct check *c, const char *name)
{
    const struct capture_record *r = &c->record;

    fputs("{\"format\":\"rdmalab.check/1\",\"file\":", out);
    print_json_string(out, name);
    fprintf(out, ",\"whole\":%s", c->is_whole && !c->capture.was_cut ? "true" : "false");
    if (!c->is_whole) {
        fputs(",\"wrong\":", out);
        print_json_string(out, c->capture.wrong);
    }
    member(out, "frames", r->n_frames);
    member(out, "roce_frames", r->n_roce);
    member(out, "frames_seen_again", r->n_copies);
    member(out, "frames_lost", r->n_lost);
    member(out, "frames_without_end", r->n_cut);
    member(out, "roce_v1_frames", r->n_v1);
    member(out, "pfc_frames", r->n_pauses);
    if (c->capture.tells_dropped)
        member(out, "lost_by_capture", c->capture.dropped);
    else
        fputs(",\"lost_by_capture\":null", out);
    member(out, "first_ns", r->first_ns);
    member(out, "last_ns", r->last_ns);
    member(out, "cnps_of_no_connection", r->n_cnps);
    member(out, "connections_in_file", c->n);
    member(out, "findings_not_shown", c->n_elsewhere);
    print_axis(out, &c->axis);
    print_connections(out, c);
    check_json_handshakes(out, c);
    fputs(",\"findings\":[", out);
    for (uint32_t i = 0; i < c->found.n; i++) {
        fputs(i ? ",\n" : "\n", out);
        print_finding(out, c, &c->found.v[i]);
    }
    fputs("]", out);
    print_counts(out, &c->found);
    fputs("}\n", out);
}
