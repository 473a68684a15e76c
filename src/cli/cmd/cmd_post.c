/* SPDX-License-Identifier: MIT */
/* Posting work requests: post_send, bind_mw, post_recv, post_srq_recv, and several of them as one
 * list, post_list.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/cmd/commands.h"
#include "cli/cmd/request.h"
#include "cli/session/places.h"
#include "cli/session/resolve.h"
#include "emu/base/assert.h"
#include "emu/base/text.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/facts/rules.h"
#include "emu/facts/wr.h"
#include "rdmalab/inspect.h"
#include "tree/tree.h"

/* --- Why one was refused ---------------------------------------------------------------------- */

/* Fails because of the state of the queue pair, with the way to a state that takes it. */
static bool explain_state(struct session *s, const struct request *r)
{
    const char *needs = request_sends(r->st) ? "RTS" : "INIT";
    char path[RDL_VALUE_BYTES];
    struct rdl_qp_info info;

    rdl_path_of(s->lab, OBJ_QP, r->qp.raw, path);
    if (rdl_qp_info(s->lab, r->qp, &info) != RDL_OK)
        return session_fail_status(s, step_span(r->st, "qp", 0), path, RDL_ERR_STALE);
    session_fail(s, step_span(r->st, "qp", 0), "%s is in %s; %s needs %s or a later state", path,
                 enum_name(&enum_qp_state, info.attr.state), r->st->cmd->name, needs);
    if (info.attr.state == QPS_ERR || info.attr.state == QPS_SQE)
        return diag_remedy(
            &s->diag, "\"why %s\" tells how it got there; \"modify_qp %s state=RESET\" begins anew",
            path, path);
    return diag_remedy(
        &s->diag,
        "RESET -> INIT -> RTR -> RTS: \"connect %s PEER\" does it if both are in RESET, or "
        "modify_qp step by step; \"explain qp-states\"",
        path);
}

/* The operation as it is typed; "send" of a receive, whose words nobody asks for. */
static void operation(const struct request *r, char ret[VALUE_WORD_BYTES])
{
    const uint32_t opcode = request_sends(r->st) ? r->send.opcode : WR_SEND;

    value_word_text(&enum_wr_opcode, enum_by_value(&enum_wr_opcode, opcode), ret);
}

/* Fails because something that @r names is of another host. */
static bool explain_parts(struct session *s, const struct request *r)
{
    const struct {
        const char *key;
        enum object_kind kind;
        uint64_t raw;
    } parts[] = {{"mw", OBJ_MW, r->send.bind_mw.mw.raw}, {"ah", OBJ_AH, r->send.ud.ah.raw}};
    const char *key = "mr";
    struct home own, home;

    if (!resolve_home(s->lab, OBJ_QP, r->qp.raw, &own))
        return session_fail_status(s, r->st->at, r->st->cmd->name, RDL_ERR_STALE);
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        if (parts[i].raw && resolve_home(s->lab, parts[i].kind, parts[i].raw, &home) &&
            home.host.raw != own.host.raw)
            key = parts[i].key;
    }
    return session_fail(s, step_span(r->st, key, 0), "%s is not of the host of the queue pair",
                        step_text(r->st, key));
}

/* A receive was posted to a queue pair that takes shared ones. */
static bool explain_shared(struct session *s, const struct request *r)
{
    char path[RDL_VALUE_BYTES], host[RDL_NAME_BYTES];
    struct rdl_value srq;

    rdl_path_of(s->lab, OBJ_QP, r->qp.raw, path);
    resolve_host_name(path, host);
    if (!tree_leaf(s->lab, path, LEAF_qp_srq, &srq))
        return session_fail_status(s, step_span(r->st, "qp", 0), path, RDL_ERR_STALE);
    session_fail(s, step_span(r->st, "qp", 0), "%s takes its receives from %s.%s", path, host,
                 srq.text);
    return diag_remedy(&s->diag, "post_srq_recv %s.%s", host, srq.text);
}

