/* SPDX-License-Identifier: MIT */
/* Work requests and completions: post_send, post_recv, kick, poll_cq. */
#include <stdlib.h>
#include <string.h>

#include "cli/cmd/dispatch.h"
#include "cli/session/resolve.h"
#include "emu/base/assert.h"
#include "emu/base/text.h"
#include "rdmalab/inspect.h"

#define INLINE_BYTES_MAX 65536u

/* The scatter/gather list of a post. */
static bool read_sges(struct session *s, const struct scope *rest, const struct step *st,
                      struct rdl_sge sge[RDL_SGE_MAX], size_t *ret_n)
{
    const struct arg *a = step_arg(st, "sge");

    if (a->n > RDL_SGE_MAX)
        return session_fail(s, a->v[RDL_SGE_MAX].at, "more than %u pieces of memory", RDL_SGE_MAX);
    for (size_t i = 0; i < a->n; i++) {
        struct memory m;

        if (!resolve_memory(rest, st, "sge", i, &m, &s->diag))
            return false;
        if (!m.has_bytes || m.bytes > UINT32_MAX) {
            session_fail(s, a->v[i].at, "a length is missing, or too large");
            return diag_remedy(&s->diag, "write a slice like mr[0:64]");
        }
        sge[i] = (struct rdl_sge){m.addr, (uint32_t)m.bytes,
                                  (uint32_t)step_number_or(st, "lkey", m.lkey)};
    }
    *ret_n = a->n;
    return true;
}

/* What posts to the two queues of a queue pair differ in. */
struct posting {
    const char *needs;   /* states */
    const char *max_sge; /* key of create_qp */
    bool sends;
};

static const struct posting sending = {"RTS", "max_send_sge", true};
static const struct posting receiving = {"INIT, RTR or RTS", "max_recv_sge", false};

/* What is wrong with posting in this state, and the way to one that takes it. */
static bool explain_state(struct session *s, const struct step *st, rdl_qp qp, const char *needs)
{
    char path[RDL_VALUE_BYTES];
    struct rdl_qp_info info;

    rdl_path_of(s->lab, OBJ_QP, qp.raw, path);
    if (rdl_qp_info(s->lab, qp, &info) != RDL_OK)
        return session_fail_status(s, step_span(st, "qp", 0), path, RDL_ERR_STALE);
    session_fail(s, step_span(st, "qp", 0), "%s is in %s; %s needs %s", path,
                 enum_name(&enum_qp_state, info.attr.state), st->cmd->name, needs);
    if (info.attr.state == QPS_ERR || info.attr.state == QPS_SQE)
        return diag_remedy(
            &s->diag, "\"why %s\" tells how it got there; \"modify_qp %s state=RESET\" begins anew",
            path, path);
    return diag_remedy(
        &s->diag,
        "RESET -> INIT -> RTR -> RTS: \"connect %s PEER\" does it, or modify_qp step "
        "by step; \"explain qp-states\"",
        path);
}

/* What is too much for this queue pair. */
static bool explain_size(struct session *s, const struct step *st, rdl_qp qp,
                         const struct posting *p)
{
    const size_t n = step_arg(st, "sge")->n;
    struct rdl_qp_info info;
    uint32_t max;

    if (rdl_qp_info(s->lab, qp, &info) != RDL_OK)
        return session_fail_status(s, step_span(st, "qp", 0), st->cmd->name, RDL_ERR_STALE);
    max = p->sends ? info.max_send_sge : info.max_recv_sge;
    if (p->sends && step_has(st, "inline")) {
        session_fail(s, step_span(st, "inline", 0), "more bytes than max_inline_data, which is %u",
                     info.max_inline_data);
        return diag_remedy(&s->diag, "create_qp takes max_inline_data=; or leave out inline");
    }
    session_fail(s, step_span(st, "sge", n > max ? max : 0), "%zu SGEs, but %s is %u", n,
                 p->max_sge, max);
    return diag_remedy(&s->diag, "create_qp takes %s=", p->max_sge);
}

static bool explain_post(struct session *s, const struct step *st, rdl_qp qp,
                         const struct posting *p, enum rdl_status status)
{
    switch (status) {
    case RDL_OK:
        return true;
    case RDL_ERR_STATE:
        return explain_state(s, st, qp, p->needs);
    case RDL_ERR_QUEUE_FULL:
        session_fail(s, step_span(st, "qp", 0), "the queue is full");
        return diag_remedy(&s->diag, "run and poll completions, or create it with more entries");
    case RDL_ERR_UNSUPPORTED:
        session_fail(s, step_span(st, "op", 0), "post_send cannot do this operation yet");
        return diag_remedy(&s->diag, "send and send_with_imm are there");
    case RDL_ERR_INVAL:
        return explain_size(s, st, qp, p);
    default:
        return session_fail_status(s, st->at, st->cmd->name, status);
    }
}

/* Copies the memory of the list, which is that of the host of @qp, into one buffer, which the
 * request then carries inline and the caller frees.
 */
