/* SPDX-License-Identifier: MIT */
/* Work that was posted, and completions: kick, poll_cq. */
#include <string.h>

#include "cli/cmd/commands.h"
#include "cli/explain/explain.h"
#include "cli/session/resolve.h"
#include "emu/base/assert.h"
#include "emu/base/text.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/wc_flag.h"
#include "emu/facts/enum/wc_opcode.h"
#include "emu/facts/enum/wc_status.h"
#include "rdmalab/inspect.h"

bool run_kick(struct session *s, const struct step *st)
{
    const struct scope in = session_scope(s);
    char path[SESSION_PATH_BYTES];
    enum rdl_status status;
    char *dot;
    rdl_qp qp;

    resolve_path(&in, step_text(st, "queue"), path);
    dot = strrchr(path, '.');
    RDL_ASSERT(dot); /* the parser has seen .sq or .rq */
    *dot = '\0';
    if (rdl_find(s->lab, path, OBJ_QP, &qp.raw) != RDL_OK)
        return resolve_unknown(&in, step_span(st, "queue", 0), path, "no queue pair", &s->diag);
    status = rdl_kick(s->lab, qp, strcmp(dot + 1, "sq") == 0);
    return status == RDL_OK || session_fail_status(s, st->at, step_text(st, "queue"), status);
}

/* Returns true if the completion means that memory of this side was written. */
static bool moves_in(uint32_t opcode)
{
    return opcode == WC_RECV || opcode == WC_RECV_RDMA_WITH_IMM || opcode == WC_RDMA_READ ||
           opcode == WC_COMP_SWAP || opcode == WC_FETCH_ADD;
}

static void say_completion(struct session *s, const struct rdl_wc *wc)
{
    char line[256];
    struct text t = text_on(line, sizeof(line));

    text_addf(&t, "wc wr_id=%llu %s %s", (unsigned long long)wc->wr_id,
              enum_name(&enum_wc_status, wc->status), enum_name(&enum_wc_opcode, wc->opcode));
    if (wc->status == WCS_SUCCESS && moves_in(wc->opcode))
        text_addf(&t, " %u bytes", wc->byte_len);
    if (wc->wc_flags & WCF_GRH)
        text_addf(&t, " from QPN %u", wc->src_qp);
    if (wc->wc_flags & WCF_WITH_IMM)
        text_addf(&t, " imm=0x%02x%02x%02x%02x", wc->imm[0], wc->imm[1], wc->imm[2], wc->imm[3]);
    if (wc->wc_flags & WCF_WITH_INV)
        text_addf(&t, " invalidated 0x%x", wc->invalidated_rkey);
    if (wc->status != WCS_SUCCESS && wc->vendor_err)
        text_addf(&t, ", by %s", enum_name(&enum_rule, wc->vendor_err));
    session_say(s, "%s\n", line);
}

/* Prints where to look for the cause of a failure.  Flushed requests only follow it. */
static void say_page(struct session *s, uint32_t failed)
{
    const struct enum_row *row = enum_by_value(&enum_wc_status, failed);

    if (failed == WCS_SUCCESS || !row)
        return;
    session_say(s, "  \"explain %s\" tells what that means", row->name);
    if (explain_has_scenario(&enum_wc_status, row))
        session_say(s, ", \"scenarios %s\" where to see it", row->name);
    session_say(s, "\n");
}

/* Prints that there is no completion, and at a prompt how to find out why. */
static void say_none(struct session *s, rdl_cq cq)
{
    char path[RDL_VALUE_BYTES];

    rdl_path_of(s->lab, OBJ_CQ, cq.raw, path);
    if (s->prompt.at_terminal && s->run.block && s->run.block->n_sources == 0)
        session_say(s, "no completion; \"why not %s\" tells what is missing\n", path);
    else
        session_say(s, "no completion\n");
}

bool run_poll_cq(struct session *s, const struct step *st)
{
    const struct scope in = session_scope(s);
    size_t left = (size_t)step_number(st, "max"), total = 0;
    uint32_t failed = WCS_SUCCESS;
    rdl_cq cq;

    if (!resolve_object(&in, st, "cq", OBJ_CQ, &cq.raw, &s->diag))
        return false;
    while (left > 0) {
        struct rdl_wc wc;
        size_t n = 0;
        const enum rdl_status status = rdl_poll_cq(s->lab, cq, 1, &wc, &n);

        if (status != RDL_OK)
            return session_fail_status(s, st->at, "poll_cq", status);
        if (n == 0)
            break;
        say_completion(s, &wc);
        if (wc.status != WCS_SUCCESS && (failed == WCS_SUCCESS || failed == WCS_WR_FLUSH_ERR))
            failed = wc.status;
        left--;
        total++;
    }
    if (total == 0)
        say_none(s, cq);
    say_page(s, failed);
    return true;
}
