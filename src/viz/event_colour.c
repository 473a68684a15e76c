/* SPDX-License-Identifier: MIT */
#include "viz/event_colour.h"

#include "emu/base/text.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/trace/event.h"
#include "viz/cells.h"
#include "viz/ladder_page.h"
#include "viz/ladder_words.h"

/* The tone of an event that is not drawn at a lifeline. */
static enum ladder_tone tone_of_kind(const struct ev *e)
{
    const struct ev_field *status = ev_field_find(e->kind, "status");

    switch (ev_schema(e->kind)->tone) {
    case EV_TONE_PLAIN:
        return TONE_PLAIN;
    case EV_TONE_GOOD:
        return TONE_DONE;
    case EV_TONE_WAIT:
        return TONE_TIMER;
    case EV_TONE_BAD:
        return TONE_BAD;
    case EV_TONE_STATUS:
        return status && ev_field_number(e, status) == WCS_SUCCESS ? TONE_DONE : TONE_BAD;
    }
    return TONE_PLAIN;
}

static enum ladder_tone tone_of(const struct ev *e, const struct ev_names *names)
{
    char note[LADDER_NOTE_BYTES];
    struct text t = text_on(note, sizeof(note));
    enum ladder_tone tone;

    switch (e->kind) {
    case EV_tx:
        return ladder_packet_tone(e->u.tx.opcode, e->u.tx.syndrome);
    case EV_timer:
        return TONE_TIMER;
    case EV_key:
        return e->u.key.rule ? TONE_BAD : TONE_PLAIN; /* a ladder draws those that are refused */
    default:
        break;
    }
    if (!ev_is_for(e->kind, EV_FOR_LADDER))
        return tone_of_kind(e);
    tone = ladder_say(&t, &(struct ladder_saying){.first = e, .n = 1, .names = names});
    if (t.len == 0)
        tone = TONE_PLAIN; /* it has no note there */
    if (e->kind == EV_rx && tone == TONE_PLAIN)
        return ladder_packet_tone(e->u.rx.opcode, e->u.rx.syndrome);
    return tone == TONE_PLAIN ? tone_of_kind(e) : tone;
}

const char *event_colour(const struct ev *e, const struct ev_names *names)
{
    const enum shade shade = page_shade(tone_of(e, names));

    return shade == SHADE_NONE ? NULL : shade_code(shade);
}