static bool gather(struct session *s, const struct step *st, rdl_qp qp, struct rdl_send_wr *wr,
                   uint8_t **ret)
{
    struct home home;
    size_t total = 0, at = 0;
    uint8_t *buf;

    for (size_t i = 0; i < wr->n_sge; i++)
        total += wr->sge[i].length;
    if (total > INLINE_BYTES_MAX)
        return session_fail(s, step_span(st, "sge", 0), "too many bytes for inline");
    buf = malloc(total + 1);
    if (!buf || !resolve_home(s->lab, OBJ_QP, qp.raw, &home)) {
        free(buf);
        return session_fail_status(s, st->at, "inline", RDL_ERR_NOMEM);
    }
    for (size_t i = 0; i < wr->n_sge; i++) {
        const enum rdl_status status =
            rdl_mem_read(s->lab, home.host, wr->sge[i].addr, buf + at, wr->sge[i].length);

        if (status != RDL_OK) {
            free(buf);
            return session_fail_status(s, step_span(st, "sge", i), "inline", status);
        }
        at += wr->sge[i].length;
    }
    wr->inline_data = buf;
    wr->inline_bytes = total;
    wr->n_sge = 0;
    *ret = buf;
    return true;
}

static uint32_t send_flags(const struct step *st)
{
    static const struct {
        const char *name;
        uint32_t bit;
    } rows[] = {{"signaled", SF_SIGNALED},
                {"solicited", SF_SOLICITED},
                {"inline", SF_INLINE},
                {"fence", SF_FENCE}};
    uint32_t flags = 0;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        flags |= step_has(st, rows[i].name) ? rows[i].bit : 0;
    return flags;
}

bool run_post_send(struct session *s, const struct step *st)
{
    char host[RDL_NAME_BYTES];
    const struct scope in = session_scope(s), rest = resolve_rest(&in, step_text(st, "qp"), host);
    struct rdl_sge sge[RDL_SGE_MAX];
    const uint32_t imm = (uint32_t)step_number_or(st, "imm", 0);
    struct rdl_send_wr wr = {
        .wr_id = step_number(st, "wr_id"),
        .opcode =
            (uint32_t)step_number_or(st, "op", step_has(st, "imm") ? WR_SEND_WITH_IMM : WR_SEND),
        .flags = send_flags(st),
        .imm = {(uint8_t)(imm >> 24), (uint8_t)(imm >> 16), (uint8_t)(imm >> 8), (uint8_t)imm},
        .sge = sge,
    };
    uint8_t *inlined = NULL;
    rdl_qp qp;
    bool ok;

    if (!resolve_object(&in, st, "qp", OBJ_QP, &qp.raw, &s->diag) ||
        !read_sges(s, &rest, st, sge, &wr.n_sge))
        return false;
    if ((wr.flags & SF_INLINE) && !gather(s, st, qp, &wr, &inlined))
        return false;
    ok = explain_post(s, st, qp, &sending, rdl_post_send(s->lab, qp, &wr, step_has(st, "nokick")));
    free(inlined);
    return ok;
}

bool run_post_recv(struct session *s, const struct step *st)
{
    char host[RDL_NAME_BYTES];
    const struct scope in = session_scope(s), rest = resolve_rest(&in, step_text(st, "qp"), host);
    struct rdl_sge sge[RDL_SGE_MAX];
    struct rdl_recv_wr wr = {.wr_id = step_number(st, "wr_id"), .sge = sge};
    rdl_qp qp;

    if (!resolve_object(&in, st, "qp", OBJ_QP, &qp.raw, &s->diag) ||
        !read_sges(s, &rest, st, sge, &wr.n_sge))
        return false;
    return explain_post(s, st, qp, &receiving,
                        rdl_post_recv(s->lab, qp, &wr, step_has(st, "nokick")));
}

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

static void say_completion(struct session *s, const struct rdl_wc *wc)
{
    char line[256];
    struct text t = text_on(line, sizeof(line));

    text_addf(&t, "wc wr_id=%llu %s %s", (unsigned long long)wc->wr_id,
              enum_name(&enum_wc_status, wc->status), enum_name(&enum_wc_opcode, wc->opcode));
    if (wc->opcode == WC_RECV && wc->status == WCS_SUCCESS)
        text_addf(&t, " %u bytes", wc->byte_len);
    if (wc->wc_flags & WCF_WITH_IMM)
        text_addf(&t, " imm=0x%02x%02x%02x%02x", wc->imm[0], wc->imm[1], wc->imm[2], wc->imm[3]);
    if (wc->status != WCS_SUCCESS && wc->vendor_err)
        text_addf(&t, ", by %s", enum_name(&enum_rule, wc->vendor_err));
    session_say(s, "%s\n", line);
}

bool run_poll_cq(struct session *s, const struct step *st)
{
    const struct scope in = session_scope(s);
    size_t left = (size_t)step_number(st, "max"), total = 0;
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
        left--;
        total++;
    }
    if (total == 0)
        session_say(s, "no completion\n");
    return true;
}
