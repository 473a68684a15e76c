/* SPDX-License-Identifier: MIT */
/* Verbs that make and destroy: protection domains, memory regions, completion queues, queue pairs.
 */
#include <string.h>

#include "cli/cmd/dispatch.h"
#include "cli/session/advance.h"
#include "cli/session/resolve.h"
#include "cli/tree/tree.h"
#include "emu/base/assert.h"
#include "emu/base/text.h"
#include "rdmalab/inspect.h"

/* The host of an object that lives, by its name. */
static bool host_of(struct session *s, struct span at, enum object_kind kind, uint32_t raw,
                    rdl_host *ret)
{
    char path[RDL_VALUE_BYTES], name[RDL_NAME_BYTES];

    rdl_path_of(s->lab, kind, raw, path);
    resolve_host_name(path, name);
    return rdl_find_host(s->lab, name, ret) == RDL_OK ||
           session_fail(s, at, "%s is not there any more", path);
}

/* The object's name without its host. */
static void own_name(struct session *s, enum object_kind kind, uint32_t raw, char *ret)
{
    char path[RDL_VALUE_BYTES];
    const char *dot;
    struct text t = text_on(ret, RDL_VALUE_BYTES);

    rdl_path_of(s->lab, kind, raw, path);
    dot = strchr(path, '.');
    text_add(&t, dot ? dot + 1 : path);
}

/* Waits for a control request on @host that had status @status when it was put into the ring. */
static bool finish(struct session *s, const struct step *st, rdl_host host, enum rdl_status status)
{
    if (status == RDL_ERR_EXISTS && st->as.text) {
        session_fail(s, st->as.at, "%s already has a \"%s\"", s->host, st->as.text);
        return diag_remedy(&s->diag, "choose another name");
    }
    if (status == RDL_ERR_RESERVED && st->as.text) {
        session_fail(s, st->as.at, "every host has a \"%s\" of its own: %s", st->as.text,
                     leaf_reserved(NODE_host, st->as.text));
        return diag_remedy(&s->diag, "choose another name");
    }
    if (status != RDL_OK)
        return session_fail_status(s, st->at, st->cmd->name, status);
    return advance_wait(s, host, st->at);
}

bool run_alloc_pd(struct session *s, const struct step *st)
{
    char name[RDL_VALUE_BYTES];
    rdl_host host;
    rdl_pd pd;

    if (!resolve_host(s, st, "host", &host) ||
        !finish(s, st, host, rdl_alloc_pd(s->lab, host, st->as.text, &pd)))
        return false;
    own_name(s, OBJ_PD, pd.raw, name);
    session_made(s, s->host, "%s", name);
    return true;
}

bool run_reg_mr(struct session *s, const struct step *st)
{
    const uint64_t bytes = step_number(st, "len");
    const uint32_t access = step_has(st, "access") ? step_set(st, "access") : ACC_LOCAL_WRITE;
    struct memory m = {0};
    struct rdl_mr_info info;
    char name[RDL_VALUE_BYTES];
    enum rdl_status status;
    rdl_host host;
    rdl_pd pd;
    rdl_mr mr;

    if (!resolve_object(s, st, "pd", OBJ_PD, &pd.raw) || !host_of(s, st->at, OBJ_PD, pd.raw, &host))
        return false;
    if (step_has(st, "addr")) {
        if (!resolve_memory(s, st, "addr", 0, &m))
            return false;
    } else {
        status = rdl_mem_alloc(s->lab, host, bytes, &m.addr);
        if (status != RDL_OK)
            return session_fail_status(s, step_span(st, "len", 0), "memory", status);
        s->changed = true; /* it stays allocated if the registration fails */
    }
    status = rdl_reg_mr(s->lab, pd, m.addr, bytes, access, st->as.text, &mr);
    if (status == RDL_ERR_INVAL && (access & (ACC_REMOTE_WRITE | ACC_REMOTE_ATOMIC)) &&
        !(access & ACC_LOCAL_WRITE)) {
        session_fail(s, step_span(st, "access", 0),
                     "remote write and atomic access need local write");
        return diag_remedy(&s->diag, "add lw to access=");
    }
    if (!finish(s, st, host, status))
        return false;
    own_name(s, OBJ_MR, mr.raw, name);
    if (rdl_mr_info(s->lab, mr, &info) == RDL_OK)
        session_made(s, s->host, "%s (%llu bytes, lkey 0x%x)", name, (unsigned long long)info.bytes,
                     info.lkey);
    return true;
}

