/* SPDX-License-Identifier: MIT */
#include "cli/cmd/verb.h"

#include <errno.h>
#include <string.h>

#include "cli/cmd/limit.h"
#include "cli/session/advance.h"
#include "emu/base/plural.h"
#include "emu/base/text.h"
#include "emu/facts/enum/device_type.h"
#include "emu/facts/enum/pool_lack.h"
#include "emu/facts/enum_table.h"
#include "emu/facts/leaf.h"
#include "emu/wire/addr.h"
#include "rdmalab/events.h"
#include "rdmalab/inspect.h"
#include "rdmalab/layer.h"
#include "tree/tree.h"

bool verb_absent(struct session *s, const struct home *home, enum pv_absent what,
                 const char *remedy)
{
    if (rdl_host_device(s->lab, home->host) != DEVICE_pvrdma)
        return diag_remedy(&s->diag, "%s", remedy);
    return diag_remedy(&s->diag, "its PVRDMA never does: \"explain %s\"",
                       enum_name(&enum_pv_absent, (uint32_t)what));
}

bool verb_home(struct session *s, const struct step *st, struct home *ret)
{
    const struct scope in = session_scope(s);
    const char *name = step_has(st, "host") ? step_text(st, "host") : in.host;

    resolve_host_name(name, ret->name);
    return resolve_host(&in, st, "host", &ret->host, &s->diag);
}

bool verb_fail_errno(struct session *s, const struct step *st, struct span at,
                     const struct errno_row *rows, int error)
{
    for (const struct errno_row *row = rows; row->error; row++) {
        if (row->error != error)
            continue;
        session_fail(s, at, "%s: %s: %s", st->cmd->name, row->name, row->text);
        return diag_remedy(&s->diag, "%s", row->remedy);
    }
    return session_fail(s, at, "%s: errno %d", st->cmd->name, error);
}

bool verb_object(struct session *s, const struct step *st, const char *param, enum object_kind kind,
                 uint64_t *ret_raw, struct home *ret_home)
{
    const struct scope in = session_scope(s);

    if (!resolve_object(&in, st, param, kind, ret_raw, &s->diag))
        return false;
    return resolve_home(s->lab, kind, *ret_raw, ret_home) ||
           session_fail(s, st->at, "%s is not there any more", step_text(st, param));
}

void verb_own_name(struct session *s, enum object_kind kind, uint64_t raw, char *ret)
{
    char path[RDL_VALUE_BYTES];
    const char *dot;
    struct text t = text_on(ret, RDL_VALUE_BYTES);

    rdl_path_of(s->lab, kind, raw, path);
    dot = strchr(path, '.');
    text_add(&t, dot ? dot + 1 : path);
}

/* Fails: the virtual RNIC of @home has got no function.  @what is said before the reason. */
static bool fail_without_function(struct session *s, const struct step *st, const struct home *home,
                                  const char *what)
{
    char vrnic[TREE_PATH_BYTES];
    struct rdl_value machine, lack;

    session_fail_status(s, st->at, what, RDL_ERR_NO_FUNCTION);
    if (!tree_child(s->lab, home->name, CHILD_host_vrnic, vrnic) ||
        !tree_leaf(s->lab, vrnic, LEAF_vrnic_machine, &machine) ||
        !tree_leaf(s->lab, vrnic, LEAF_vrnic_lack, &lack) || lack.number == LACK_NONE)
        return false;
    session_fail(s, st->at, "%s: no virtual function of %s is free: %s", what, machine.text,
                 enum_by_value(&enum_pool_lack, (uint32_t)lack.number)->text);
    diag_reason(&s->diag, RDL_ERR_NO_FUNCTION);
    switch ((enum pool_lack)lack.number) {
    case LACK_NOT_ENABLED:
        return diag_remedy(&s->diag, "vf enable %s 1", machine.text);
    case LACK_NO_SR_IOV:
        return diag_remedy(&s->diag,
                           "machine m9 vfs=4 adds one that offers it; move %s m9 takes the guest "
                           "there",
                           home->name);
    case LACK_PLAIN_GUESTS:
        return diag_remedy(&s->diag,
                           "they keep their functions: give %s more of them (vfs=), or add "
                           "fewer such guests",
                           machine.text);
    case LACK_ADDRESS:
        return diag_remedy(&s->diag,
                           "10.200.0.0/15 and fd00::/96 are for functions: give that host "
                           "another address");
    default:
        return diag_remedy(&s->diag,
                           "destroy the objects of another guest with a virtual RNIC; "
                           "\"show %s.vfs\" lists who has one",
                           machine.text);
    }
}

