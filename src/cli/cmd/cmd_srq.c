/* SPDX-License-Identifier: MIT */
/* Shared receive queues: making, changing and looking.  cmd_post.c posts to them. */
#include "rdmalab/srq.h"

#include "cli/cmd/commands.h"
#include "cli/cmd/verb.h"
#include "cli/session/resolve.h"
#include "rdmalab/inspect.h"

bool run_create_srq(struct session *s, const struct step *st)
{
    const struct rdl_srq_attr attr = {
        .max_wr = (uint32_t)step_number(st, "max_wr"),
        .max_sge = (uint32_t)step_number(st, "max_sge"),
    };
    char name[RDL_VALUE_BYTES];
    struct rdl_srq_info info;
    enum rdl_status status;
    struct home home;
    bool asked = false;
    rdl_srq srq;
    rdl_pd pd;

    if (!verb_object(s, st, "pd", OBJ_PD, &pd.raw, &home) || !verb_may_begin(s, st, &home))
        return false;
    status = rdl_create_srq(s->lab, pd, &attr, st->as.text, &srq);
    if (status == RDL_ERR_UNSUPPORTED) {
        session_fail(s, st->at, "%s has no shared receive queues", home.name);
        return diag_remedy(&s->diag, "make the host without features_off=srq");
    }
    if (!verb_created(s, st, &home, status, &asked))
        return false;
    if (asked)
        return true;
    verb_own_name(s, OBJ_SRQ, srq.raw, name);
    if (rdl_srq_info(s->lab, srq, &info) == RDL_OK)
        session_made(s, home.name, "%s (SRQN %u, queue %u)", name, info.srqn, info.queue);
    return true;
}

bool run_modify_srq(struct session *s, const struct step *st)
{
    const struct rdl_srq_attr attr = {
        .max_wr = (uint32_t)step_number_or(st, "max_wr", 0),
        .limit = (uint32_t)step_number_or(st, "limit", 0),
    };
    const uint32_t mask =
        (step_has(st, "max_wr") ? RDL_SRQ_MAX_WR : 0) | (step_has(st, "limit") ? RDL_SRQ_LIMIT : 0);
    struct rdl_srq_info info;
    enum rdl_status status;
    struct home home;
    rdl_srq srq;

    if (!verb_object(s, st, "srq", OBJ_SRQ, &srq.raw, &home))
        return false;
    if (mask == 0) {
        session_fail(s, st->at, "nothing is to be changed");
        return diag_remedy(&s->diag, "say limit=");
    }
    status = rdl_modify_srq(s->lab, srq, &attr, mask);
    if (status == RDL_ERR_UNSUPPORTED) {
        session_fail(s, step_span(st, "max_wr", 0), "a shared receive queue keeps its length here");
        return diag_remedy(&s->diag, "create_srq another one with max_wr=%u", attr.max_wr);
    }
    if (status == RDL_ERR_INVAL && rdl_srq_info(s->lab, srq, &info) == RDL_OK) {
        session_fail(s, step_span(st, "limit", 0), "%s has room for %u receives",
                     step_text(st, "srq"), info.attr.max_wr);
        return diag_remedy(&s->diag, "a limit is at most that; 0 takes it back");
    }
    return verb_finish(s, st, &home, status);
}

bool run_query_srq(struct session *s, const struct step *st)
{
    char name[RDL_VALUE_BYTES];
    struct rdl_srq_info info;
    struct home home;
    rdl_srq srq;

    if (!verb_object(s, st, "srq", OBJ_SRQ, &srq.raw, &home) ||
        !verb_finish(s, st, &home, rdl_query_srq(s->lab, srq)))
        return false;
    verb_own_name(s, OBJ_SRQ, srq.raw, name);
    if (rdl_srq_info(s->lab, srq, &info) == RDL_OK)
        session_made(s, home.name, "%s max_wr=%u max_sge=%u limit=%u", name, info.attr.max_wr,
                     info.attr.max_sge, info.attr.limit);
    return true;
}

bool run_destroy_srq(struct session *s, const struct step *st)
{
    struct home home;
    rdl_srq srq = {0};

    return verb_object(s, st, "srq", OBJ_SRQ, &srq.raw, &home) &&
           verb_destroyed(s, st, "srq", OBJ_SRQ, srq.raw, rdl_destroy_srq(s->lab, srq));
}
