/* SPDX-License-Identifier: MIT */
#include "cli/show/show_events.h"

#include <string.h>

#include "cli/show/show_rows.h"
#include "emu/base/assert.h"
#include "emu/base/quantity.h"
#include "emu/facts/enum/pci_function.h"
#include "emu/past/fold.h"
#include "emu/past/past_lnet.h"
#include "emu/trace/event.h"
#include "print/show_text.h"
#include "viz/event_colour.h"

#define COLUMN_TIME 9u

struct event_filter event_filter_all(void)
{
    return (struct event_filter){.kinds = ev_set_all, .host = EV_HOST_NONE};
}

bool event_filter_range(struct event_filter *f, const char *s)
{
    ev_id from = 0, to = 0;

    if (s[0] != '.') {
        s = ev_id_take(s, &from);
        if (!s)
            return false;
        to = from;
    }
    if (strncmp(s, "..", 2) == 0) {
        s += 2;
        to = 0;
        if (*s) {
            s = ev_id_take(s, &to);
            if (!s)
                return false;
        }
    } else if (from == 0) {
        return false;
    }
    if (*s)
        return false;
    f->from = from;
    f->to = to;
    return true;
}

bool event_filter_kinds(struct event_filter *f, const char *s, size_t *reterr_at)
{
    struct ev_set kinds = ev_set_none;

    for (size_t at = 0; s[at];) {
        char word[EV_NAME_BYTES];
        const size_t n = strcspn(s + at, ",");
        enum ev_kind kind = EV_COUNT;

        if (n < sizeof(word)) {
            memcpy(word, s + at, n);
            word[n] = '\0';
            kind = ev_kind_find(word);
        }
        if (kind == EV_COUNT) {
            *reterr_at = at;
            return false;
        }
        ev_set_add(&kinds, kind);
        at += n;
        at += s[at] == ',';
    }
    f->kinds = kinds;
    return true;
}

bool event_is_story(const struct ev *e)
{
    switch (e->kind) {
    case EV_kick:
        /* Queue 0 is the control queue. */
        return e->u.kick.function == FN_RDMA && e->u.kick.queue != 0;
    case EV_doorbell:
        return e->u.doorbell.queue != 0; /* not those that arm */
    case EV_switch_up:
    case EV_link_up:
    case EV_link_set:
    case EV_link_down:
    case EV_fault_made:
    case EV_fault_gone:
    case EV_gone:
    case EV_mem_write:
    case EV_poll:
        return true;
    default:
        return ev_is_for(e->kind, EV_FOR_STORY) || ev_is_for(e->kind, EV_FOR_LADDER) ||
               ev_is_for(e->kind, EV_FOR_NAMES);
    }
}

/* Returns true if @f accepts the event.  *@ret_routine is true if it is rejected only because it is
 * routine.
 */
static bool passes(const struct event_filter *f, const struct ev *e, bool *ret_routine)
{
    *ret_routine = false;
    if (!ev_set_has(&f->kinds, e->kind) || (f->host != EV_HOST_NONE && past_host_of(e) != f->host))
        return false;
    *ret_routine = f->story && !event_is_story(e);
    return !*ret_routine;
}

