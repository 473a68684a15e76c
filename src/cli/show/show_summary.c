/* SPDX-License-Identifier: MIT */
#include "cli/show/show_summary.h"

#include <stdlib.h>
#include <string.h>

#include "cli/show/show_columns.h"
#include "cli/show/show_objects.h"
#include "cli/show/show_rows.h"
#include "emu/base/assert.h"
#include "emu/base/plural.h"
#include "emu/base/quantity.h"
#include "print/print_json.h"
#include "print/show_text.h"
#include "process/must.h"
#include "tree/tree.h"

#define COLUMNS_MAX 7u
#define LINE_MAX    78u /* of a sentence; a longer one is cut after a part that fits */
#define WAITS_SHOWN 4u
#define DUE_SHOWN   3u
#define SCREEN      23u /* lines above the prompt */

/* The columns shown of each object of a kind. */
static const struct section {
    enum node_kind kind;
    const char *one;   /* the heading of the table */
    const char *many;  /* the word of `show` and JSON */
    size_t rows_shown; /* maximum, for people */
    enum leaf_id leaf[COLUMNS_MAX];
    enum quantity unit[COLUMNS_MAX];
    const char *head[COLUMNS_MAX]; /* NULL: the name of the leaf */
} sections[] = {
    {NODE_host,
     "host",
     "hosts",
     3,
     {LEAF_host_gid, LEAF_host_mac, LEAF_host_ram_bytes, LEAF_host_profile},
     {QUANTITY_NUMBER},
     {"address", NULL, "ram"}},
    {NODE_switch,
     "switch",
     "switches",
     2,
     {LEAF_switch_ports, LEAF_switch_rcvd_frames, LEAF_switch_sent_frames},
     {QUANTITY_NUMBER},
     {NULL}},
    {NODE_link,
     "link",
     "links",
     3,
     {LEAF_link_latency, LEAF_link_rate, LEAF_link_loss_ppm, LEAF_link_up, LEAF_link_carried,
      LEAF_link_lost},
     {QUANTITY_NUMBER, QUANTITY_RATE, QUANTITY_CHANCE},
     {NULL, NULL, "loss"}},
    {NODE_fault,
     "fault",
     "faults",
     2,
     {LEAF_fault_seen, LEAF_fault_hits, LEAF_fault_left, LEAF_fault_about},
     {QUANTITY_NUMBER},
     {"matches", NULL, NULL, "what it does"}},
    {NODE_qp,
     "qp",
     "qp",
     4,
     {LEAF_qp_qpn, LEAF_qp_type, LEAF_qp_state, LEAF_qp_dest_qpn, LEAF_qp_sq_psn, LEAF_qp_rq_psn,
      LEAF_qp_outstanding},
     {QUANTITY_NUMBER},
     {NULL, NULL, NULL, NULL, NULL, NULL, "wqes"}},
};

struct sentences {
    struct summary_sentence {
        char text[SHOW_LINE_BYTES];
        uint64_t at_ns;
        bool is_frame;
    } * v;
    size_t n, room;
};

struct summary {
    FILE *out;
    const struct rdl_lab *lab;
    const struct past *past;
    enum show_form form;
    struct sentences waits, due;
    struct rdl_due_counts counts;
    size_t vms;  /* hosts with a virtual machine as guest */
    bool spaced; /* print empty lines between the parts */
};

static struct summary_sentence *append(struct sentences *s)
{
    s->v = must_grow(s->v, s->n, &s->room, sizeof(*s->v));
    return &s->v[s->n++];
}

static void add_wait(void *ctx, const struct rdl_wait *w)
{
    struct summary *s = ctx;
    struct summary_sentence *to = append(&s->waits);
    struct text t = text_on(to->text, sizeof(to->text));

    text_add(&t, w->sentence);
}

static void add_due(void *ctx, const struct rdl_due *due)
{
    struct summary *s = ctx;
    struct summary_sentence *d = append(&s->due);
    struct text t = text_on(d->text, sizeof(d->text));

    d->at_ns = due->at_ns;
    d->is_frame = due->is_frame;
    text_add(&t, due->what);
}

