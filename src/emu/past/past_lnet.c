/* SPDX-License-Identifier: MIT */
#include "emu/past/past_lnet.h"

#include <string.h>

#include "emu/base/json.h"
#include "emu/base/text.h"
#include "emu/facts/enum/cm_message.h"
#include "emu/facts/opcode.h"
#include "emu/trace/event.h"
#include "emu/trace/names.h"
#include "emu/trace/render.h"
#include "emu/wire/lnet_gist.h"

/* Returns the number that event @e has in field @name; 0 if it has no such field. */
static uint64_t number_of(const struct ev *e, const char *name)
{
    const struct ev_field *f = ev_field_find(e->kind, name);

    return f ? ev_field_number(e, f) : 0;
}

/* Returns true if a packet with this opcode and message of the connection manager may have one. */
static bool may_carry(uint64_t opcode, uint64_t cm)
{
    const struct op_info *op = opcode <= UINT8_MAX ? op_info((uint8_t)opcode) : NULL;

    if (!op || !op->name)
        return false;
    if (op->service == OPS_UD)
        return cm == CM_REQ || cm == CM_REP || cm == CM_REJ;
    return op->service == OPS_RC && op->kind == OPK_SEND && op_starts(op);
}

/* Returns true if @e is about a frame that may have a message.  Switches pass frames on; those
 * events are left out.
 */
static bool is_about_one(const struct ev *e)
{
    switch (e->kind) {
    case EV_tx:
    case EV_rx:
    case EV_drop:
    case EV_lost:
    case EV_fault:
    case EV_port_out:
        return may_carry(number_of(e, "opcode"), number_of(e, "cm"));
    default:
        return false;
    }
}

/* Appends the words that are recorded for frame @id. */
static bool add_of_frame(struct text *t, const struct past *p, ev_id id)
{
    const char *words = p->lnet ? p->lnet(p->ctx, id) : NULL;
    struct lnet_found found;
    struct lnet_gist gist;
    const uint8_t *frame;
    size_t bytes = 0;

    if (words || id == 0) {
        text_add(t, words ? words : "");
        return words != NULL;
    }
    frame = p->frame ? past_frame(p, id, &bytes) : NULL;
    if (!frame || !lnet_in_frame(frame, bytes, &found))
        return false;
    gist = lnet_gist_of(&found);
    lnet_gist_add(t, &gist);
    return true;
}

bool past_add_lnet(struct text *t, const struct past *p, const struct ev *e, bool brief)
{
    char buf[PAST_LNET_BYTES];
    struct text words = text_on(buf, sizeof(buf));
    const bool has_own = e->kind == EV_tx || e->kind == EV_fault;

    if (!is_about_one(e))
        return false;
    /* A fault has the frame if it changed it. */
    if (!(has_own && add_of_frame(&words, p, e->id)) &&
        !add_of_frame(&words, p, (ev_id)number_of(e, "tx")))
        return false;
    text_addn(t, buf, brief ? strcspn(buf, ";") : words.len);
    return true;
}

static void add_behind(struct text *t, const struct past *p, const struct ev *e)
{
    char buf[PAST_LNET_BYTES];
    struct text words = text_on(buf, sizeof(buf));

    if (past_add_lnet(&words, p, e, false))
        text_addf(t, ", %s", buf);
}

void past_add_line(struct text *t, const struct past *p, const struct ev *e)
{
    ev_add_line(t, e, p->names);
    add_behind(t, p, e);
}

void past_add_text(struct text *t, const struct past *p, const struct ev *e)
{
    ev_add_text(t, e, p->names);
    add_behind(t, p, e);
}

void past_add_json(struct text *t, const struct past *p, const struct ev *e)
{
    char buf[PAST_LNET_BYTES];
    struct text words = text_on(buf, sizeof(buf));

    ev_add_json(t, e, p->names);
    if (t->cut || !past_add_lnet(&words, p, e, false))
        return;
    t->len--; /* the brace */
    text_add(t, ",\"lnet\":");
    json_add_string(t, buf);
    text_add(t, "}");
}
