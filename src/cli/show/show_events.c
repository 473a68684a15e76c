/* SPDX-License-Identifier: MIT */
#include "cli/show/show_events.h"

#include <string.h>

#include "cli/print/show_text.h"
#include "emu/base/quantity.h"

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

static bool passes(const struct event_filter *f, const struct ev *e)
{
    return ev_set_has(&f->kinds, e->kind) &&
           (f->host == EV_HOST_NONE || past_host_of(e) == f->host);
}

/* What goes wrong is red, what waits is yellow, what completes is green. */
static const char *colour_of(const struct ev *e)
{
    static const char red[] = "\033[31m", yellow[] = "\033[33m", green[] = "\033[32m";
    const struct ev_field *status = ev_field_find(e->kind, "status");

    switch (ev_schema(e->kind)->tone) {
    case EV_TONE_PLAIN:
        return NULL;
    case EV_TONE_GOOD:
        return green;
    case EV_TONE_WAIT:
        return yellow;
    case EV_TONE_BAD:
        return red;
    case EV_TONE_STATUS:
        return status && ev_field_number(e, status) == WCS_SUCCESS ? green : red;
    }
    return NULL;
}

/* @with_time: the time stands at the left where it has changed. */
static void print_event(FILE *out, const struct past *p, const struct ev *e, bool with_time,
                        bool colour)
{
    const char *on = colour ? colour_of(e) : NULL;
    char buf[EV_TEXT_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    if (with_time)
        quantity_add_time_short(&t, e->at_ns);
    text_pad_to(&t, COLUMN_TIME);
    ev_add_line(&t, e, p->names);
    if (on)
        fputs(on, out);
    show_line(out, &t);
    if (on)
        fputs("\033[0m", out);
}

/* Says what is missing among the events that follow. */
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

void show_events(FILE *out, const struct past *p, const struct event_filter *f, bool json,
                 bool colour)
{
    const size_t begin = past_lower_bound(p, f->from);
    size_t end = p->n, first, n = 0;
    uint64_t at_ns = UINT64_MAX;

    if (f->to)
        end = past_lower_bound(p, ev_id_last(f->to) + 1);
    first = end;
    while (first > begin && (f->last == 0 || n < f->last))
        n += passes(f, past_at(p, --first));
    if (json)
        fputc('[', out);
    else
        print_missing(out, p, f, begin == 0 && first == 0);
    n = 0;
    for (size_t i = first; i < end; i++) {
        const struct ev *e = past_at(p, i);
        char buf[EV_JSON_BYTES];
        struct text t = text_on(buf, sizeof(buf));

        if (!passes(f, e))
            continue;
        if (json) {
            ev_add_json(&t, e, p->names);
            fprintf(out, "%s%s", n ? ",\n" : "", buf);
        } else {
            print_event(out, p, e, e->at_ns != at_ns, colour);
        }
        at_ns = e->at_ns;
        n++;
    }
    if (json)
        fputs("]\n", out);
    else if (n == 0)
        fputs("no such events\n", out);
}