static size_t columns_of(const struct section *c)
{
    size_t n = 0;

    while (n < COLUMNS_MAX && c->leaf[n] != LEAF_none)
        n++;
    return n;
}

static const char *head_of(const struct section *c, size_t i)
{
    return c->head[i] ? c->head[i] : leaf_name(c->leaf[i]);
}

struct section_filling {
    const struct rdl_lab *lab;
    const struct section *section;
    struct rows rows;
    size_t n, shown;
};

static void add_object(void *ctx, const char *path)
{
    struct section_filling *f = ctx;

    if (f->n++ >= f->shown)
        return;
    rows_text(&f->rows, path);
    for (size_t i = 0; i < columns_of(f->section); i++)
        rows_leaf(&f->rows, f->lab, path, f->section->leaf[i], f->section->unit[i]);
}

static void count_guest(void *ctx, const char *path)
{
    struct summary *s = ctx;

    s->vms += tree_number(s->lab, path, LEAF_host_external) ? 1 : 0;
}

static void print_guest(void *ctx, const char *path)
{
    const struct summary *s = ctx;

    if (tree_number(s->lab, path, LEAF_host_external))
        fprintf(s->out, " %s", path);
}

/* Prints "with a virtual machine as guest: h1". */
static enum rdl_status print_guests(struct summary *s)
{
    enum rdl_status st;

    if (s->vms == 0)
        return RDL_OK;
    fputs("with a virtual machine as guest:", s->out);
    st = show_each(s->lab, "", NODE_host, print_guest, s);
    fputc('\n', s->out);
    return st;
}

/* Prints the objects of a section as a table.  For people, a line counts those that are omitted. */
static enum rdl_status print_section(struct summary *s, const struct section *c)
{
    const bool people = s->form == SHOW_TEXT;
    const size_t n = show_count(s->lab, "", c->kind);
    struct row_column columns[COLUMNS_MAX + 1] = {{.name = c->one}};
    struct section_filling f = {.lab = s->lab, .section = c, .shown = SIZE_MAX};
    enum rdl_status st;

    if (people && n == 0)
        return RDL_OK;
    if (people && n > c->rows_shown)
        f.shown = c->rows_shown - 1;
    for (size_t i = 0; i < columns_of(c); i++) {
        const enum leaf_type type = leaf_rows[c->leaf[i]].type;

        columns[i + 1] = (struct row_column){
            .name = head_of(c, i),
            .right = type != TYPE_WORD && type != TYPE_TEXT && type != TYPE_SET,
            .key = c->unit[i] != QUANTITY_NUMBER ? leaf_name(c->leaf[i]) : NULL,
        };
    }
    rows_begin(&f.rows, s->out, s->form, columns, (unsigned)columns_of(c) + 1);
    f.rows.is_inside = true;
    st = show_each(s->lab, "", c->kind, add_object, &f);
    rows_end(&f.rows, NULL);
    if (people && n > c->rows_shown)
        fprintf(s->out, "... %zu more: show %s\n", n - f.shown, c->many);
    if (people && c->kind == NODE_host && st == RDL_OK)
        st = print_guests(s);
    if (people && s->spaced)
        fputc('\n', s->out);
    return st;
}

/* Prints @text, cut to the width of a narrow screen. */
static void print_sentence(FILE *out, const char *lead, const char *text)
{
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    text_add(&t, lead);
    if (strlen(lead) + strlen(text) > LINE_MAX)
        text_addn(&t, text, strcspn(text, ";"));
    else
        text_add(&t, text);
    show_line(out, &t);
}

static size_t shown_of(size_t n, size_t most)
{
    return n > most ? most - 1 : n;
}

static void print_under_way(const struct summary *s)
{
    const size_t shown = shown_of(s->waits.n, WAITS_SHOWN);
    const unsigned long long frames = s->counts.frames;

    if (!frames && !s->waits.n) {
        fputs("under way: nothing\n", s->out);
        return;
    }
    fprintf(s->out, "under way: %llu frame%s on the wire, %zu wait%s\n", frames, plural_s(frames),
            s->waits.n, singular_s(s->waits.n));
    for (size_t i = 0; i < shown; i++)
        print_sentence(s->out, "  ", s->waits.v[i].text);
    if (shown < s->waits.n)
        fprintf(s->out, "  ... %zu more: why not\n", s->waits.n - shown);
}