/* Fails unless @status is RDL_OK. */
static bool explain_status(struct session *s, const struct step *st, const struct home *home,
                           enum rdl_status status)
{
    struct rdl_response rsp;

    if (status == RDL_ERR_EXISTS && st->as.text) {
        session_fail(s, st->as.at, "%s already has a \"%s\"", home->name, st->as.text);
        return diag_remedy(&s->diag, "choose another name");
    }
    if (status == RDL_ERR_RESERVED && st->as.text) {
        session_fail(s, st->as.at, "every host has a \"%s\" of its own: %s", st->as.text,
                     leaf_reserved(NODE_host, st->as.text));
        return diag_remedy(&s->diag, "choose another name");
    }
    if (status == RDL_ERR_NO_FUNCTION)
        return fail_without_function(s, st, home, st->cmd->name);
    if (status == RDL_ERR_LIMIT)
        return limit_fail_verb(s, st, home->name);
    if (status == RDL_ERR_BUSY && rdl_answer(s->lab, home->host, &rsp) == RDL_ERR_BUSY) {
        session_fail(s, st->at, "the device of %s has not answered yet what it was asked before",
                     home->name);
        return diag_remedy(&s->diag, "\"run\" lets the answers come");
    }
    return status == RDL_OK || session_fail_status(s, st->at, st->cmd->name, status);
}

bool verb_sent(struct session *s, const struct step *st, const struct home *home,
               enum rdl_status status)
{
    return explain_status(s, st, home, status) || diag_reason(&s->diag, (uint32_t)status);
}

bool verb_finish(struct session *s, const struct step *st, const struct home *home,
                 enum rdl_status status)
{
    struct rdl_response rsp;
    enum rdl_status answer;

    if (!verb_sent(s, st, home, status))
        return false;
    if (advance_wait(s, home->host, st->at).end == ADVANCE_DONE)
        return true;
    answer = rdl_answer(s->lab, home->host, &rsp);
    if (answer == RDL_ERR_NO_FUNCTION)
        return fail_without_function(s, st, home, "the request has waited long enough");
    return answer == RDL_ERR_DEVICE && rsp.error == ENOMEM ? limit_name_full(s, st, home->name)
                                                           : false;
}

bool verb_may_begin(struct session *s, const struct step *st, const struct home *home)
{
    const enum rdl_status status =
        rdl_requests_max(s->lab, home->host, step_has(st, "nowait") ? RDL_REQUESTS_MAX : 1);

    return status == RDL_OK || session_fail_status(s, st->at, st->cmd->name, status);
}

bool verb_created(struct session *s, const struct step *st, const struct home *home,
                  enum rdl_status status, bool *ret_asked)
{
    *ret_asked = step_has(st, "nowait");
    if (!*ret_asked)
        return verb_finish(s, st, home, status);
    if (!verb_sent(s, st, home, status))
        return false;
    session_made(s, home->name, "%s asked for", st->as.text ? st->as.text : "an object");
    return true;
}

/* Names the objects that use the object at @path. */
static bool in_use(struct session *s, struct span at, const char *path,
                   const struct rdl_users *users)
{
    char user[RDL_VALUE_BYTES], more[32];
    struct text t = text_on(more, sizeof(more));

    rdl_path_of(s->lab, users->kind, users->raw, user);
    if (users->n > 1)
        text_addf(&t, " and %u more", users->n - 1);
    session_fail(s, at, "%s is in use by %s%s", path, user, more);
    return diag_remedy(&s->diag, "destroy what uses it first; \"show %s\" tells more", path);
}

/* Tells in s->diag who uses the object @raw.  Returns false if nobody is known. */
static bool explain_busy(struct session *s, const struct step *st, const char *param,
                         enum object_kind kind, uint64_t raw)
{
    const struct span at = step_span(st, param, 0);
    struct rdl_users users = {0};
    char path[RDL_VALUE_BYTES];

    if (rdl_users_of(s->lab, kind, raw, &users) != RDL_OK)
        return false;
    rdl_path_of(s->lab, kind, raw, path);
    if (users.n > 0) {
        in_use(s, at, path, &users);
    } else if (users.groups > 0) {
        session_fail(s, at, "%s is in %u multicast group%s", path, users.groups,
                     plural_s(users.groups));
        diag_remedy(&s->diag, "detach_mcast it first; \"show %s\" tells more", path);
    } else if (users.completion_events > 0) {
        session_fail(s, at, "completion events of %s that are not acknowledged: %u", path,
                     users.completion_events);
        diag_remedy(&s->diag, "ack_cq_events %s count=%u", path, users.completion_events);
    } else if (users.async_events > 0) {
        session_fail(s, at, "asynchronous events of %s that are not acknowledged: %u", path,
                     users.async_events);
        diag_remedy(&s->diag, "ack_async_event %s count=%u", path, users.async_events);
    } else {
        return false;
    }
    return true;
}

