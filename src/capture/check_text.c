/* SPDX-License-Identifier: MIT */
/* Prints the report as text. */
#include <inttypes.h>

#include "capture/check.h"
#include "emu/base/assert.h"
#include "emu/base/plural.h"
#include "emu/base/quantity.h"
#include "emu/wire/pcapng.h"
#include "print/show_text.h"
#include "print/utf8.h"

#define SMALL_BYTES 64u

static const char *service(const struct flow *f)
{
    return f->service == OPS_RC ? "RC" : f->service == OPS_UC ? "UC" : "UD";
}

/* Appends "1 frame", "2 frames" and so on. */
static void add_count(struct text *t, uint64_t n, const char *what)
{
    text_addf(t, "%" PRIu64 " %s%s", n, what, plural_s(n));
}

/* Prints a line that begins with the number of things, unless it is 0. */
static void print_count(FILE *out, uint64_t n, const char *what, const char *rest)
{
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    if (n == 0)
        return;
    add_count(&t, n, what);
    text_add(&t, rest);
    show_hanging(out, 2, buf);
}

/* Prints what limits the completeness of the capture. */
static void print_limits(FILE *out, const struct check *c)
{
    if (!c->is_whole)
        fprintf(out, "The rest cannot be read: %s.\n", c->capture.wrong);
    else if (c->capture.was_cut)
        fputs("The file ends in the middle of a frame.\n", out);
    print_count(out, c->record.n_copies, "frame",
                " more, seen before at another place or in the other direction: each packet is "
                "counted once");
    print_count(out, c->record.n_lost, "frame",
                " more at the interface " PCAPNG_LOST ": lost on the way from a host that sent it");
    print_count(out, c->record.n_cut, "frame",
                " of them without the end, which was not captured: the ICRC is not known");
    print_count(out, c->capture.dropped, "frame",
                " of any kind lost by the capture program: what seems to be missing may be among "
                "them");
    print_count(out, c->record.n_back, "frame",
                " dated before the one in front: these times are not believed; reordercap sorts "
                "a file");
    print_count(out, c->record.n_cnps, "CNP", " for a queue pair that nothing else is seen of");
}

static void print_file(FILE *out, const struct check *c, const char *name)
{
    const struct capture_record *r = &c->record;
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    text_addf(&t, "%s: ", SHOWN_NAME(name));
    add_count(&t, r->n_roce, "frame");
    text_addf(&t, " of RoCEv2 among %" PRIu64 ", in ", r->n_frames);
    quantity_add_time_short(&t, r->last_ns - r->first_ns);
    text_add(&t, "; ");
    add_count(&t, r->n_hosts, "host");
    text_add(&t, ", ");
    add_count(&t, c->n, "connection");
    show_hanging(out, 2, buf);
    print_limits(out, c);
}

/* --- Connections ------------------------------------------------------------------------------ */

static void rate(struct grid *g, uint64_t bit_per_s)
{
    static const char *const units[] = {"bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"};
    size_t unit = 0;
    uint64_t v = bit_per_s * 10;

    if (bit_per_s == 0) {
        grid_cell(g, "-");
        return;
    }
    for (; v >= 10000 && unit + 1 < ARRAY_LEN(units); unit++)
        v /= 1000;
    grid_cellf(g, "%" PRIu64 ".%u %s", v / 10, (unsigned)(v % 10), units[unit]);
}

