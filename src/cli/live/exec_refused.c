/* SPDX-License-Identifier: MIT */
#include "cli/live/exec_refused.h"

#include <string.h>

#include "cli/live/exec_limits.h"
#include "emu/base/assert.h"
#include "emu/base/text.h"
#include "emu/facts/compared.h"
#include "emu/facts/enum/access.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/refusal.h"
#include "rdmalab/control.h"

/* Returns the function of libibverbs that makes the call; NULL: none makes it by itself. */
static const char *function_of(const struct program_call *call)
{
    static const char *const functions[PROGRAM_OP_COUNT] = {
        [PROGRAM_QUERY_PORT] = "ibv_query_port",
        [PROGRAM_QUERY_GID] = "ibv_query_gid",
        [PROGRAM_QUERY_PKEY] = "ibv_query_pkey",
        [PROGRAM_ALLOC_PD] = "ibv_alloc_pd",
        [PROGRAM_REG_MR] = "ibv_reg_mr",
        [PROGRAM_REREG_MR] = "ibv_rereg_mr",
        [PROGRAM_ALLOC_MW] = "ibv_alloc_mw",
        [PROGRAM_CREATE_CHANNEL] = "ibv_create_comp_channel",
        [PROGRAM_CREATE_CQ] = "ibv_create_cq",
        [PROGRAM_NEW_RING] = "ibv_resize_cq",
        [PROGRAM_RESIZE_CQ] = "ibv_resize_cq",
        [PROGRAM_ARM_CQ] = "ibv_req_notify_cq",
        [PROGRAM_CREATE_SRQ] = "ibv_create_srq",
        [PROGRAM_MODIFY_SRQ] = "ibv_modify_srq",
        [PROGRAM_QUERY_SRQ] = "ibv_query_srq",
        [PROGRAM_CREATE_QP] = "ibv_create_qp",
        [PROGRAM_MODIFY_QP] = "ibv_modify_qp",
        [PROGRAM_QUERY_QP] = "ibv_query_qp",
        [PROGRAM_CREATE_AH] = "ibv_create_ah",
        [PROGRAM_ATTACH_MCAST] = "ibv_attach_mcast",
        [PROGRAM_DETACH_MCAST] = "ibv_detach_mcast",
    };
    static const char *const destroyers[PROGRAM_KIND_COUNT] = {
        [PROGRAM_PD] = "ibv_dealloc_pd", [PROGRAM_MR] = "ibv_dereg_mr",
        [PROGRAM_MW] = "ibv_dealloc_mw", [PROGRAM_CHANNEL] = "ibv_destroy_comp_channel",
        [PROGRAM_CQ] = "ibv_destroy_cq", [PROGRAM_SRQ] = "ibv_destroy_srq",
        [PROGRAM_QP] = "ibv_destroy_qp", [PROGRAM_AH] = "ibv_destroy_ah",
    };

    if (call->op == PROGRAM_DESTROY)
        return call->u.destroy.kind < PROGRAM_KIND_COUNT ? destroyers[call->u.destroy.kind] : NULL;
    return call->op < PROGRAM_OP_COUNT ? functions[call->op] : NULL;
}

/* Appends the names of the attributes in @set, an enum qp_attr_bit each, behind @lead. */
static void add_attributes(struct text *t, const char *lead, uint32_t set)
{
    for (size_t i = 0; i < enum_qp_attr.n_rows; i++) {
        if (!(set & enum_qp_attr.rows[i].value))
            continue;
        text_addf(t, "%s%s", lead, enum_qp_attr.rows[i].text);
        lead = ", ";
    }
}

static bool is_ipv4(const uint8_t gid[16])
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff}; /* [RFC 4291, 2.5.5.2] */

    return memcmp(gid, mapped, sizeof(mapped)) == 0;
}

/* Appends the mistake in the address vector of a call.  Programs for InfiniBand often leave out the
 * GID; and two programs often take GIDs of different kinds.
 */
static void add_address(struct text *t, const struct exec_client *c, const struct program_av *av)
{
    static const uint8_t none[16];
    uint8_t own[16], mac[6];

    if (memcmp(av->dgid, none, sizeof(none)) == 0)
        text_addf(t, "ah_attr needs a GID for RoCE, and %s is 0; many programs have -g 0 for that",
                  av->is_global ? "grh.dgid" : "is_global");
    else if (rdl_host_address(c->lab, c->host, av->sgid_index, own, mac) != RDL_OK)
        text_addf(t, "the host has no GID with ah_attr's sgid_index %u", av->sgid_index);
    else if (is_ipv4(own) != is_ipv4(av->dgid))
        text_addf(t,
                  "ah_attr: sgid_index %u is an %s address, and dgid is not; both sides need the "
                  "same kind",
                  av->sgid_index, is_ipv4(own) ? "IPv4" : "IPv6");
    else
        text_add(t, "ah_attr is not possible");
}

