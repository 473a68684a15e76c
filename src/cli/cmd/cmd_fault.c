/* SPDX-License-Identifier: MIT */
/* What links do to frames: drop, duplicate, delay, corrupt, clear. */
#include "cli/cmd/dispatch.h"
#include "cli/cmd/limit.h"
#include "cli/session/resolve.h"
#include "emu/base/quantity.h"
#include "emu/facts/opcode.h"
#include "rdmalab/fault.h"
#include "rdmalab/inspect.h"
#include "rdmalab/port.h"

static uint32_t syndrome_of(const struct step *st)
{
    if (step_has(st, "ack"))
        return SYN_ACK;
    if (step_has(st, "nak"))
        return SYN_NAK_PSN_SEQUENCE;
    return (uint32_t)step_number_or(st, "syndrome", RDL_ANY);
}

/* Says what the fault will do: "f1: drops the next frame with psn=101 that h1 sends". */
static void say_fault(struct session *s, const struct step *st, const struct rdl_fault_config *f,
                      const char *name)
{
    static const char *const does[] = {[FLT_DROP] = "drops",
                                       [FLT_DUPLICATE] = "duplicates",
                                       [FLT_DELAY] = "delays",
                                       [FLT_CORRUPT] = "corrupts"};
    char line[256];
    struct text t = text_on(line, sizeof(line));

    text_addf(&t, "%s: %s ", name, does[f->kind]);
    if (f->count == RDL_ANY)
        text_add(&t, "every");
    else if (f->count > 1)
        text_addf(&t, "the next %u", f->count);
    else
        text_add(&t, "the next");
    if (f->opcode != RDL_ANY)
        text_addf(&t, " %s", enum_name(&enum_opcode, f->opcode));
    if (f->syndrome != RDL_ANY)
        text_addf(&t, " %s", enum_name(&enum_syndrome, f->syndrome));
    text_add(&t, f->count > 1 && f->count != RDL_ANY ? " frames" : " frame");
    if (f->psn != RDL_ANY)
        text_addf(&t, " with psn=%u", f->psn);
    if (f->dest_qpn != RDL_ANY)
        text_addf(&t, " to QPN %u", f->dest_qpn);
    if (f->from_port.raw)
        text_addf(&t, " coming in through %s", step_text(st, "from"));
    else
        text_addf(&t, " that %s sends", step_has(st, "from") ? step_text(st, "from") : "anybody");
    if (f->nth > 1)
        text_addf(&t, ", from match number %u on", f->nth);
    if (f->delay_ns) {
        text_add(&t, ", by ");
        quantity_add_time_short(&t, f->delay_ns);
    }
    if (f->kind == FLT_CORRUPT && f->corrupt_bit == RDL_ANY)
        text_add(&t, ", in the last bit before the ICRC");
    else if (f->kind == FLT_CORRUPT)
        text_addf(&t, ", in bit %u", f->corrupt_bit);
    session_say(s, "%s\n", line);
}

/* from= names a host, or a live port through which frames come in. */
static bool resolve_sender(struct session *s, const struct step *st, struct rdl_fault_config *f)
{
    const struct scope in = session_scope(s);

    if (rdl_port_find(s->lab, step_text(st, "from"), &f->from_port) == RDL_OK)
        return true;
    return resolve_host(&in, st, "from", &f->from, &s->diag);
}

static bool add_fault(struct session *s, const struct step *st, struct rdl_fault_config *f)
{
    const uint32_t count = (uint32_t)step_number(st, "count");
    char name[RDL_VALUE_BYTES];
    enum rdl_status status;
    rdl_fault made;

    if (step_has(st, "ack") && step_has(st, "nak")) {
        session_fail(s, st->at, "no frame is an ACK and a NAK");
        return diag_remedy(&s->diag, "say one of them, or give each a fault of its own");
    }
    f->name = st->as.text;
    f->opcode = (uint32_t)step_number_or(st, "opcode", RDL_ANY);
    f->syndrome = syndrome_of(st);
    f->psn = (uint32_t)step_number_or(st, "psn", RDL_ANY);
    f->dest_qpn = (uint32_t)step_number_or(st, "dest_qpn", RDL_ANY);
    f->nth = (uint32_t)step_number(st, "nth");
    f->count = count ? count : RDL_ANY;
    if (step_has(st, "from") && !resolve_sender(s, st, f))
        return false;
    status = rdl_fault_add(s->lab, f, &made);
    if (status == RDL_ERR_EXISTS)
        return session_fail(s, st->as.at, "something is called \"%s\" already", st->as.text);
    if (status != RDL_OK)
        return limit_fail(s, st->at, LIMIT_FAULTS, st->cmd->name, status);
    rdl_path_of(s->lab, OBJ_FAULT, made.raw, name);
    say_fault(s, st, f, name);
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
                                 .corrupt_bit = (uint32_t)step_number_or(st, "bit", RDL_ANY)};

    return add_fault(s, st, &f);
}

bool run_clear(struct session *s, const struct step *st)
{
    const struct scope in = session_scope(s);
    const char *name = step_text(st, "fault");
    enum rdl_status status;
    rdl_fault fault;

    if (rdl_find(s->lab, name, OBJ_FAULT, &fault.raw) != RDL_OK) {
        resolve_unknown(&in, step_span(st, "fault", 0), name, "no fault", &s->diag);
        return diag_remedy(&s->diag, "\"show faults\" lists them");
    }
    status = rdl_fault_remove(s->lab, fault);
    return status == RDL_OK || session_fail_status(s, st->at, name, status);
}