/* Fails because of the rule in @e, of a receive for a shared queue. */
static bool explain_shared_rule(struct session *s, const struct request *r,
                                const struct rdl_post_error *e)
{
    const struct step *st = r->st;

    if (e->rule != RULE_POST_SGE_COUNT)
        return session_fail_status(s, st->at, st->cmd->name, RDL_ERR_INVAL);
    session_fail(s, step_span(st, "sge", (size_t)e->most), "%u SGEs, but max_sge is %u",
                 (unsigned)e->found, (unsigned)e->most);
    return diag_remedy(&s->diag, "create_srq takes max_sge=");
}

/* Fails because the request has more elements than its queue, or for a READ the device, takes. */
static bool explain_sge_count(struct session *s, const struct request *r,
                              const struct rdl_post_error *e, const struct rdl_qp_info *info)
{
    const bool sends = request_sends(r->st);
    const size_t n = sends ? r->send.n_sge : r->recv.n_sge;
    const char *limit = sends ? "max_send_sge" : "max_recv_sge", *command = "create_qp";

    if (sends && e->most < info->max_send_sge) {
        limit = "max_sge_rd";
        command = "host";
    }
    session_fail(s, step_span(r->st, "sge", n > e->most ? (size_t)e->most : 0),
                 "%zu SGEs, but %s is %u", n, limit, (unsigned)e->most);
    return diag_remedy(&s->diag, "%s takes %s=", command, limit);
}

/* Fails because of the rule in @e. */
static bool explain_rule(struct session *s, const struct request *r, const struct rdl_post_error *e)
{
    const struct step *st = r->st;
    const char *what = request_is_bind_mw(st) ? "qp" : "op"; /* that is refused */
    char op[VALUE_WORD_BYTES];
    struct rdl_qp_info info;

    if (rdl_qp_info(s->lab, r->qp, &info) != RDL_OK)
        return session_fail_status(s, step_span(st, "qp", 0), st->cmd->name, RDL_ERR_STALE);
    operation(r, op);
    switch (e->rule) {
    case RULE_POST_OPCODE:
        return session_fail(s, step_span(st, what, 0), "%s queue pairs have no %s",
                            enum_name(&enum_qp_type, info.type), op);
    case RULE_POST_FLAGS:
        return session_fail(s, step_span(st, "fence", 0), "only an RC queue pair has fence");
    case RULE_POST_INLINE_OPCODE:
        return session_fail(s, step_span(st, "inline", 0), "%s carries no data inline", op);
    case RULE_POST_INLINE_LENGTH:
        session_fail(s, step_span(st, "inline", 0), "more bytes than max_inline_data, which is %u",
                     (unsigned)e->most);
        return diag_remedy(&s->diag, "create_qp takes max_inline_data=; or leave out inline");
    case RULE_POST_SGE_COUNT:
        if (request_sends(st) && wr_info(r->send.opcode)->data == WR_DATA_NONE)
            return session_fail(s, step_span(st, "sge", 0), "%s moves no data: it has no sge=", op);
        return explain_sge_count(s, r, e, &info);
    case RULE_POST_SRQ:
        return explain_shared(s, r);
    case RULE_POST_PARTS:
        return explain_parts(s, r);
    case RULE_POST_MW_TYPE:
        session_fail(s, step_span(st, "mw", 0), "%s is a window of type 2", step_text(st, "mw"));
        return diag_remedy(&s->diag, "\"post_send QP op=bind_mw mw=%s mr=...\" binds it",
                           step_text(st, "mw"));
    default:
        return session_fail_status(s, st->at, st->cmd->name, RDL_ERR_INVAL);
    }
}

