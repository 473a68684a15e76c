/* SPDX-License-Identifier: MIT */
/* Faults of links: drop, duplicate, delay, reorder, corrupt, truncate, mark, forge; and clear. */
#include <string.h>

#include "cli/cmd/commands.h"
#include "cli/cmd/fault_counts.h"
#include "cli/cmd/limit.h"
#include "cli/cmd/link.h"
#include "cli/session/resolve.h"
#include "cli/session/unmet.h"
#include "emu/base/plural.h"
#include "emu/base/quantity.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/packet_class.h"
#include "emu/facts/enum/syndrome.h"
#include "emu/facts/opcode.h"
#include "emu/past/fate.h"
#include "emu/trace/kind.h"
#include "emu/wire/field.h"
#include "rdmalab/fault.h"
#include "rdmalab/inspect.h"
#include "rdmalab/port.h"
#include "tree/tree.h"

#define SAID_BYTES 512u /* a condition may be long */

static uint32_t syndrome_of(const struct step *st)
{
    if (step_has(st, "ack"))
        return SYN_ACK;
    if (step_has(st, "nak"))
        return SYN_NAK_PSN_SEQUENCE;
    return (uint32_t)step_number_or(st, "syndrome", RDL_ANY);
}

/* Returns the name of a packet class in messages. */
static const char *class_name(uint32_t class)
{
    static const char *const names[] = {
        [PKC_REQUEST] = "request",
        [PKC_ANSWER] = "answer",
        [PKC_SEND] = "SEND",
        [PKC_WRITE] = "WRITE",
        [PKC_READ_REQUEST] = "READ request",
        [PKC_READ_RESPONSE] = "READ response",
        [PKC_ATOMIC_REQUEST] = "atomic request",
        [PKC_ATOMIC_RESPONSE] = "atomic response",
        [PKC_ACK] = "ACK",
        [PKC_NAK] = "NAK",
        [PKC_RNR_NAK] = "RNR NAK",
    };

    return names[class];
}

/* "the next RC_SEND_ONLY frame", "the 2nd READ response", "every frame" */
static void add_which(struct text *t, const struct rdl_fault_config *f)
{
    const bool many = f->count > 1 && f->count != RDL_ANY && f->every < 2;

    text_add_which(t, f->nth, f->every, f->count);
    if (f->opcode != RDL_ANY)
        text_addf(t, " %s", enum_name(&enum_opcode, f->opcode));
    if (f->syndrome != RDL_ANY)
        text_addf(t, " %s", enum_name(&enum_syndrome, f->syndrome));
    if (f->cm)
        text_addf(t, " %s", enum_name(&enum_cm_message, f->cm));
    if (!f->cm || f->packet_class)
        text_addf(t, " %s", f->packet_class ? class_name(f->packet_class) : "frame");
    text_add(t, many ? "s" : "");
}

/* Appends which packets and whose: " with psn=101 that h1 sends" */
static void add_whose(struct text *t, const struct step *st, const struct rdl_fault_config *f)
{
    if (f->psn != RDL_ANY)
        text_addf(t, " with psn=%u", f->psn);
    if (f->message) {
        text_add(t, " of the ");
        text_add_ordinal(t, f->message);
        text_add(t, " message");
    }
    if (f->qp.raw)
        text_addf(t, " for the work of %s", step_text(st, "qp"));
    if (f->dest_qpn != RDL_ANY)
        text_addf(t, " to QPN %u", f->dest_qpn);
    if (f->to.raw)
        text_addf(t, " to %s", step_text(st, "to"));
    if (f->from_port.raw)
        text_addf(t, " coming in through %s", step_text(st, "from"));
    else if (step_has(st, "from"))
        text_addf(t, " that %s sends", step_text(st, "from"));
    else if (!f->qp.raw && !f->to.raw)
        text_add(t, " that anybody sends");
    if (f->transmission) {
        text_add(t, ", sent for the ");
        text_add_ordinal(t, f->transmission);
        text_add(t, " time");
    }
    if (f->link.raw)
        text_addf(t, ", on %s", step_text(st, "link"));
    if (f->where)
        text_addf(t, ", where %s", step_text(st, "where"));
    if (f->nth > 1 && f->count != 1 && f->nth != f->every)
        text_addf(t, ", from match number %u on", f->nth);
    if (f->every > 1 && f->count != RDL_ANY)
        text_addf(t, ", %u time%s", f->count, plural_s(f->count));
}

/* Appends the name of the field @id of frames. */
static void add_field(struct text *t, uint32_t id)
{
    const struct enum_row *row = enum_by_value(&enum_wire_field, id);
    char name[VALUE_WORD_BYTES];

    if (!row)
        return;
    value_field_text(row, name);
    text_add(t, name);
}

