/* SPDX-License-Identifier: MIT */
/* Multicast groups of rdma_cm.  librdmacm attaches the queue pair when it takes MULTICAST_JOIN, and
 * detaches it before it leaves.
 */
#include <string.h>

#include "cli/cmd/cm_calls.h"
#include "cli/cmd/commands.h"
#include "emu/wire/addr.h"

/* Finds the membership of @id in the group @to.  Returns false if there is none. */
static bool find_group(const struct session *s, rdl_cm_id id, const struct rdl_cm_addr *to,
                       struct rdl_cm_group *ret)
{
    for (uint32_t i = 0; rdl_cm_group_at(s->lab, id, i, ret) == RDL_OK; i++) {
        if (memcmp(ret->gid, to->gid, sizeof(ret->gid)) == 0)
            return true;
    }
    return false;
}

bool run_rdma_join_multicast(struct session *s, const struct step *st)
{
    struct rdl_cm_group joined;
    struct rdl_cm_addr to;
    enum rdl_status status;
    uint32_t membership;
    struct home home;
    rdl_cm_id id;
    int error;

    if (!cm_find_id(s, st, &id, &home) || !cm_read_address(s, st, "addr", home.host, 0, 0, &to))
        return false;
    if (!gid_is_group(to.gid)) {
        session_fail(s, step_span(st, "addr", 0), "%s is no multicast address",
                     step_text(st, "addr"));
        return diag_remedy(&s->diag, "those of IPv4 are 224.0.0.0 to 239.255.255.255");
    }
    if (find_group(s, id, &to, &joined))
        return session_fail(s, st->at, "%s has joined this group already", step_text(st, "id"));
    status = rdl_cm_join(s->lab, id, &to, step_has(st, "sendonly"), &membership, &error);
    return cm_called(s, st, status, error);
}

bool run_rdma_leave_multicast(struct session *s, const struct step *st)
{
    struct rdl_cm_id_info info;
    struct rdl_cm_group group;
    struct rdl_cm_addr to;
    struct home home;
    rdl_cm_id id;

    if (!cm_find_id(s, st, &id, &home) || !cm_read_address(s, st, "addr", home.host, 0, 0, &to) ||
        !cm_called(s, st, rdl_cm_id_info(s->lab, id, &info), 0))
        return false;
    if (!find_group(s, id, &to, &group))
        return session_fail(s, st->at, "%s has not joined this group", step_text(st, "id"));
    if (group.is_attached && cm_has_qp(s, &info) &&
        !verb_finish(s, st, &home, rdl_detach_mcast(s->lab, info.qp, to.gid)))
        return false;
    return cm_called(s, st, rdl_cm_leave(s->lab, id, group.number), 0);
}

bool run_rdma_set_option(struct session *s, const struct step *st)
{
    enum rdl_status status;
    struct home home;
    rdl_cm_id id;
    int error;

    if (!cm_find_id(s, st, &id, &home))
        return false;
    status = rdl_cm_set_option(s->lab, id, (uint32_t)step_number(st, "option"),
                               (uint32_t)step_number(st, "value"), &error);
    return cm_called(s, st, status, error);
}