/* @with_time: print the time at the left. */
static void print_event(FILE *out, const struct past *p, const struct ev *e, bool with_time,
                        bool colour)
{
    const char *on = colour ? event_colour(e, p->names) : NULL;
    char buf[EV_TEXT_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    if (with_time)
        quantity_add_time_short(&t, e->at_ns);
    text_pad_to(&t, COLUMN_TIME);
    past_add_line(&t, p, e);
    if (on)
        fputs(on, out);
    show_line(out, &t);
    if (on)
        fputs(EVENT_COLOUR_END, out);
}

/* Prints which of the requested events are missing from the record. */
static void print_missing(FILE *out, const struct past *p, const struct event_filter *f,
                          bool from_the_first)
{
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    if (p->forgotten && from_the_first) {
        fprintf(out, "... %llu older events are forgotten\n", (unsigned long long)p->forgotten);
        if (f->from && past_is_forgotten(p, f->from)) {
            ev_add_id(&t, f->from);
            text_add(&t, " is one of them: ");
            past_add_absence(&t, p, f->from);
            show_wrap_behind(out, "", 4, buf);
            t = text_on(buf, sizeof(buf));
        }
    }
    if (!p->gap_from)
        return;
    text_add(&t, "... ");
    past_add_gap(&t, p);
    show_line(out, &t);
}

/* The range of events that contains those the filter accepts. */
struct chosen {
    size_t first, end;
    size_t n, n_routine; /* accepted; rejected only because they are routine */
};

static struct chosen choose(const struct past *p, const struct event_filter *f)
{
    const size_t begin = past_lower_bound(p, f->from);
    struct chosen c = {.end = p->n};
    bool routine;

    if (f->to)
        c.end = past_lower_bound(p, ev_id_last(f->to) + 1);
    c.first = c.end;
    while (c.first > begin && (f->last == 0 || c.n < f->last)) {
        c.n += passes(f, past_at(p, --c.first), &routine);
        c.n_routine += routine;
    }
    return c;
}

/* Prints the events as columns, for CSV and Markdown. */
static void print_flat(FILE *out, const struct past *p, const struct event_filter *f,
                       const struct chosen *c, enum show_form form)
{
    static const struct row_column columns[] = {{.name = "id"},
                                                {.name = "time", .right = true},
                                                {.name = "kind"},
                                                {.name = "host"},
                                                {.name = "text"}};
    struct rows r;
    bool routine;

    rows_begin(&r, out, form, columns, ARRAY_LEN(columns));
    for (size_t i = c->first; i < c->end; i++) {
        const struct ev *e = past_at(p, i);
        char buf[EV_TEXT_BYTES], host[EV_NAME_BYTES];
        struct text id = text_on(buf, sizeof(buf)), h = text_on(host, sizeof(host)), t;

        if (!passes(f, e, &routine))
            continue;
        ev_add_id(&id, e->id);
        rows_text(&r, buf);
        rows_time(&r, e->at_ns);
        rows_text(&r, ev_schema(e->kind)->name);
        if (past_host_of(e) != EV_HOST_NONE)
            ev_names_host(p->names, &h, past_host_of(e));
        rows_text(&r, host);
        t = text_on(buf, sizeof(buf));
        past_add_text(&t, p, e);
        rows_text(&r, buf);
    }
    rows_end(&r, NULL);
}

static void print_objects(FILE *out, const struct past *p, const struct event_filter *f,
                          const struct chosen *c, bool lines)
{
    bool routine;
    size_t n = 0;

    fputs(lines ? "" : "[", out);
    for (size_t i = c->first; i < c->end; i++) {
        char buf[PAST_JSON_BYTES];
        struct text t = text_on(buf, sizeof(buf));

        if (!passes(f, past_at(p, i), &routine))
            continue;
        past_add_json(&t, p, past_at(p, i));
        fprintf(out, "%s%s%s", n && !lines ? ",\n" : "", buf, lines ? "\n" : "");
        n++;
    }
    fputs(lines ? "" : "]\n", out);
}

/* Number of screen lines that the event takes. */
static unsigned lines_of(FILE *out, const struct past *p, const struct ev *e)
{
    const unsigned columns = show_columns_of_terminal(out, UINT32_MAX);
    char buf[EV_TEXT_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    text_pad_to(&t, COLUMN_TIME);
    past_add_line(&t, p, e);
    return 1 + (unsigned)(t.len / columns);
}

static void print_more(FILE *out, const char *again, size_t n, ev_id from)
{
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    text_addf(&t, "... %zu more: show events%s from=", n, again);
    ev_add_id(&t, from);
    show_line(out, &t);
}

/* Prints how to repeat the request with the word @word, which asks for more events. */
static void print_again(FILE *out, const char *word, const struct event_filter *f,
                        const struct event_look *look)
{
    fprintf(out, ": show events %s", word);
    if (f->last)
        fprintf(out, " last %zu", f->last);
    fputs(look->again ? look->again : "", out);
    if (look->from)
        fprintf(out, " from=%s", look->from);
    fputc('\n', out);
}

/* The lines that are being printed. */
struct event_lines {
    FILE *out;
    const struct past *p;
    const struct event_look *look;
    size_t n_chosen, n; /* events to print; printed or folded so far */
    size_t n_folded;
    uint64_t at_ns;
    unsigned lines;
    bool full; /* the screen is full, and the last line is printed */
};

/* Returns true if @lines more lines fit on the screen.  Otherwise prints the last one, about the
 * events from @from on.
 */
static bool fits(struct event_lines *l, unsigned lines, ev_id from)
{
    const char *again = l->look->again ? l->look->again : "";

    if (l->full)
        return false;
    l->lines += lines;
    l->full = l->look->lines_max && l->n && l->lines >= l->look->lines_max;
    if (l->full)
        print_more(l->out, again, l->n_chosen - l->n, from);
    return !l->full;
}

static void put_event(void *ctx, const struct ev *e)
{
    struct event_lines *l = ctx;

    if (!fits(l, lines_of(l->out, l->p, e), e->id))
        return;
    print_event(l->out, l->p, e, e->at_ns != l->at_ns, l->look->colour);
    l->at_ns = e->at_ns;
    l->n++;
}

static void put_folded(void *ctx, const struct folded *f)
{
    struct event_lines *l = ctx;
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    if (!fits(l, 1, f->from))
        return;
    text_pad_to(&t, COLUMN_TIME);
    text_add(&t, "... ");
    fold_add(&t, f);
    show_line(l->out, &t);
    l->n += f->n_rounds * f->n_lines;
    l->n_folded += f->n_rounds * f->n_lines;
}

static void print_lines(FILE *out, const struct past *p, const struct event_filter *f,
                        const struct chosen *c, const struct event_look *look)
{
    /* Two lines are for the command above, and for the next prompt. */
    struct event_lines l = {
        .out = out, .p = p, .look = look, .n_chosen = c->n, .at_ns = UINT64_MAX, .lines = 2};
    const struct fold_sink sink = {put_event, put_folded, &l};
    struct fold *fold = look->folds ? fold_new(&sink) : NULL;
    bool routine;

    for (size_t i = c->first; i < c->end && !l.full; i++) {
        const struct ev *e = past_at(p, i);

        if (!passes(f, e, &routine))
            continue;
        if (fold)
            fold_put(fold, e);
        else
            put_event(&l, e);
    }
    if (fold)
        fold_flush(fold);
    fold_free(fold);
    if (l.full)
        return;
    if (l.n == 0)
        fputs("no such events\n", out);
    if (l.n_folded) {
        fprintf(out, "... %zu are folded", l.n_folded);
        print_again(out, "full", f, look);
    }
    if (c->n_routine && (f->last == 0 || l.n == 0)) {
        fprintf(out, "... %zu of registers, control commands, rings and interrupts", c->n_routine);
        print_again(out, "all", f, look);
    }
}

void show_events_as(FILE *out, const struct past *p, const struct event_filter *f,
                    const struct event_look *look)
{
    const struct chosen c = choose(p, f);

    switch (look->form) {
    case SHOW_TEXT:
        print_missing(out, p, f, past_lower_bound(p, f->from) == 0 && c.first == 0);
        print_lines(out, p, f, &c, look);
        break;
    case SHOW_JSON:
    case SHOW_NDJSON:
        print_objects(out, p, f, &c, look->form == SHOW_NDJSON);
        break;
    case SHOW_CSV:
    case SHOW_MARKDOWN:
        print_flat(out, p, f, &c, look->form);
        break;
    }
}

void show_events(FILE *out, const struct past *p, const struct event_filter *f, bool json,
                 bool colour)
{
    const struct event_look look = {.form = json ? SHOW_JSON : SHOW_TEXT, .colour = colour};

    show_events_as(out, p, f, &look);
}
