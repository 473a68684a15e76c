/* SPDX-License-Identifier: MIT */
#include "cli/timeline/timeline.h"

#include <stdlib.h>

#include "cli/export/export.h"
#include "cli/timeline/timeline_events.h"
#include "cli/timeline/timeline_frames.h"
#include "cli/timeline/timeline_page.h"
#include "cli/timeline/timeline_put.h"
#include "cli/why/fate_text.h"
#include "emu/base/assert.h"
#include "emu/trace/event.h"
#include "print/version.h"
#include "process/must.h"
#include "viz/file_sink.h"
#include "viz/ladder_model.h"
#include "viz/svg.h"

#define NOTICE_BYTES 512u

struct timeline {
    FILE *out;
    const struct past *past;
    const struct timeline_options *options;
    struct ladder *ladder;
    struct past_index *index;
    struct timeline_events events;
    struct timeline_frames frames;
    uint32_t n_without; /* packets whose bytes are not known */
};

/* Flags of arrows in the page. */
enum { ARROW_AGAIN = 1, ARROW_COPY = 2, ARROW_INJECTED = 4 };

/* Flags of stops. */
enum { STOP_ON_WIRE = 1, STOP_CALL = 2 };

static void put_columns(const struct timeline *t)
{
    fputs("\"columns\":[", t->out);
    for (uint32_t c = 0; c < t->ladder->n_columns; c++) {
        fputs(c ? ",[" : "[", t->out);
        put_string(t->out, t->ladder->columns[c].name);
        fputc(',', t->out);
        put_string(t->out, t->ladder->columns[c].addr);
        fputc(']', t->out);
    }
    fputs("],\n", t->out);
}

/* Writes the tones, [class, name in the filter], and numbers that stand in stops and arrows. */
static void put_words(FILE *out)
{
    static const char *const tones[] = {
#define TONE(NAME, word, label) "\"" #word "\",\"" label "\"",
#include "viz/ladder_tones.def"
#undef TONE
    };

    fputs("\"tones\":[", out);
    for (size_t i = 0; i < ARRAY_LEN(tones); i++)
        fprintf(out, "%s[%s]", i ? "," : "", tones[i]);
    fprintf(out,
            "],\n\"is\":{\"onWire\":%u,\"call\":%u,\"again\":%u,\"copy\":%u,\"injected\":%u,"
            "\"unknown\":%u,\"arrived\":%u},\n",
            STOP_ON_WIRE, STOP_CALL, ARROW_AGAIN, ARROW_COPY, ARROW_INJECTED,
            (unsigned)FATE_UNKNOWN, (unsigned)FATE_ARRIVED);
}

/* Writes @lead, and a number that may be LADDER_NONE, which becomes -1. */
static void put_index(FILE *out, const char *lead, uint32_t i)
{
    fprintf(out, "%s%lld", lead, i == LADDER_NONE ? -1ll : (long long)i);
}

/* Writes the stops: [event, column, tone, note, pause, flags, ns].  The event is the distance from
 * that of the stop before.  The time is only that of a call: other stops have that of their event.
 * Calls without any event near them have no place, and are left out.
 */
static void put_stops(const struct timeline *t)
{
    const uint32_t n_stops = t->events.n ? t->ladder->n_stops : 0;
    long long before = 0;

    fputs("\"stops\":[", t->out);
    for (uint32_t i = 0; i < n_stops; i++) {
        const struct ladder_stop *s = &t->ladder->stops[i];
        const long long event = timeline_event(&t->events, s);
        const unsigned flags = (s->on_wire ? STOP_ON_WIRE : 0u) | (s->is_call ? STOP_CALL : 0u);
        char gap[64];
        struct text g = text_on(gap, sizeof(gap));

        if (s->gap_ns)
            ladder_add_gap(&g, s);
        fprintf(t->out, "%s\n[%lld,%u,%u,", i ? "," : "", event - before, s->column,
                (unsigned)s->tone);
        put_string(t->out, s->note);
        if (gap[0] || flags) {
            fputc(',', t->out);
            put_string(t->out, gap);
        }
        if (flags)
            fprintf(t->out, ",%u", flags);
        if (s->is_call)
            fprintf(t->out, ",%llu", (unsigned long long)s->at_ns);
        fputc(']', t->out);
        before = event;
    }
    fputs("],\n", t->out);
}

