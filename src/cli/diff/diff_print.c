/* SPDX-License-Identifier: MIT */
/* Prints the differences between two futures: events, frames, states, memory, and the ladders. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/diff/diff.h"
#include "cli/session/history.h"
#include "cli/session/session.h"
#include "emu/base/assert.h"
#include "emu/base/plural.h"
#include "emu/base/quantity.h"
#include "emu/facts/leaf.h"
#include "print/show_text.h"
#include "print/utf8.h"
#include "process/must.h"
#include "tree/tree.h"

#define STATES_SHOWN 24u
#define RANGES_SHOWN 12u
#define RANGES_MAX   10000u /* that are stored; more are only counted */
#define BYTES_SHOWN  8u     /* of a range */
#define NAME_COLUMNS 12u    /* minimum */
#define PATH_COLUMNS 36u
#define TEXT_BYTES   2048u

/* --- Lines ------------------------------------------------------------------------------------ */

/* Prints a paragraph.  Its first line begins with @lead, the others with @indent blanks. */
static void say_behind(struct session *s, const char *lead, unsigned indent, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
static void say_behind(struct session *s, const char *lead, unsigned indent, const char *fmt, ...)
{
    char said[TEXT_BYTES], shown[2 * TEXT_BYTES];
    struct text t = text_on(said, sizeof(said)), u = text_on(shown, sizeof(shown));
    va_list args;

    if (!s->config.verbose || s->display.shown.full)
        return;
    va_start(args, fmt);
    text_addv(&t, fmt, args);
    va_end(args);
    utf8_add_printable(&u, said, false);
    if (lead[0])
        show_wrap_behind(s->config.out, lead, indent, shown);
    else
        show_hanging(s->config.out, indent, shown);
}

/* Appends "#54, t=17.5us". */
static void add_moment(struct text *t, const struct moment *m)
{
    text_addf(t, "#%llu, t=", (unsigned long long)m->tick);
    quantity_add_time_short(t, m->ns);
}

static bool is_same_moment(const struct moment *a, const struct moment *b)
{
    return a->tick == b->tick && a->ns == b->ns;
}

/* Appends @ns, exactly if the rounded form would be equal to that of a different @other. */
static void add_time(struct text *t, uint64_t ns, uint64_t other)
{
    char x[32], y[32];
    struct text u = text_on(x, sizeof(x)), v = text_on(y, sizeof(y));

    quantity_add_time_short(&u, ns);
    quantity_add_time_short(&v, other);
    if (ns != other && strcmp(x, y) == 0)
        quantity_add(t, QUANTITY_TIME, ns);
    else
        text_add(t, x);
}

/* Appends both moments: the name of a, @at, "#54, t=17.5us", @between, then the same for b.  Times
 * that would look equal are exact.
 */
static void add_both(struct text *t, const struct diff *d, const struct moment *a,
                     const struct moment *b, const char *at, const char *between)
{
    text_addf(t, "%s%s#%llu, t=", d->a.name, at, (unsigned long long)a->tick);
    add_time(t, a->ns, b->ns);
    text_addf(t, "%s%s%s#%llu, t=", between, d->b.name, at, (unsigned long long)b->tick);
    add_time(t, b->ns, a->ns);
}

/* --- Differences between the states ----------------------------------------------------------- */

/* Order of the differences: those nearest to a cause come first. */
enum rank { RANK_CAUSE, RANK_STATE, RANK_NUMBER, RANK_DETAIL };

struct state_difference {
    struct tree_difference d;
    enum rank rank;
};

struct diff_found {
    struct state_difference *states;
    size_t n_states, room;
    struct tree_memory_difference *ranges; /* the first RANGES_MAX */
    size_t n_ranges;
    struct tree_memory_compared memory;
};

static enum rank rank_of(const struct tree_difference *d)
{
    const struct leaf_row *row = &leaf_rows[d->row];
    const bool whole = !d->a || !d->b; /* a node that only one future has */
    const char *point = whole ? memchr(d->path, '.', d->node_bytes) : NULL;

    /* A host, a fault or h1.qp is ranked as a whole, not by its first leaf. */
    if (whole && !point)
        return row->node == NODE_fault || row->node == NODE_link ? RANK_CAUSE : RANK_STATE;
    if (whole && !memchr(point + 1, '.', d->node_bytes - (size_t)(point + 1 - d->path)) &&
        !memchr(point + 1, '[', d->node_bytes - (size_t)(point + 1 - d->path)))
        return RANK_STATE;
    if (tree_state_is_detail(d->row))
        return RANK_DETAIL;
    if (row->node == NODE_fault || row->node == NODE_link)
        return RANK_CAUSE;
    if (whole || row->type == TYPE_WORD || row->type == TYPE_FLAG || row->type == TYPE_SET ||
        row->type == TYPE_TEXT)
        return RANK_STATE;
    return row->node == NODE_queue || row->node == NODE_driver_side || row->node == NODE_device_side
               ? RANK_DETAIL
               : RANK_NUMBER;
}

static void find_state(void *ctx, const struct tree_difference *d)
{
    struct diff_found *f = ctx;

    f->states = must_grow(f->states, f->n_states, &f->room, sizeof(*f->states));
    f->states[f->n_states++] = (struct state_difference){*d, rank_of(d)};
}

static int by_rank(const void *a, const void *b)
{
    const struct state_difference *x = a, *y = b;

    return x->rank != y->rank ? (x->rank > y->rank) - (x->rank < y->rank)
                              : strcmp(x->d.path, y->d.path);
}

static void find_range(void *ctx, const struct tree_memory_difference *d)
{
    struct diff_found *f = ctx;

    if (f->n_ranges == 0)
        f->ranges = must_malloc(RANGES_MAX * sizeof(*f->ranges));
    if (f->n_ranges < RANGES_MAX)
        f->ranges[f->n_ranges] = *d;
    f->n_ranges++;
}

static struct diff_found find(const struct diff *d)
{
    struct diff_found f = {.states = NULL};

    tree_state_compare(&d->a.state, &d->b.state, find_state, &f);
    if (f.n_states > 0)
        qsort(f.states, f.n_states, sizeof(*f.states), by_rank);
    f.memory = tree_memory_compare(&d->a.memory, &d->b.memory, find_range, &f);
    return f;
}

/* Number of lines to print of @n: at most @some, unless all are requested. */
static size_t shown_of(const struct diff *d, size_t n, size_t some)
{
    return d->all || n < some ? n : some;
}

static void say_more(struct session *s, const struct diff *d, size_t n)
{
    if (n == 0)
        return;
    session_say(s, "  ... and %zu more", n);
    if (!d->all)
        session_say(s, "; \"diff %s %s all\" shows them", d->a.name, d->b.name);
    session_say(s, "\n");
}

static void say_state(struct session *s, const struct tree_difference *d)
{
    const bool whole = !d->a || !d->b;
    char lead[TREE_PATH_BYTES + PATH_COLUMNS];
    struct text t = text_on(lead, sizeof(lead));

    text_addf(&t, "  %-*.*s  ", (int)PATH_COLUMNS, (int)(whole ? d->node_bytes : strlen(d->path)),
              d->path);
    if (whole)
        say_behind(s, lead, 6, "%s", d->a ? "there | not there" : "not there | there");
    else
        say_behind(s, lead, 6, "%s | %s", d->a[0] ? d->a : "\"\"", d->b[0] ? d->b : "\"\"");
}

/* Prints the moments of the states that follow. */
static void say_moments(struct session *s, const struct diff *d)
{
    char buf[256];
    struct text t = text_on(buf, sizeof(buf));

    if (is_same_moment(&d->a.there, &d->b.there)) {
        text_addf(&t, "%s | %s at the end of ", d->a.name, d->b.name);
        add_moment(&t, &d->a.there);
    } else {
        add_both(&t, d, &d->a.there, &d->b.there, " at the end of ", " | ");
    }
    say_behind(s, "state of ", 4, "%s:", buf);
}

static void say_states(struct session *s, const struct diff *d, const struct diff_found *f)
{
    const size_t n = shown_of(d, f->n_states, STATES_SHOWN);

    say_moments(s, d);
    for (size_t i = 0; i < n; i++)
        say_state(s, &f->states[i].d);
    if (f->n_states == 0)
        session_say(s, "  no difference\n");
    say_more(s, d, f->n_states - n);
}

/* --- Differences between the memories --------------------------------------------------------- */

static void add_bytes(struct text *t, const uint8_t *bytes, uint64_t n)
{
    text_add_hex(t, bytes, n < BYTES_SHOWN ? (size_t)n : BYTES_SHOWN, "");
    if (n > BYTES_SHOWN)
        text_add(t, "..");
}

static void say_range(struct session *s, const struct tree_memory_difference *r)
{
    char lead[TREE_PATH_BYTES + PATH_COLUMNS], bytes[8 * BYTES_SHOWN];
    struct text t = text_on(lead, sizeof(lead)), u = text_on(bytes, sizeof(bytes));

    text_addf(&t, "  %s[%llu:%llu]", r->path, (unsigned long long)r->from,
              (unsigned long long)r->to);
    text_pad_to(&t, 2 + PATH_COLUMNS);
    text_add(&t, "  ");
    add_bytes(&u, r->a, r->to - r->from);
    text_add(&u, " | ");
    add_bytes(&u, r->b, r->to - r->from);
    say_behind(s, lead, 6, "%s", bytes);
}

static void say_skipped(struct session *s, const struct tree_memory_compared *m)
{
    char size[32];
    struct text t = text_on(size, sizeof(size));

    if (!m->skipped)
        return;
    quantity_add(&t, QUANTITY_SIZE, m->skipped->n);
    if (m->n_skipped > 1)
        text_addf(&t, ", and %zu more", m->n_skipped - 1);
    say_behind(s, "  ", 6, "not compared: %s, %s; of a future at most %um are looked at",
               m->skipped->path, size, TREE_MEMORY_BYTES_MAX >> 20);
}

static void say_memory(struct session *s, const struct diff *d, const struct diff_found *f)
{
    const size_t kept = f->n_ranges < RANGES_MAX ? f->n_ranges : RANGES_MAX;
    const size_t n = shown_of(d, kept, RANGES_SHOWN);
    const struct tree_memory_compared *m = &f->memory;
    char size[32];
    struct text t = text_on(size, sizeof(size));

    if (m->n_regions == 0 && m->n_skipped == 0)
        return;
    quantity_add(&t, QUANTITY_SIZE, m->bytes);
    session_say(s, "memory there, %s in %zu region%s:\n", size, m->n_regions,
                plural_s(m->n_regions));
    for (size_t i = 0; i < n; i++)
        say_range(s, &f->ranges[i]);
    if (m->n_regions > 0 && f->n_ranges == 0)
        session_say(s, "  no difference\n");
    say_more(s, d, f->n_ranges - n);
    say_skipped(s, m);
}

/* --- Events and frames ------------------------------------------------------------------------ */

static unsigned name_columns(const struct diff *d)
{
    const size_t a = strlen(d->a.name), b = strlen(d->b.name);
    const size_t n = a > b ? a : b;

    return n > NAME_COLUMNS ? (unsigned)n : NAME_COLUMNS;
}

static void say_side(struct session *s, const struct diff *d, const struct diff_side *side)
{
    char lead[2 * RDL_NAME_BYTES + NAME_COLUMNS], end[64];
    struct text t = text_on(lead, sizeof(lead)), u = text_on(end, sizeof(end));

    text_addf(&t, "  %-*s  ", (int)name_columns(d), side->name);
    add_moment(&u, &side->end);
    if (side->parts)
        say_behind(s, lead, name_columns(d) + 4, "%s", side->event);
    else if (!side->missing[0])
        say_behind(s, lead, name_columns(d) + 4, "nothing more happens; it ends at %s", end);
    else
        say_behind(s, lead, name_columns(d) + 4,
                   "nothing more up to #%llu, and it is not known what came then",
                   (unsigned long long)side->sure_until);
}

/* Prints which events are missing in each future. */
static void say_missing(struct session *s, const struct diff *d)
{
    const struct diff_side *const sides[] = {&d->a, &d->b};

    for (size_t i = 0; i < ARRAY_LEN(sides); i++) {
        if (sides[i]->missing[0])
            say_behind(s, "  ", 4, "%s: %s", sides[i]->name, sides[i]->missing);
    }
}

static void say_parting(struct session *s, const struct diff *d)
{
    const ev_id a = d->a.parts, b = d->b.parts;
    const bool nothing = d->n_same == 0 && d->a.common == 0;

    session_say(s, "%s and %s part in #%llu%s:\n", d->a.name, d->b.name,
                (unsigned long long)ev_tick(a && (a < b || !b) ? a : b),
                nothing ? ", and have nothing in common" : "");
    say_side(s, d, &d->a);
    say_side(s, d, &d->b);
    say_missing(s, d);
}

static void say_same_events(struct session *s, const struct diff *d)
{
    const unsigned long long common = d->a.common;

    if (!d->is_sure)
        say_behind(s, "", 4,
                   "as far as they are recorded, the same events happened in %s and %s: %zu behind "
                   "#%llu were compared, and some are missing",
                   d->a.name, d->b.name, d->n_same, common);
    else if (d->n_same == 0)
        say_behind(s, "", 4, "no event happened in %s and %s behind #%llu", d->a.name, d->b.name,
                   common);
    else
        say_behind(s, "", 4, "the same events happened in %s and %s: %zu behind #%llu", d->a.name,
                   d->b.name, d->n_same, common);
    say_missing(s, d);
}

/* Appends "52 bytes | 60 bytes" or "byte 58 is 7a | 79, and 6 of its 126 bytes differ". */
static void add_frame_difference(struct text *t, const struct diff *d)
{
    const uint8_t *a = d->a.frame, *b = d->b.frame;
    const size_t n = d->a.frame_bytes;
    size_t first = n, n_differ = 0;

    if (n != d->b.frame_bytes) {
        text_addf(t, "%zu bytes | %zu bytes", n, d->b.frame_bytes);
        return;
    }
    for (size_t i = n; i > 0; i--) {
        if (a[i - 1] != b[i - 1]) {
            first = i - 1;
            n_differ++;
        }
    }
    if (first == n)
        return;
    text_addf(t, "byte %zu is %02x | %02x", first, a[first], b[first]);
    if (n_differ > 1)
        text_addf(t, ", and %zu of its %zu bytes differ", n_differ, n);
}

static void say_frames(struct session *s, const struct diff *d)
{
    char buf[256];
    struct text t = text_on(buf, sizeof(buf));

    if (d->n_differ > 0 && d->a.frame && d->b.frame) {
        text_add(&t, "the first frame that differs is ");
        ev_add_id(&t, d->a.v[d->first].id);
        text_add(&t, ": ");
        add_frame_difference(&t, d);
        if (d->n_differ > 1)
            text_addf(&t, "; %zu of %zu frames differ", d->n_differ, d->n_frames);
        say_behind(s, "", 4, "%s", buf);
    }
    if (d->n_gone > 0)
        say_behind(s, "", 4, "%zu frame%s not compared: %s bytes are not recorded any more",
                   d->n_gone, d->n_gone == 1 ? " was" : "s were", d->n_gone == 1 ? "its" : "their");
}

/* --- Ladders ---------------------------------------------------------------------------------- */

/* Prints one line of a picture, padded to @width columns.  Returns the next line. */
static const char *say_line(struct session *s, const char *from, unsigned width)
{
    const size_t n = strcspn(from, "\n");
    size_t columns = 0;

    for (size_t i = 0; i < n; i++)
        /* Count characters, not their continuation bytes. */
        columns += ((unsigned char)from[i] & 0xc0) != 0x80;
    session_say(s, "%.*s%*s", (int)n, from, columns < width ? (int)(width - columns) : 0, "");
    return from[n] ? from + n + 1 : from + n;
}

/* Prints how to see the rest of a ladder. */
static void say_cut(struct session *s, const struct diff_side *side)
{
    char id[48];
    struct text t = text_on(id, sizeof(id));

    if (!side->is_cut)
        return;
    ev_add_id(&t, side->parts);
    if (strcmp(side->name, futures_current(&s->history->futures)) == 0)
        say_behind(s, "", 4, "\"goto end; export ladder - from=%s packets=1000\" draws more of %s",
                   id, side->name);
    else
        say_behind(s, "", 4,
                   "\"future %s; goto end; export ladder - from=%s packets=1000\" draws more of it",
                   side->name, id);
}

/* Returns the ladder, or the reason why there is none. */
static const char *picture_of(const struct diff_side *side)
{
    return side->ladder       ? side->ladder
           : side->missing[0] ? "not all that happened is recorded\n"
                              : "nothing more happens\n";
}

static void say_ladders(struct session *s, const struct diff *d)
{
    const char *x = picture_of(&d->a), *y = picture_of(&d->b);

    session_say(s, "from there on:\n");
    if (!d->side_by_side) {
        session_say(s, "%s\n%s\n%s\n%s", d->a.name, x, d->b.name, y);
    } else {
        session_say(s, "%-*s    %s\n", (int)d->width, d->a.name, d->b.name);
        while (*x || *y) {
            x = say_line(s, x, d->width);
            session_say(s, " |  ");
            y = say_line(s, y, 0);
            session_say(s, "\n");
        }
    }
    say_cut(s, &d->a);
    say_cut(s, &d->b);
}

/* --- The whole comparison --------------------------------------------------------------------- */

/* Returns true if everything was compared and is equal. */
static bool is_same(const struct diff *d, const struct diff_found *f)
{
    return d->is_sure && !d->a.parts && !d->b.parts && d->n_differ == 0 && d->n_gone == 0 &&
           f->n_states == 0 && f->n_ranges == 0 && f->memory.n_skipped == 0;
}

static void say_same(struct session *s, const struct diff *d, const struct diff_found *f)
{
    char buf[512];
    struct text t = text_on(buf, sizeof(buf));

    if (d->n_same > 0)
        text_addf(&t, "%zu event%s behind #%llu, the bytes of %zu frame%s", d->n_same,
                  plural_s(d->n_same), (unsigned long long)d->a.common, d->n_frames,
                  plural_s(d->n_frames));
    else
        text_addf(&t, "what was done up to #%llu, behind which no event is",
                  (unsigned long long)d->a.common);
    text_addf(&t, ", %zu values of the state, ", d->a.state.n);
    quantity_add(&t, QUANTITY_SIZE, f->memory.bytes);
    text_addf(&t, " in %zu memory region%s", f->memory.n_regions, plural_s(f->memory.n_regions));
    say_behind(s, "", 4, "the same happened in %s and %s; compared: %s", d->a.name, d->b.name, buf);
}

static void say_ends(struct session *s, const struct diff *d)
{
    char buf[256];
    struct text t = text_on(buf, sizeof(buf));

    if (is_same_moment(&d->a.end, &d->b.end))
        return;
    add_both(&t, d, &d->a.end, &d->b.end, " ends at ", "; ");
    say_behind(s, "", 4, "%s", buf);
}

void diff_print(struct session *s, const struct diff *d)
{
    const bool parted = d->a.parts || d->b.parts;
    struct diff_found f = find(d);

    if (parted)
        say_parting(s, d);
    else if (is_same(d, &f))
        say_same(s, d, &f);
    else
        say_same_events(s, d);
    if (!parted)
        say_ends(s, d);
    say_frames(s, d);
    if (!is_same(d, &f)) {
        say_states(s, d, &f);
        say_memory(s, d, &f);
    }
    if (parted)
        say_ladders(s, d);
    free(f.states);
    free(f.ranges);
}