static void print_due(const struct summary *s)
{
    const size_t all = (size_t)s->counts.all;
    const size_t most = all > DUE_SHOWN ? DUE_SHOWN - 1 : all;

    if (all == 0) {
        fputs("due next: nothing, the lab is idle\n", s->out);
        return;
    }
    fputs("due next:\n", s->out);
    for (size_t i = 0; i < most && i < s->due.n; i++) {
        char lead[32];
        struct text t = text_on(lead, sizeof(lead));

        text_add(&t, "  t=");
        quantity_add_time_short(&t, s->due.v[i].at_ns);
        text_pad_to(&t, 14);
        print_sentence(s->out, lead, s->due.v[i].text);
    }
    if (most < all)
        fprintf(s->out, "  ... %zu more: show due\n", all - most);
}

/* Prints the current time and the number of recorded events. */
static void print_clock(const struct summary *s)
{
    const struct past *p = s->past;
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    text_add(&t, "t=");
    quantity_add_time_short(&t, rdl_now_ns(s->lab));
    text_addf(&t, ", tick #%llu, %zu events recorded", (unsigned long long)rdl_tick(s->lab), p->n);
    if (p->forgotten)
        text_addf(&t, ", %llu older ones forgotten", (unsigned long long)p->forgotten);
    if (p->gap_from) {
        text_add(&t, "; ");
        past_add_gap(&t, p);
    }
    show_line(s->out, &t);
}

/* Number of lines without empty ones.  *@ret_parts is the number of parts to separate by empty
 * lines.
 */
static size_t lines_of(const struct summary *s, size_t *ret_parts)
{
    size_t lines = s->vms > 0 ? 2 : 1, parts = 1;

    for (size_t i = 0; i < ARRAY_LEN(sections); i++) {
        const size_t n = show_count(s->lab, "", sections[i].kind);

        if (n == 0)
            continue;
        lines += 1 + (n < sections[i].rows_shown ? n : sections[i].rows_shown);
        parts++;
    }
    lines += 1 + (s->waits.n < WAITS_SHOWN ? s->waits.n : WAITS_SHOWN);
    lines += 1 + (s->counts.all < DUE_SHOWN ? (size_t)s->counts.all : DUE_SHOWN);
    *ret_parts = parts;
    return lines;
}

static enum rdl_status print_text(struct summary *s)
{
    enum rdl_status st = RDL_OK;
    size_t parts;

    s->spaced = lines_of(s, &parts) + parts <= SCREEN;
    if (parts == 1)
        fputs("an empty lab: \"host h1 h2\" makes two hosts\n", s->out);
    for (size_t i = 0; i < ARRAY_LEN(sections) && st == RDL_OK; i++)
        st = print_section(s, &sections[i]);
    if (parts > 1) {
        print_under_way(s);
        print_due(s);
    }
    print_clock(s);
    return st;
}

static enum rdl_status print_json(struct summary *s)
{
    enum rdl_status st = RDL_OK;

    fprintf(s->out, "{\"time\":%llu,\"tick\":%llu,\"events\":%zu,\"forgotten\":%llu",
            (unsigned long long)rdl_now_ns(s->lab), (unsigned long long)rdl_tick(s->lab),
            s->past->n, (unsigned long long)s->past->forgotten);
    for (size_t i = 0; i < ARRAY_LEN(sections) && st == RDL_OK; i++) {
        fprintf(s->out, ",\n\"%s\":", sections[i].many);
        st = print_section(s, &sections[i]);
    }
    fprintf(s->out, ",\n\"frames_on_the_wire\":%llu,\"waits\":[",
            (unsigned long long)s->counts.frames);
    for (size_t i = 0; i < s->waits.n; i++) {
        fputs(i ? "," : "", s->out);
        print_json_string(s->out, s->waits.v[i].text);
    }
    fprintf(s->out, "],\n\"n_due\":%llu,\"due\":[", (unsigned long long)s->counts.all);
    for (size_t i = 0; i < s->due.n; i++) {
        fprintf(s->out, "%s{\"at\":%llu,\"frame\":%s,\"what\":", i ? "," : "",
                (unsigned long long)s->due.v[i].at_ns, s->due.v[i].is_frame ? "true" : "false");
        print_json_string(s->out, s->due.v[i].text);
        fputc('}', s->out);
    }
    fputs("]}\n", s->out);
    return st;
}

