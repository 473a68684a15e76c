/* SPDX-License-Identifier: MIT */
/* Finds arguments that the lab would refuse in its current state, so that completion can give the
 * reason.
 */
#include <string.h>

#include "cli/complete/completion.h"
#include "cli/lang/values.h"
#include "emu/base/assert.h"
#include "emu/facts/datagram.h"
#include "emu/facts/enum/key_kind.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/qp_fsm.h"
#include "emu/facts/wr.h"

#define IN(state) (1u << QPS_##state)
#define ANY_STATE 0xffu

/* The queue pair states in which a command is accepted, and the text for its message. */
static const struct {
    enum cmd_id cmd;
    unsigned states; /* set of IN() */
    const char *needs;
} needs_state[] = {
    {CMD_post_send, IN(RTS) | IN(SQD) | IN(SQE) | IN(ERR), "RTS"},
    {CMD_bind_mw, IN(RTS) | IN(SQD) | IN(SQE) | IN(ERR), "RTS"},
    {CMD_post_recv, ANY_STATE & ~IN(RESET), "INIT, RTR or RTS"},
    {CMD_connect, IN(RESET), "RESET"},
};

static enum cmd_id id_of(const struct complete_request *c)
{
    return (enum cmd_id)(c->st->cmd - cmd_table);
}

static bool leaf_is(const struct complete_request *c, const char *path, enum leaf_id leaf,
                    struct rdl_value *ret)
{
    return tree_leaf(c->s->lab, path, leaf, ret);
}

/* --- Queue pairs ------------------------------------------------------------------------------ */

static bool bar_type(const struct complete_request *c, const char *path, uint32_t type,
                     struct text *t)
{
    const enum cmd_id id = id_of(c);

    if (id == CMD_connect && qp_type_is_datagram(type))
        text_addf(t, "is %s, which has no connection", enum_name(&enum_qp_type, type));
    else if ((id == CMD_attach_mcast || id == CMD_detach_mcast) && type != QPT_UD)
        text_addf(t, "is %s; only UD has multicast groups", enum_name(&enum_qp_type, type));
    else if (id == CMD_connect && strcmp(path, c->st->object) == 0 &&
             strcmp(c->param->name, "b") == 0)
        text_add(t, "is the other end already");
    return t->len > 0;
}

static bool bar_qp(const struct complete_request *c, const char *path, struct text *t)
{
    struct rdl_value type, state, srq;

    if (!leaf_is(c, path, LEAF_qp_type, &type) || !leaf_is(c, path, LEAF_qp_known_state, &state))
        return false;
    if (bar_type(c, path, (uint32_t)type.number, t))
        return true;
    if (id_of(c) == CMD_post_recv && leaf_is(c, path, LEAF_qp_srq, &srq) && srq.text[0]) {
        text_addf(t, "takes its receives from %s: post_srq_recv", srq.text);
        return true;
    }
    for (size_t i = 0; i < ARRAY_LEN(needs_state); i++) {
        if (needs_state[i].cmd != id_of(c) || (needs_state[i].states & 1u << state.number))
            continue;
        text_addf(t, "is in %s; %s needs %s", state.text, c->st->cmd->name, needs_state[i].needs);
        return true;
    }
    text_addf(t, "%s, %s", type.text, state.text);
    return false;
}

/* --- Other objects ---------------------------------------------------------------------------- */

/* Refuses a region for `remote=` if its access rights do not allow the operation. */
static bool bar_remote(const struct complete_request *c, const char *access, struct text *t)
{
    static const struct {
        const char *op, *access;
    } needs[] = {{"rdma_write", "REMOTE_WRITE"},
                 {"rdma_write_with_imm", "REMOTE_WRITE"},
                 {"rdma_read", "REMOTE_READ"},
                 {"rdma_read_with_inv", "REMOTE_READ"},
                 {"atomic_cmp_and_swp", "REMOTE_ATOMIC"},
                 {"atomic_fetch_and_add", "REMOTE_ATOMIC"}};
    const char *op = "";

    if (strcmp(c->param->name, "remote") != 0 && strcmp(c->param->name, "rkey") != 0)
        return false;
    for (size_t i = 1; i < c->st->n; i++) {
        if (strncmp(c->st->words[i], "op=", 3) == 0)
            op = c->st->words[i] + 3;
    }
    for (size_t i = 0; i < ARRAY_LEN(needs); i++) {
        if (strcmp(needs[i].op, op) != 0 || strstr(access, needs[i].access))
            continue;
        text_addf(t, "has no access for peers: %s needs %s", op, needs[i].access);
        return true;
    }
    return false;
}