/* Writes what happened to the packet, as `show packet` says it. */
static void put_fate(const struct timeline *t, const struct ladder_arrow *a)
{
    const struct ev *tx = past_find(t->past, a->id);
    char buf[2 * EV_TEXT_BYTES];
    struct text s = text_on(buf, sizeof(buf));

    if (tx && tx->kind == EV_tx && !a->copy)
        fate_add(&s, t->index, tx);
    put_string(t->out, buf);
}

/* Writes the bytes of frame @id.  Returns their number in the page, or LADDER_NONE. */
static uint32_t put_frame(struct timeline *t, ev_id id)
{
    size_t n = 0;
    const uint8_t *bytes = id ? past_frame(t->past, id, &n) : NULL;
    const struct ev *e = id && !bytes ? past_find(t->past, id) : NULL;

    t->n_without += e && e->kind == EV_tx && event_has_frame(e);
    return bytes ? timeline_frame_put(&t->frames, bytes, n) : LADDER_NONE;
}

/* Writes the arrows: [from, to, tail, head, tone, fate, flags, label, end, beyond, frame, changed
 * frame, what happened, original].  The frames have been written in their order.
 */
static void put_arrows(const struct timeline *t, const uint32_t *frames)
{
    fputs("\"arrows\":[", t->out);
    for (uint32_t i = 0; i < t->ladder->n_arrows; i++) {
        const struct ladder_arrow *a = &t->ladder->arrows[i];

        fprintf(t->out, "%s\n[%u,%u", i ? "," : "", a->from, a->to);
        put_index(t->out, ",", a->tail);
        put_index(t->out, ",", a->head);
        fprintf(t->out, ",%u,%u,%u,", (unsigned)a->tone, (unsigned)a->fate,
                (a->again ? ARROW_AGAIN : 0u) | (a->copy ? ARROW_COPY : 0u) |
                    (a->injected ? ARROW_INJECTED : 0u));
        put_string(t->out, a->label);
        fputc(',', t->out);
        put_string(t->out, a->end);
        fputc(',', t->out);
        put_string(t->out, a->beyond);
        put_index(t->out, ",", frames[2 * (size_t)i]);
        put_index(t->out, ",", frames[2 * (size_t)i + 1]);
        fputc(',', t->out);
        put_fate(t, a);
        put_index(t->out, ",", a->copy_of);
        fputc(']', t->out);
    }
    fputs("],\n", t->out);
}

/* Writes the timers: [stop where it was armed, stop where it fired]. */
static void put_timers(const struct timeline *t)
{
    fputs("\"timers\":[", t->out);
    for (uint32_t i = 0; i < t->ladder->n_timers; i++) {
        put_index(t->out, i ? ",[" : "[", t->ladder->timers[i].armed);
        put_index(t->out, ",", t->ladder->timers[i].fired);
        fputc(']', t->out);
    }
    fputs("],\n", t->out);
}

static void put_notice(FILE *out, const char *s, bool *begun)
{
    if (!s[0])
        return;
    fputs(*begun ? "," : "", out);
    put_string(out, s);
    *begun = true;
}

/* Appends a sentence about the packets without bytes.  Appends nothing if there are none. */
static void add_no_bytes(struct text *s, const struct timeline *t)
{
    if (t->n_without == 0)
        return;
    if (!t->options->no_bytes && !t->past->without_frames) {
        past_add_frames_forgotten(s, t->past, t->n_without);
        return;
    }
    text_addf(s, "%u packet%s no bytes here: ", t->n_without,
              t->n_without == 1 ? " has" : "s have");
    text_add(s, t->options->no_bytes
                    ? t->options->no_bytes
                    : "a saved trace has none, so that it cannot know headers, payload and ICRC");
}