/* Fails because the queue of @r is full. */
static bool explain_full(struct session *s, const struct request *r)
{
    const bool sends = request_sends(r->st), shared = request_is_shared(r->st);
    const char *key = sends ? "max_send_wr" : "max_recv_wr";
    char path[RDL_VALUE_BYTES];
    uint64_t room = 1;

    rdl_path_of(s->lab, shared ? OBJ_SRQ : OBJ_QP, shared ? r->srq.raw : r->qp.raw, path);
    if (!shared)
        room = tree_number(s->lab, path, sends ? LEAF_qp_max_send_wr : LEAF_qp_max_recv_wr);
    if (room == 0) {
        session_fail(s, step_span(r->st, "qp", 0),
                     "the queue is full: %s has room for nothing (%s=0)", path, key);
        return diag_remedy(&s->diag, "create it with %s=16, or \"resize_qp %s %s=16\"", key, path,
                           key);
    }
    session_fail(s, step_span(r->st, shared ? "srq" : "qp", 0), "the queue is full");
    if (sends && tree_number(s->lab, path, LEAF_qp_unsignaled) >= room)
        return diag_remedy(
            &s->diag,
            "run frees it here, but none of its %llu sends is signaled: an adapter's "
            "queue would stay full for good; post one in %llu signaled",
            (unsigned long long)room, (unsigned long long)room);
    return diag_remedy(&s->diag, "run and poll completions, or create it with more entries");
}

/* Adds to the remedy the rule that refused it. */
static bool name_rule(struct session *s, const char *rule)
{
    char remedy[DIAG_REMEDY_BYTES];
    struct text t = text_on(remedy, sizeof(remedy));

    if (!s->diag.remedy[0])
        return diag_remedy(&s->diag, "\"explain %s\"", rule);
    text_add(&t, s->diag.remedy);
    return diag_remedy(&s->diag, "%s (explain %s)", remedy, rule);
}

/* Says in s->diag why posting @r returned @status. */
static bool tell_refusal(struct session *s, const struct request *r, enum rdl_status status,
                         const struct rdl_post_error *e)
{
    const char *rule = enum_name(&enum_rule, e->rule);

    if (e->rule != RULE_NONE) {
        if (s->config.observer.refused)
            s->config.observer.refused(s->config.observer.ctx, e->rule);
        if (request_is_shared(r->st))
            explain_shared_rule(s, r, e);
        else
            explain_rule(s, r, e);
        return name_rule(s, rule);
    }
    switch (status) {
    case RDL_ERR_STATE:
        return explain_state(s, r);
    case RDL_ERR_QUEUE_FULL:
        return explain_full(s, r);
    default:
        return session_fail_status(s, r->st->at, r->st->cmd->name, status);
    }
}

/* Fails because posting @r returned @status. */
static bool explain_refusal(struct session *s, const struct request *r, enum rdl_status status,
                            const struct rdl_post_error *e)
{
    tell_refusal(s, r, status, e);
    return diag_reason(&s->diag, (uint32_t)status);
}

/* Puts before what s->diag says of a request which one of @n that is, and what became of those
 * before it.
 */
static bool of_list(struct session *s, size_t bad, size_t n)
{
    const struct diag d = s->diag;

    diag_set(&s->diag, d.kind, d.at, "request %zu of %zu was refused: %s; %zu %s posted", bad + 1,
             n, d.message, bad, bad == 1 ? "was" : "were");
    diag_reason(&s->diag, d.reason);
    return diag_remedy(&s->diag, "%s", d.remedy);
}

/* --- Posting ---------------------------------------------------------------------------------- */

/* Reads the @n requests that begin at @st; notes between them are passed over.  All must be for one
 * queue of one queue pair.
 */
static bool read_all(struct session *s, const struct step *st, struct request *r, size_t n)
{
    for (size_t i = 0; i < n; st = st->next) {
        if (st->cmd->flags & CMD_NOTE)
            continue;
        if (!request_read(s, st, &r[i]))
            return false;
        if (st->cmd != r[0].st->cmd || r[i].qp.raw != r[0].qp.raw || r[i].srq.raw != r[0].srq.raw) {
            session_fail(s, st->at, "a list is for one queue of one queue pair");
            return diag_remedy(&s->diag, "begin another post_list for the other");
        }
        i++;
    }
    return true;
}