bool run_create_cq(struct session *s, const struct step *st)
{
    const uint32_t cqe = (uint32_t)step_number(st, "cqe");
    char path[RDL_VALUE_BYTES], name[RDL_VALUE_BYTES];
    rdl_host host;
    rdl_cq cq;

    if (!resolve_host(s, st, "host", &host) ||
        !finish(s, st, host, rdl_create_cq(s->lab, host, cqe, st->as.text, &cq)))
        return false;
    rdl_path_of(s->lab, OBJ_CQ, cq.raw, path);
    own_name(s, OBJ_CQ, cq.raw, name);
    session_made(s, s->host, "%s (queue %llu)", name,
                 (unsigned long long)tree_number(s->lab, path, LEAF_cq_cqn));
    return true;
}

/* What a queue pair cannot be made of. */
static bool explain_create_qp(struct session *s, const struct step *st, rdl_host host,
                              enum rdl_status status)
{
    static const char *const keys[] = {"send_cq", "recv_cq"};
    char path[SESSION_PATH_BYTES], name[RDL_NAME_BYTES];
    rdl_host other;

    if (status == RDL_ERR_UNSUPPORTED) {
        session_fail(s, step_span(st, "type", 0), "this type of queue pair is not there yet");
        return diag_remedy(&s->diag, "type=rc is");
    }
    for (size_t i = 0; status == RDL_ERR_INVAL && i < ARRAY_LEN(keys); i++) {
        resolve_path(s, step_text(st, keys[i]), path);
        resolve_host_name(path, name);
        if (rdl_find_host(s->lab, name, &other) == RDL_OK && other.raw == host.raw)
            continue;
        session_fail(s, step_span(st, keys[i], 0), "%s is on another host", path);
        return diag_remedy(&s->diag, "a queue pair and its completion queues share a device");
    }
    return finish(s, st, host, status);
}

bool run_create_qp(struct session *s, const struct step *st)
{
    struct rdl_qp_config config = {
        .type = (uint32_t)step_number(st, "type"),
        .max_send_wr = (uint32_t)step_number(st, "max_send_wr"),
        .max_recv_wr = (uint32_t)step_number(st, "max_recv_wr"),
        .max_send_sge = (uint32_t)step_number(st, "max_send_sge"),
        .max_recv_sge = (uint32_t)step_number(st, "max_recv_sge"),
        .max_inline_data = (uint32_t)step_number(st, "max_inline_data"),
        .sq_sig_all = step_has(st, "sq_sig_all"),
    };
    char name[RDL_VALUE_BYTES];
    struct rdl_qp_info info;
    rdl_host host;
    rdl_qp qp;

    if (!resolve_object(s, st, "pd", OBJ_PD, &config.pd.raw) ||
        !resolve_object(s, st, "send_cq", OBJ_CQ, &config.send_cq.raw) ||
        !resolve_object(s, st, "recv_cq", OBJ_CQ, &config.recv_cq.raw) ||
        !host_of(s, st->at, OBJ_PD, config.pd.raw, &host))
        return false;
    if (!explain_create_qp(s, st, host, rdl_create_qp(s->lab, &config, st->as.text, &qp)))
        return false;
    own_name(s, OBJ_QP, qp.raw, name);
    if (rdl_qp_info(s->lab, qp, &info) == RDL_OK)
        session_made(s, s->host, "%s (QPN %u, queues %u and %u, %s)", name, info.qpn, info.sq_queue,
                     info.rq_queue, enum_name(&enum_qp_state, info.attr.state));
    return true;
}