struct listing {
    const struct rdl_lab *lab;
    const struct section *section;
    struct rows *rows;
};

/* Adds one cell with all columns of the object: "lqpn=2 type=RC state=RTS". */
static void list_object(void *ctx, const char *path)
{
    struct listing *l = ctx;
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    for (size_t i = 0; i < columns_of(l->section); i++) {
        text_addf(&t, "%s%s=", i ? " " : "", head_of(l->section, i));
        tree_add(&t, l->lab, path, l->section->leaf[i]);
    }
    rows_text(l->rows, l->section->one);
    rows_text(l->rows, path);
    rows_text(l->rows, buf);
    rows_none(l->rows);
}

/* Prints the whole summary as one table. */
static enum rdl_status print_rows(struct summary *s)
{
    static const struct row_column columns[] = {
        {.name = "section"}, {.name = "name"}, {.name = "what"}, {.name = "at", .right = true}};
    enum rdl_status st = RDL_OK;
    struct rows r;

    rows_begin(&r, s->out, s->form, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < ARRAY_LEN(sections) && st == RDL_OK; i++) {
        struct listing l = {s->lab, &sections[i], &r};

        st = show_each(s->lab, "", sections[i].kind, list_object, &l);
    }
    for (size_t i = 0; i < s->waits.n; i++) {
        rows_text(&r, "waits");
        rows_none(&r);
        rows_text(&r, s->waits.v[i].text);
        rows_none(&r);
    }
    for (size_t i = 0; i < s->due.n; i++) {
        rows_text(&r, s->due.v[i].is_frame ? "frame" : "due");
        rows_none(&r);
        rows_text(&r, s->due.v[i].text);
        rows_time(&r, s->due.v[i].at_ns);
    }
    rows_end(&r, NULL);
    return st;
}

enum rdl_status show_summary(FILE *out, const struct rdl_lab *lab, const struct past *p,
                             enum show_form form)
{
    struct summary s = {.out = out, .lab = lab, .past = p, .form = form};
    enum rdl_status st;

    rdl_waits(lab, add_wait, &s);
    s.counts = rdl_due(lab, RDL_DUE_MAX, add_due, &s);
    st = show_each(lab, "", NODE_host, count_guest, &s);
    if (st == RDL_OK && form == SHOW_TEXT)
        st = print_text(&s);
    else if (st == RDL_OK)
        st = form == SHOW_JSON ? print_json(&s) : print_rows(&s);
    free(s.waits.v);
    free(s.due.v);
    return st;
}

enum rdl_status show_due(FILE *out, const struct rdl_lab *lab, enum show_form form)
{
    struct summary s = {.out = out, .lab = lab, .form = form};
    struct rows r;

    s.counts = rdl_due(lab, RDL_DUE_MAX, add_due, &s);
    rows_begin_table(&r, out, form, TABLE_DUE);
    for (size_t i = 0; i < s.due.n; i++) {
        const struct rdl_value frame = {.type = RDL_FLAG, .number = s.due.v[i].is_frame};

        rows_time(&r, s.due.v[i].at_ns);
        rows_value(&r, &frame);
        rows_text(&r, s.due.v[i].text);
    }
    rows_end(&r, "nothing is due: the lab is idle");
    if (form == SHOW_TEXT && s.counts.all > s.due.n)
        fprintf(out, "... %llu more, later than these\n",
                (unsigned long long)(s.counts.all - s.due.n));
    free(s.due.v);
    return RDL_OK;
}