/* Writes sentences about everything that the page does not have. */
static void put_notices(const struct timeline *t)
{
    char buf[NOTICE_BYTES];
    struct text s = text_on(buf, sizeof(buf));
    bool begun = false;

    fputs("\"notices\":[", t->out);
    put_notice(t->out, t->ladder->missing, &begun);
    picture_add_left(&s, &t->ladder->left);
    text_add(&s, t->ladder->left.from ? ": from, to and packets choose others" : "");
    put_notice(t->out, buf, &begun);
    s = text_on(buf, sizeof(buf));
    add_no_bytes(&s, t);
    put_notice(t->out, buf, &begun);
    fputs("],\n", t->out);
}

/* Writes how much of long payloads the page has, or an empty text if it has all of them. */
static void put_kept(const struct timeline *t)
{
    char buf[NOTICE_BYTES];
    struct text s = text_on(buf, sizeof(buf));

    if (t->frames.n_cut)
        text_addf(&s, "Only the first %u bytes of a payload are kept.", t->frames.field_bytes);
    fputs("\"kept\":", t->out);
    put_string(t->out, buf);
    fputs(",\n", t->out);
}

static void put_data(struct timeline *t)
{
    const struct ladder *l = t->ladder;
    uint32_t *frames = must_malloc((2 * (size_t)l->n_arrows + 1) * sizeof(*frames));

    fputs("{\"version\":1,\n\"rdmalab\":", t->out);
    put_string(t->out, RDMALAB_VERSION);
    fputs(",\n\"title\":", t->out);
    put_string(t->out, l->title);
    fprintf(t->out, ",\n\"usual\":%llu,\n", (unsigned long long)l->usual_ns);
    put_words(t->out);
    put_columns(t);
    timeline_events_put(t->out, &t->events);
    put_stops(t);
    put_timers(t);
    timeline_frames_begin(&t->frames, t->out, l->n_arrows);
    for (uint32_t i = 0; i < l->n_arrows; i++) {
        frames[2 * (size_t)i] = l->arrows[i].copy ? LADDER_NONE : put_frame(t, l->arrows[i].id);
        frames[2 * (size_t)i + 1] = put_frame(t, l->arrows[i].also);
    }
    timeline_frames_end(&t->frames);
    put_arrows(t, frames);
    put_notices(t);
    put_kept(t);
    fputs("\"end\":0}", t->out);
    free(frames);
}

static void put_page(struct timeline *t)
{
    const struct viz_sink sink = file_sink(t->out);

    fputs(TIMELINE_MARK, t->out);
    fwrite(page_head, 1, sizeof(page_head), t->out);
    svg_put_escaped(&sink, t->ladder->title[0] ? t->ladder->title : "timeline");
    fwrite(page_middle, 1, sizeof(page_middle), t->out);
    put_data(t);
    fwrite(page_tail, 1, sizeof(page_tail), t->out);
}

enum rdl_status timeline_write(FILE *out, const struct past *p,
                               const struct timeline_options *options)
{
    const struct picture_options picture = {
        .title = options->title,
        .from = options->from,
        .to = options->to,
        .n_packets = options->n_packets ? options->n_packets : TIMELINE_PACKETS_MAX,
        .all_rounds = true,
    };
    struct timeline t = {.out = out, .past = p, .options = options};
    const enum rdl_status st = ladder_new(p, &picture, &t.ladder);

    if (st != RDL_OK)
        return st;
    t.index = fate_index(p);
    timeline_events_init(&t.events, p, t.ladder);
    put_page(&t);
    timeline_events_done(&t.events);
    past_index_free(t.index);
    if (options->ret_left)
        *options->ret_left = t.ladder->left;
    ladder_free(t.ladder);
    return RDL_OK;
}