/* Appends the amount: ", by 5us" */
static void add_how(struct text *t, const struct rdl_fault_config *f)
{
    if (f->kind == FLT_REORDER)
        text_addf(t, ", until %u %s overtaken it, ", f->hold_frames,
                  f->hold_frames == 1 ? "frame has" : "frames have");
    else if (f->delay_ns)
        text_add(t, ", by ");
    if (f->delay_ns)
        quantity_add_time_short(t, f->delay_ns);
    if (f->kind == FLT_REORDER)
        text_add(t, " at most");
    if (f->kind == FLT_TRUNCATE)
        text_addf(t, ", to %u bytes", f->to_bytes);
    if (f->kind == FLT_FORGE || (f->kind == FLT_CORRUPT && f->field)) {
        text_add(t, f->kind == FLT_FORGE ? ": " : ", in the lowest bit of ");
        add_field(t, f->field);
    }
    if (f->kind == FLT_FORGE)
        text_addf(t, " becomes %llu", (unsigned long long)f->value);
    if (f->kind == FLT_CORRUPT && f->field)
        return;
    if (f->kind == FLT_CORRUPT && f->corrupt_bit == RDL_ANY)
        text_add(t, ", in the last bit before the ICRC");
    else if (f->kind == FLT_CORRUPT)
        text_addf(t, ", in bit %u", f->corrupt_bit);
}

/* Appends the effect of the fault: "drops the next frame with psn=101 that h1 sends". */
static void add_about(struct text *t, const struct step *st, const struct rdl_fault_config *f)
{
    text_addf(t, "%s ", fate_fault_does(f->kind));
    add_which(t, f);
    add_whose(t, st, f);
    add_how(t, f);
}

/* from= names a host, or a live port through which frames come in. */
static bool resolve_sender(struct session *s, const struct step *st, struct rdl_fault_config *f)
{
    const struct scope in = session_scope(s);

    if (rdl_port_find(s->lab, step_text(st, "from"), &f->from_port) == RDL_OK)
        return true;
    return resolve_host(&in, st, "from", &f->from, &s->diag);
}

/* Reads the conditions on frames that are not one field. */
static bool resolve_aim(struct session *s, const struct step *st, struct rdl_fault_config *f)
{
    const struct scope in = session_scope(s);

    if (step_has(st, "to") && !resolve_host(&in, st, "to", &f->to, &s->diag))
        return false;
    if (step_has(st, "qp") && !resolve_object(&in, st, "qp", OBJ_QP, &f->qp.raw, &s->diag))
        return false;
    if (step_has(st, "dest_qpn") && !resolve_qpn(&in, st, "dest_qpn", &f->dest_qpn, &s->diag))
        return false;
    if (step_has(st, "link") && !link_named(s, st, &f->link))
        return false;
    if (f->message && !f->qp.raw) {
        session_fail(s, step_span(st, "message", 0), "the messages of which queue pair?");
        return diag_remedy(&s->diag, "say whose: \"of h1.qp\", or qp=h1.qp");
    }
    return true;
}

/* The condition, if there is one. */
static bool resolve_where(struct session *s, const struct step *st, struct rdl_fault_config *f)
{
    if (!step_has(st, "where"))
        return true;
    if (!step_text(st, "where")[0]) {
        session_fail(s, step_span(st, "where", 0), "where what?");
        return diag_remedy(&s->diag, "for example: where bytes > 100 and host == h1");
    }
    f->where_ctx = condition_of(s, EV_tx, step_text(st, "where"), step_span(st, "where", 0));
    f->where = condition_holds_of_packet;
    return f->where_ctx;
}

/* Reads the frames that a fault is about. */
static bool read_aim(struct session *s, const struct step *st, struct rdl_fault_config *f)
{
    const struct fault_counts counts = fault_counts_of(st);

    f->opcode = (uint32_t)step_number_or(st, "opcode", RDL_ANY);
    f->syndrome = syndrome_of(st);
    f->psn = (uint32_t)step_number_or(st, "psn", RDL_ANY);
    f->dest_qpn = RDL_ANY;
    f->nth = counts.nth;
    f->every = counts.every;
    f->count = counts.count;
    f->packet_class = (uint32_t)step_number_or(st, "class", PKC_ANY);
    f->transmission = (uint32_t)step_number_or(st, "transmission", 0);
    f->message = (uint32_t)step_number_or(st, "message", 0);
    f->cm = (uint32_t)step_number_or(st, "cm", 0);
    if (step_has(st, "from") && !resolve_sender(s, st, f))
        return false;
    return resolve_aim(s, st, f) && resolve_where(s, st, f);
}