static bool bar_mr(const struct complete_request *c, const char *path, struct text *t)
{
    struct rdl_value bytes, access, kind;

    if (!leaf_is(c, path, LEAF_mr_bytes, &bytes) || !leaf_is(c, path, LEAF_mr_access, &access) ||
        !leaf_is(c, path, LEAF_mr_kind, &kind))
        return false;
    if (bar_remote(c, access.text, t))
        return true;
    if (id_of(c) == CMD_map_mr_sg && (c->param->flags & P_OPERAND) && kind.number != KEY_FAST_MR) {
        text_add(t, "was not made by alloc_mr");
        return true;
    }
    text_addf(t, "%llu bytes, %s", (unsigned long long)bytes.number, access.text);
    return false;
}

static bool bar_users(const struct complete_request *c, const char *path, enum leaf_id users,
                      struct text *t)
{
    const unsigned long long n = tree_number(c->s->lab, path, users);

    if (n > 0)
        text_addf(t, "%llu %s it", n, n == 1 ? "object uses" : "objects use");
    return n > 0;
}

/* --- Hosts ------------------------------------------------------------------------------------ */

/* Returns true if the wanted host is a machine. */
static bool wants_machine(const struct complete_request *c)
{
    static const struct {
        enum cmd_id id;
        const char *param;
    } rows[] = {{CMD_guest, "on"}, {CMD_move, "to"}, {CMD_vf, "machine"}};

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (id_of(c) == rows[i].id && strcmp(c->param->name, rows[i].param) == 0)
            return true;
    }
    return false;
}

static bool bar_host(const struct complete_request *c, const char *path, struct text *t)
{
    const enum cmd_id id = id_of(c);
    char child[TREE_PATH_BYTES];
    struct rdl_value machine;

    if (wants_machine(c) && !tree_child(c->s->lab, path, CHILD_host_vfs, child))
        text_add(t, "is no machine");
    else if (id == CMD_link && tree_child(c->s->lab, path, CHILD_host_port, child) &&
             leaf_is(c, child, LEAF_port_machine, &machine))
        text_addf(t, "is a guest of %s and has no cable", machine.text);
    return t->len > 0;
}

/* --- Objects ---------------------------------------------------------------------------------- */

/* Returns true if the object that @p names must be on the same host as the others. */
static bool stays_on_host(const struct param *p)
{
    return p->kind == VAL_OBJECT || p->kind == VAL_BYTES;
}

void bar_object(const struct complete_request *c, const char *path, struct text *ret,
                bool *ret_barred)
{
    char host[RDL_NAME_BYTES];

    *ret_barred = false;
    if (!c->st->cmd || !c->param)
        return;
    resolve_host_name(path, host);
    if (c->st->home[0] && stays_on_host(c->param) && id_of(c) != CMD_connect &&
        strcmp(host, c->st->home) != 0 && c->st->n > 1 && !strstr(c->st->object, path)) {
        text_addf(ret, "is on %s, and what uses it on %s", host, c->st->home);
        *ret_barred = true;
        return;
    }
    if (tree_is(c->s->lab, path, NODE_host))
        *ret_barred = bar_host(c, path, ret);
    else if (tree_is(c->s->lab, path, NODE_qp))
        *ret_barred = bar_qp(c, path, ret);
    else if (tree_is(c->s->lab, path, NODE_mr))
        *ret_barred = bar_mr(c, path, ret);
    else if (id_of(c) == CMD_dealloc_pd)
        *ret_barred = bar_users(c, path, LEAF_pd_users, ret);
    else if (id_of(c) == CMD_destroy_srq)
        *ret_barred = bar_users(c, path, LEAF_srq_users, ret);
}

/* --- Words ------------------------------------------------------------------------------------ */

void bar_word(const struct complete_request *c, const struct enum_row *row, struct text *ret,
              bool *ret_barred)
{
    struct rdl_qp_info qp;
    unsigned missing, extra;

    if (!c->st->cmd || !c->param || !statement_qp(c->s, c->st, &qp))
        return;
    if (id_of(c) == CMD_modify_qp && strcmp(c->param->name, "state") == 0) {
        *ret_barred = qp_fsm_check((enum qp_type)qp.type, (enum qp_state)qp.attr.state,
                                   (enum qp_state)row->value, 0, &missing, &extra) == RDL_ERR_STATE;
        if (*ret_barred)
            text_addf(ret, "there is no way from %s to it",
                      enum_name(&enum_qp_state, qp.attr.state));
    } else if (id_of(c) == CMD_post_send && strcmp(c->param->name, "op") == 0) {
        *ret_barred = !wr_is_of_type((enum qp_type)qp.type, row->value);
        if (*ret_barred)
            text_addf(ret, "%s has no such operation", enum_name(&enum_qp_type, qp.type));
    }
}