static void time_cell(struct grid *g, uint64_t ns)
{
    char buf[SMALL_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    quantity_add_time_short(&t, ns);
    grid_cell(g, buf);
}

static void number(struct grid *g, uint64_t n)
{
    if (n == 0)
        grid_cell(g, "-");
    else
        grid_cellf(g, "%" PRIu64, n);
}

/* "10.0.0.1 QP 17"; the QP of the source is known only with the opposite direction. */
static void end_cell(struct grid *g, const struct station *h, uint32_t qpn, bool is_known)
{
    char addr[ADDR_TEXT_MAX];

    if (is_known)
        grid_cellf(g, "%s QP %u", addr_text(h->gid, addr), qpn);
    else
        grid_cell(g, addr_text(h->gid, addr));
}

static void print_half(struct grid *g, const struct check *c, uint32_t i, unsigned way)
{
    const struct connection *k = &c->v[i];
    const struct half_sums *s = &k->sums[way];
    const struct flow *f = &c->record.flows[k->flow[way]];
    const struct flow *back = f->peer == SEEN_NONE ? NULL : &c->record.flows[f->peer];
    uint64_t median_ns, worst_ns;

    grid_cellf(g, "%u", i + 1);
    grid_cell(g, service(f));
    end_cell(g, check_src(c, k->flow[way]), back ? back->dest_qpn : 0, back != NULL);
    end_cell(g, check_dst(c, k->flow[way]), f->dest_qpn, true);
    number(g, record_mtu(&c->record, f));
    number(g, s->messages);
    rate(g, check_goodput(s));
    number(g, s->requests);
    number(g, s->again);
    number(g, s->naks);
    number(g, s->rnrs);
    number(g, s->timeouts);
    if (check_repairs(s, &median_ns, &worst_ns)) {
        time_cell(g, median_ns);
        time_cell(g, worst_ns);
    } else {
        grid_cell(g, "-");
        grid_cell(g, "-");
    }
    number(g, f->n_ce + (back ? back->n_cnps : 0));
}

static void print_connections(FILE *out, const struct check *c)
{
    static const char *const heads[] = {"",         "",        "asks",    "is asked", "MTU",
                                        "messages", "goodput", "packets", "again",    "NAK",
                                        "RNR",      "timeout", "repair",  "worst",    "CE+CNP"};
    struct grid g;

    if (c->n_shown == 0)
        return;
    grid_init(&g, ARRAY_LEN(heads), 0x7ff1u);
    for (size_t i = 0; i < ARRAY_LEN(heads); i++)
        grid_cell(&g, heads[i]);
    for (uint32_t i = 0; i < c->n_shown; i++) {
        for (unsigned way = 0; way < 2; way++) {
            if (c->v[c->shown[i]].sums[way].requests > 0)
                print_half(&g, c, c->shown[i], way);
        }
    }
    fputc('\n', out);
    grid_print(&g, out, 0);
    grid_done(&g);
}

/* Prints how many ends could not be judged exactly. */
static void print_ends(FILE *out, const struct check *c)
{
    uint64_t n_ends = 0, n_exact = 0;
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    for (uint32_t i = 0; i < c->n_shown; i++) {
        n_ends += c->v[c->shown[i]].n_ends;
        n_exact += c->v[c->shown[i]].n_exact;
    }
    if (n_ends == 0)
        text_add(&t, "--at, --timeout and the like were of no use: no end of a reliable connection "
                     "is known to be captured at its host.");
    else
        text_addf(&t,
                  "Timers, limits and reasons were not checked at %" PRIu64 " of the %" PRIu64
                  " ends that were captured at their hosts. There something that the end sent or "
                  "got is missing in the capture, or a queue pair begins again in it, or the peer "
                  "begins with a wrong PSN.",
                  n_ends - n_exact, n_ends);
    if (n_ends == 0 ? c->has_hopes : n_exact < n_ends) {
        fputc('\n', out);
        show_hanging(out, 0, buf);
    }
}

/* --- Congestion ------------------------------------------------------------------------------- */

/* Appends a bar of one character: how full step @v is, if @most is the fullest one. */
static void add_bar(struct text *t, uint64_t v, uint64_t most)
{
    static const char *const bars[] = {"\u2581", "\u2582", "\u2583", "\u2584",
                                       "\u2585", "\u2586", "\u2587", "\u2588"};

    text_add(t, v == 0 ? "\u00b7" : bars[(v * ARRAY_LEN(bars) - 1) / most]);
}

static void print_axis_row(FILE *out, const struct axis *a, const char *name, enum axis_kind kind)
{
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    if (a->sum[kind] == 0)
        return;
    text_addf(&t, "  %s", name);
    text_pad_to(&t, 13);
    for (uint32_t i = 0; i < a->n_steps; i++)
        add_bar(&t, a->v[kind][i], a->most[kind]);
    text_addf(&t, "  %" PRIu64 ", up to %" PRIu64, a->sum[kind], a->most[kind]);
    fprintf(out, "%s\n", buf);
}

/* Prints the frames that show congestion over time, unless there are none. */
static void print_axis(FILE *out, const struct axis *a)
{
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    if (!axis_is_congested(a))
        return;
    text_addf(&t, "Congestion in the file, in %u steps of ", a->n_steps);
    quantity_add_time_short(&t, a->step_ns);
    for (unsigned i = 0, n = 0; i < 8; i++) {
        if (a->priorities & 1u << i)
            text_addf(&t, "%s%u", n++ ? ", " : "; PFC stops priority ", i);
    }
    fputc('\n', out);
    show_hanging(out, 2, buf);
    print_axis_row(out, a, "packets", AXIS_PACKETS);
    print_axis_row(out, a, "ECN marks", AXIS_CE);
    print_axis_row(out, a, "CNPs", AXIS_CNP);
    print_axis_row(out, a, "PFC stops", AXIS_STOP);
    print_axis_row(out, a, "PFC starts", AXIS_START);
}

/* --- Findings --------------------------------------------------------------------------------- */

/* @column: where the severity is printed, behind the widest frame number. */
static void print_finding(FILE *out, const struct check *c, const struct found *f, unsigned column)
{
    char lead[SHOW_LINE_BYTES], buf[SHOW_LINE_BYTES];
    struct text l = text_on(lead, sizeof(lead)), t = text_on(buf, sizeof(buf));
    const struct finding_row *row = &finding_rows[f->finding];

    text_addf(&l, "frame %" PRIu64, f->frame);
    text_pad_to(&l, column);
    text_addf(&l, "%s", found_severity(row->severity));
    text_pad_to(&l, column + 6);
    if (f->flow != FOUND_NOWHERE)
        text_addf(&l, "#%u", c->of_flow[f->flow] + 1);
    text_pad_to(&l, column + 10);
    text_addf(&t, "%s: ", row->name);
    found_says(&t, f);
    show_wrap_behind(out, lead, column + 10, buf);
}

static unsigned findings_column(const struct check *c)
{
    unsigned column = 8; /* length of "frame 1 " */

    for (uint64_t n = c->record.n_frames; n >= 10; n /= 10)
        column++;
    return column < 12 ? 12 : column;
}

static void print_findings(FILE *out, const struct check *c, uint32_t findings_max)
{
    uint64_t shown[FIND_COUNT] = {0};
    const unsigned column = findings_column(c);
    bool is_cut = false;

    if (c->found.n > 0)
        fputc('\n', out);
    for (uint32_t i = 0; i < c->found.n; i++) {
        const struct found *f = &c->found.v[i];

        if (findings_max == 0 || shown[f->finding]++ < findings_max)
            print_finding(out, c, f, column);
    }
    for (unsigned i = 0; findings_max > 0 && i < FIND_COUNT; i++) {
        if (c->found.count[i] <= findings_max)
            continue;
        fprintf(out, "%s%" PRIu64 " more of %s",
                is_cut ? ", " : "Not shown: ", c->found.count[i] - findings_max,
                finding_rows[i].name);
        is_cut = true;
    }
    if (is_cut)
        fputs("; --all shows them.\n", out);
    if (c->found.n > 0)
        fprintf(out, "\"rdmalab explain %s\" tells more about a finding.\n",
                finding_rows[c->found.v[0].finding].name);
}

void check_text(FILE *out, const struct check *c, const char *name, uint32_t findings_max)
{
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    print_file(out, c, name);
    if (c->record.n_roce == 0) {
        print_findings(out, c, findings_max);
        fputs("There is nothing to check: no frame is UDP to port 4791.\n", out);
        return;
    }
    print_connections(out, c);
    check_text_handshakes(out, c);
    check_text_lnet(out, c);
    print_axis(out, &c->axis);
    print_findings(out, c, findings_max);
    print_ends(out, c);
    add_count(&t, found_count(&c->found, FINDING_ERROR), "error");
    text_add(&t, ", ");
    add_count(&t, found_count(&c->found, FINDING_LOSS), "sign");
    text_add(&t, " of loss, ");
    add_count(&t, found_count(&c->found, FINDING_NOTE), "note");
    if (c->is_chosen) {
        text_addf(&t, " in %u of ", c->n_shown);
        add_count(&t, c->n, "connection");
        if (c->n_elsewhere > 0) {
            text_add(&t, "; ");
            add_count(&t, c->n_elsewhere, "finding");
            text_add(&t, " of other connections and of single frames not shown");
        }
    } else {
        text_add(&t, " in ");
        add_count(&t, c->record.n_roce, "frame");
        text_add(&t, " of ");
        add_count(&t, c->n, "connection");
    }
    fprintf(out, "\n%s\n", buf);
}