bool verb_destroyed(struct session *s, const struct step *st, const char *param,
                    enum object_kind kind, uint64_t raw, enum rdl_status status)
{
    struct home home;

    if (status == RDL_ERR_BUSY && explain_busy(s, st, param, kind, raw))
        return diag_reason(&s->diag, (uint32_t)status);
    if (resolve_home(s->lab, kind, raw, &home))
        return verb_finish(s, st, &home, status);
    return status == RDL_OK || session_fail_status(s, st->at, st->cmd->name, status);
}

/* An object of the kernel that a step names. */
struct kernel_object {
    enum rdl_kernel_part by;
    struct span at;
    char path[SESSION_PATH_BYTES];
};

/* Looks up the object that value @v of parameter @p names.  Takes it over if LNet has it, or if it
 * is the first one of the kernel: LNet refuses all uses, the connection manager few.
 */
static void look_for_keeper(const struct scope *in, const struct param *p, const struct value *v,
                            struct kernel_object *found)
{
    char path[SESSION_PATH_BYTES];
    struct rdl_users users;
    uint64_t raw;

    resolve_path(in, v->text, path);
    if (rdl_find(in->lab, path, p->object, &raw) != RDL_OK ||
        rdl_users_of(in->lab, p->object, raw, &users) != RDL_OK || users.kept_by <= found->by)
        return;
    found->by = users.kept_by;
    found->at = v->at;
    rdl_path_of(in->lab, p->object, raw, found->path);
}

void verb_name_keeper(struct session *s, const struct step *st)
{
    const struct scope in = session_scope(s);
    struct scope rest = in;
    char host[RDL_NAME_BYTES], home[RDL_NAME_BYTES];
    struct kernel_object found = {.by = RDL_KERNEL_NONE};

    for (size_t i = 0; i < st->cmd->n_params; i++) {
        const struct param *p = &st->cmd->params[i];
        const struct arg *a = p->kind == VAL_OBJECT ? step_arg(st, p->name) : NULL;

        for (size_t j = 0; a && j < a->n; j++) {
            if (!rest.host[0])
                rest = resolve_rest(&in, a->v[j].text, host);
            look_for_keeper(&rest, p, &a->v[j], &found);
        }
    }
    if (found.by == RDL_KERNEL_NONE)
        return;
    resolve_host_name(found.path, home);
    if (found.by == RDL_KERNEL_LNET) {
        session_fail(s, found.at, "%s is not of a program, but of the node of LNet of %s",
                     found.path, home);
        diag_remedy(&s->diag, "lnet_stop %s ends the node with its objects", home);
    } else {
        session_fail(s, found.at, "%s is not of a program, but of the connection manager of %s",
                     found.path, home);
        diag_remedy(&s->diag, "it stays with the host");
    }
    diag_reason(&s->diag, RDL_ERR_KERNEL);
}

bool verb_priority_fits(struct session *s, const struct step *st, uint32_t vlan)
{
    if (vlan > 0 || !step_has(st, "qos"))
        return true;
    session_fail(s, step_span(st, "qos", 0), "frames without a tag have no priority");
    return diag_remedy(&s->diag, "vlan=5 qos=3");
}

bool verb_fail_address(struct session *s, const struct step *st, const char *param, uint32_t index,
                       enum rdl_status status)
{
    const char *name = step_text(st, param);

    if (status != RDL_ERR_STATE)
        return session_fail(s, step_span(st, param, 0), "%s has no GID %u", name, (unsigned)index);
    session_fail(s, step_span(st, param, 0),
                 "%s has no address on the wire: its virtual RNIC has no function", name);
    return diag_remedy(&s->diag, "it gets one with its first object, as of create_qp");
}

bool verb_address(struct session *s, const struct step *st, const char *param, rdl_host from,
                  uint32_t qpn, struct rdl_ah_attr *ah)
{
    const struct scope in = session_scope(s);
    const char *text = step_text(st, param);
    enum rdl_status status;
    rdl_host host;

    if (addr_parse(text, ah->dgid))
        return true;
    if (rdl_find_host(s->lab, text, &host) != RDL_OK) {
        resolve_unknown(&in, step_span(st, param, 0), text, "no host", &s->diag);
        return diag_remedy(&s->diag, "%s= is the name of a host, or an IP address", param);
    }
    status = rdl_peer_address(s->lab, from, host, qpn, ah->sgid_index, ah->dgid, ah->dmac);
    return status == RDL_OK || verb_fail_address(s, st, param, ah->sgid_index, status);
}