/* Posts the @n requests, which were read. */
static enum rdl_status post_all(struct session *s, const struct request *r, size_t n, bool nokick,
                                struct rdl_post_error *reterr)
{
    const bool sends = request_sends(r[0].st);
    struct rdl_send_wr *send = sends ? calloc(n, sizeof(*send)) : NULL;
    struct rdl_recv_wr *recv = sends ? NULL : calloc(n, sizeof(*recv));
    enum rdl_status status = RDL_ERR_NOMEM;

    for (size_t i = 0; i < n && send; i++)
        send[i] = r[i].send;
    for (size_t i = 0; i < n && recv; i++)
        recv[i] = r[i].recv;
    if (send)
        status = rdl_post_send_list(s->lab, r[0].qp, send, n, nokick, reterr);
    if (recv && request_is_shared(r[0].st))
        status = rdl_post_srq_recv_list(s->lab, r[0].srq, recv, n, nokick, reterr);
    else if (recv)
        status = rdl_post_recv_list(s->lab, r[0].qp, recv, n, nokick, reterr);
    free(send);
    free(recv);
    return status;
}

/* Says of those of the @n requests that are receives without memory that a SEND does not fit. */
static void say_no_room(struct session *s, const struct request *r, size_t n)
{
    for (size_t i = 0; i < n && !request_sends(r[i].st); i++) {
        if (r[i].recv.n_sge > 0)
            continue;
        session_say(s, "this receive has room for 0 bytes (no sge=): an "
                       "rdma_write_with_imm completes it, but a SEND with data fails\n");
        return;
    }
}

/* Carries out @st: posts the @n requests from @first on. */
static bool post(struct session *s, const struct step *st, const struct step *first, size_t n)
{
    struct request *r = calloc(n, sizeof(*r));
    struct rdl_post_error e = {.rule = RULE_NONE};
    const uint64_t from = rdl_tick(s->lab);
    enum rdl_status status;
    bool ok;

    if (!r)
        return session_fail_status(s, st->at, st->cmd->name, RDL_ERR_NOMEM);
    ok = read_all(s, first, r, n);
    if (ok) {
        status = post_all(s, r, n, step_has(st, "nokick"), &e);
        ok = status == RDL_OK || explain_refusal(s, &r[e.bad], status, &e);
        if (!ok && st != first)
            of_list(s, e.bad, n);
        if (ok) {
            places_add(s, st->at, from);
            say_no_room(s, r, n);
        }
    }
    for (size_t i = 0; i < n; i++)
        request_done(&r[i]);
    free(r);
    return ok;
}

bool run_post_send(struct session *s, const struct step *st)
{
    return post(s, st, st, 1);
}

bool run_bind_mw(struct session *s, const struct step *st)
{
    return post(s, st, st, 1);
}

bool run_post_recv(struct session *s, const struct step *st)
{
    return post(s, st, st, 1);
}

bool run_post_srq_recv(struct session *s, const struct step *st)
{
    return post(s, st, st, 1);
}

bool run_post_list(struct session *s, const struct step *st)
{
    size_t n = 0;

    for (const struct step *b = st->body; b; b = b->next) {
        if (b->cmd->flags & CMD_NOTE)
            continue;
        if (b->cmd != &cmd_table[CMD_post_send] && !request_is_shared(b) &&
            b->cmd != &cmd_table[CMD_post_recv]) {
            session_fail(s, b->at, "a list of work requests has no %s", b->cmd->name);
            return diag_remedy(&s->diag, "a list has post_send, post_recv or post_srq_recv");
        }
        if (step_has(b, "nokick")) {
            session_fail(s, step_span(b, "nokick", 0), "a list is kicked as a whole");
            return diag_remedy(&s->diag, "write it before the brace: post_list nokick { ... }");
        }
        if (++n > POST_LIST_MAX)
            return session_fail(s, b->at, "more than %u requests", POST_LIST_MAX);
    }
    return n == 0 || post(s, st, st->body, n);
}