static bool add_fault(struct session *s, const struct step *st, struct rdl_fault_config *f)
{
    char name[RDL_VALUE_BYTES], about[SAID_BYTES];
    struct text t = text_on(about, sizeof(about));
    enum rdl_status status;
    rdl_fault made;

    if (step_has(st, "ack") && step_has(st, "nak")) {
        session_fail(s, st->at, "no frame is an ACK and a NAK");
        return diag_remedy(&s->diag, "say one of them, or give each a fault of its own");
    }
    f->name = st->as.text;
    if (!read_aim(s, st, f))
        return false;
    add_about(&t, st, f);
    f->about = about;
    status = rdl_fault_add(s->lab, f, &made);
    if (status == RDL_ERR_EXISTS)
        return session_fail(s, st->as.at, "something is called \"%s\" already", st->as.text);
    if (status != RDL_OK)
        return limit_fail(s, st->at, LIMIT_FAULTS, st->cmd->name, status);
    unmet_made(s, st, made);
    rdl_path_of(s->lab, OBJ_FAULT, made.raw, name);
    session_say(s, "%s: %s\n", name, about);
    return true;
}

bool run_drop(struct session *s, const struct step *st)
{
    struct rdl_fault_config f = {.kind = FLT_DROP};

    return add_fault(s, st, &f);
}

bool run_duplicate(struct session *s, const struct step *st)
{
    struct rdl_fault_config f = {.kind = FLT_DUPLICATE, .delay_ns = step_number(st, "by")};

    return add_fault(s, st, &f);
}

bool run_delay(struct session *s, const struct step *st)
{
    struct rdl_fault_config f = {.kind = FLT_DELAY, .delay_ns = step_number(st, "by")};

    return add_fault(s, st, &f);
}

bool run_corrupt(struct session *s, const struct step *st)
{
    struct rdl_fault_config f = {.kind = FLT_CORRUPT,
                                 .corrupt_bit = (uint32_t)step_number_or(st, "bit", RDL_ANY),
                                 .field = (uint32_t)step_number_or(st, "field", WF_NONE)};

    if (step_has(st, "bit") && f.field) {
        session_fail(s, step_span(st, "bit", 0), "a bit of the frame, or of a field?");
        return diag_remedy(&s->diag, "leave out bit= or field=");
    }
    return add_fault(s, st, &f);
}

bool run_reorder(struct session *s, const struct step *st)
{
    struct rdl_fault_config f = {.kind = FLT_REORDER,
                                 .hold_frames = (uint32_t)step_number(st, "behind"),
                                 .delay_ns = step_number(st, "within")};

    return add_fault(s, st, &f);
}

bool run_truncate(struct session *s, const struct step *st)
{
    struct rdl_fault_config f = {.kind = FLT_TRUNCATE,
                                 .to_bytes = (uint32_t)step_number(st, "bytes")};

    return add_fault(s, st, &f);
}

bool run_mark(struct session *s, const struct step *st)
{
    struct rdl_fault_config f = {.kind = FLT_MARK};

    return add_fault(s, st, &f);
}

bool run_forge(struct session *s, const struct step *st)
{
    struct rdl_fault_config f = {.kind = FLT_FORGE,
                                 .field = (uint32_t)step_number(st, "field"),
                                 .value = step_number(st, "value")};
    const uint64_t most = field_max((enum wire_field_id)f.field);

    if (f.value > most) {
        limit_fail_range(s, st, "value", 0, most);
        return diag_remedy(&s->diag, "%s has no room for this: the largest value is %llu",
                           step_text(st, "field"), (unsigned long long)most);
    }
    return add_fault(s, st, &f);
}

/* Copies the name of the first fault that is visited. */
static void first_fault(void *ctx, const char *key, const struct rdl_value *v)
{
    char *name = ctx;

    if (!name[0] && tree_value_is(v, NODE_fault))
        memcpy(name, key, strlen(key) + 1);
}

static bool clear_all(struct session *s, const struct step *st)
{
    enum rdl_status status = RDL_OK;
    char name[RDL_VALUE_BYTES];
    rdl_fault fault;
    size_t at, n = 0;

    for (;; n++) {
        name[0] = '\0';
        status = rdl_inspect_list(s->lab, "", first_fault, name, &at);
        if (status != RDL_OK || !name[0])
            break;
        status = rdl_find(s->lab, name, OBJ_FAULT, &fault.raw);
        if (status == RDL_OK) {
            unmet_removed(s, fault);
            status = rdl_fault_remove(s->lab, fault);
        }
        if (status != RDL_OK)
            break;
    }
    if (status != RDL_OK)
        return session_fail_status(s, st->at, name, status);
    session_say(s, "%zu fault%s removed\n", n, plural_s(n));
    return true;
}

bool run_clear(struct session *s, const struct step *st)
{
    const struct scope in = session_scope(s);
    const char *name = step_text(st, "fault");
    enum rdl_status status;
    rdl_fault fault;

    if (rdl_find(s->lab, name, OBJ_FAULT, &fault.raw) != RDL_OK) {
        if (strcmp(name, "all") == 0)
            return clear_all(s, st);
        resolve_unknown(&in, step_span(st, "fault", 0), name, "no fault", &s->diag);
        return diag_remedy(&s->diag, "\"show faults\" lists them");
    }
    unmet_removed(s, fault);
    status = rdl_fault_remove(s->lab, fault);
    return status == RDL_OK || session_fail_status(s, st->at, name, status);
}