/* Says who uses an object that cannot be destroyed. */
static bool busy(struct session *s, const struct step *st, const char *param)
{
    char path[SESSION_PATH_BYTES];

    resolve_path(s, step_text(st, param), path);
    session_fail(s, step_span(st, param, 0), "%s is still in use", path);
    return diag_remedy(&s->diag, "destroy what uses it first; \"show %s\" tells more", path);
}

bool run_dealloc_pd(struct session *s, const struct step *st)
{
    enum rdl_status status;
    rdl_host host;
    rdl_pd pd;

    if (!resolve_object(s, st, "pd", OBJ_PD, &pd.raw) || !host_of(s, st->at, OBJ_PD, pd.raw, &host))
        return false;
    status = rdl_dealloc_pd(s->lab, pd);
    return status == RDL_ERR_BUSY ? busy(s, st, "pd") : finish(s, st, host, status);
}

bool run_dereg_mr(struct session *s, const struct step *st)
{
    rdl_host host;
    rdl_mr mr = {0};

    return resolve_object(s, st, "mr", OBJ_MR, &mr.raw) &&
           host_of(s, st->at, OBJ_MR, mr.raw, &host) &&
           finish(s, st, host, rdl_dereg_mr(s->lab, mr));
}

bool run_destroy_cq(struct session *s, const struct step *st)
{
    enum rdl_status status;
    rdl_host host;
    rdl_cq cq;

    if (!resolve_object(s, st, "cq", OBJ_CQ, &cq.raw) || !host_of(s, st->at, OBJ_CQ, cq.raw, &host))
        return false;
    status = rdl_destroy_cq(s->lab, cq);
    return status == RDL_ERR_BUSY ? busy(s, st, "cq") : finish(s, st, host, status);
}

bool run_req_notify_cq(struct session *s, const struct step *st)
{
    rdl_host host;
    rdl_cq cq = {0};

    return resolve_object(s, st, "cq", OBJ_CQ, &cq.raw) &&
           host_of(s, st->at, OBJ_CQ, cq.raw, &host) &&
           finish(s, st, host, rdl_req_notify_cq(s->lab, cq, step_has(st, "solicited")));
}

bool run_destroy_qp(struct session *s, const struct step *st)
{
    rdl_host host;
    rdl_qp qp = {0};

    return resolve_object(s, st, "qp", OBJ_QP, &qp.raw) &&
           host_of(s, st->at, OBJ_QP, qp.raw, &host) &&
           finish(s, st, host, rdl_destroy_qp(s->lab, qp));
}

bool run_query_qp(struct session *s, const struct step *st)
{
    char name[RDL_VALUE_BYTES];
    struct rdl_qp_info info;
    rdl_host host;
    rdl_qp qp;

    if (!resolve_object(s, st, "qp", OBJ_QP, &qp.raw) ||
        !host_of(s, st->at, OBJ_QP, qp.raw, &host) ||
        !finish(s, st, host, rdl_query_qp(s->lab, qp)))
        return false;
    if (rdl_qp_info(s->lab, qp, &info) != RDL_OK)
        return true;
    own_name(s, OBJ_QP, qp.raw, name);
    session_made(s, s->host, "%s state=%s dest_qpn=%u sq_psn=%u rq_psn=%u mtu=%u", name,
                 enum_name(&enum_qp_state, info.attr.state), info.attr.dest_qpn, info.attr.sq_psn,
                 info.attr.rq_psn, mtu_bytes(info.attr.path_mtu));
    return true;
}

bool run_query_port(struct session *s, const struct step *st)
{
    char port[TREE_PATH_BYTES];
    struct rdl_value state;
    rdl_host host;

    if (!resolve_host(s, st, "host", &host) || !finish(s, st, host, rdl_query_port(s->lab, host)))
        return false;
    if (tree_child(s->lab, s->host, CHILD_host_port, port) &&
        tree_leaf(s->lab, port, LEAF_port_state, &state))
        session_made(s, s->host, "port %s", state.text);
    return true;
}