/* Appends the mistakes that the driver found in the attributes of a queue pair. */
static void add_modify(struct text *t, const struct exec_client *c, enum rdl_status st)
{
    const struct rdl_modify_error *e = &c->modify_error;
    uint32_t others = e->bad & ~(uint32_t)QPA_AV;

    text_addf(t, "; %s -> %s", enum_name(&enum_qp_state, e->from),
              enum_name(&enum_qp_state, e->to));
    if (st == RDL_ERR_STATE)
        text_add(t, " is not possible");
    add_attributes(t, " also needs ", e->missing);
    add_attributes(t, e->missing ? "; it takes no " : " takes no ", e->extra);
    for (uint32_t i = 0; i < e->n_ranges; i++) {
        const struct rdl_attr_range *r = &e->range[i];

        add_attributes(t, i ? ", " : ": ", r->attr);
        if (r->least == r->most)
            text_addf(t, " is %u, and must be %u", r->found, r->least);
        else
            text_addf(t, " is %u, and must be %u to %u", r->found, r->least, r->most);
        others &= ~r->attr;
    }
    add_attributes(t, e->n_ranges ? ", " : ": not possible: ", others);
    if (e->bad & QPA_AV) {
        text_add(t, e->bad == QPA_AV ? ": " : "; ");
        add_address(t, c, &c->call.u.modify_qp.attr.av);
    }
}

/* Appends the reason of the device. */
static void add_refusal(struct text *t, const struct exec_client *c, const struct rdl_response *rsp)
{
    struct rdl_refusal why = {0};

    if (rdl_last_refusal(c->lab, c->host, &why) != RDL_OK ||
        refusal_errno(refusal_kind((enum refusal_reason)why.reason)) != rsp->error) {
        text_addf(t, "; %s", rsp->text ? rsp->text : rdl_status_str(RDL_ERR_DEVICE));
        return;
    }
    text_addf(t, "; the device says %s", enum_name(&enum_refusal, why.reason));
    compared_add_refusal(t, why.reason, &(struct compared){why.least, why.most, why.found});
}

/* Appends the reason why the lab, and not the device, has refused a call that is no MODIFY_QP. */
static void add_reason(struct text *t, const struct exec_client *c, enum rdl_status st)
{
    const uint32_t writes = ACC_REMOTE_WRITE | ACC_REMOTE_ATOMIC;
    const struct exec_limit limit = exec_limit_exceeded(c);
    const uint32_t access = c->call.op == PROGRAM_REG_MR ? c->call.u.reg_mr.access : 0;

    if (st != RDL_ERR_INVAL) {
        text_addf(t, "; %s", rdl_status_str(st));
    } else if (c->call.op == PROGRAM_CREATE_AH) {
        text_add(t, "; ");
        add_address(t, c, &c->call.u.create_ah.av);
    } else if (limit.name) {
        text_addf(t, "; %s is %u, and must be at most %u", limit.name, limit.found, limit.most);
    } else if ((access & writes) && !(access & ACC_LOCAL_WRITE)) {
        text_add(t, "; IBV_ACCESS_REMOTE_WRITE and _ATOMIC need IBV_ACCESS_LOCAL_WRITE");
    }
}

void exec_refused_note(struct exec_client *c, enum rdl_status st, const struct rdl_response *rsp)
{
    const struct rdl_modify_error *e = &c->modify_error;
    const char *function = function_of(&c->call);
    struct text t;

    if (!c->account || !function || (c->call.op == PROGRAM_DESTROY && c->account->refused[0]))
        return;
    t = text_on(c->account->refused, EXEC_REFUSED_BYTES);
    text_addf(&t, "%s(): %s", function, strerror(exec_error(st, rsp)));
    if (st == RDL_ERR_DEVICE)
        add_refusal(&t, c, rsp);
    else if (c->call.op == PROGRAM_MODIFY_QP &&
             (st == RDL_ERR_STATE || (e->missing | e->extra | e->bad)))
        add_modify(&t, c, st);
    else
        add_reason(&t, c, st);
}

void exec_refused_command(struct exec_client *c, const char *function, int error,
                          const char *reason)
{
    struct text t;

    if (!c->account || !function)
        return;
    t = text_on(c->account->refused, EXEC_REFUSED_BYTES);
    text_addf(&t, "%s(): %s%s%s", function, strerror(error), reason[0] ? "; " : "", reason);
}
