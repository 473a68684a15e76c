/* SPDX-License-Identifier: MIT */
#include "cli/cmd/limit.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/text.h"
#include "emu/facts/enum/qp_attr.h"
#include "rdmalab/fault.h"
#include "rdmalab/inspect.h"
#include "rdmalab/ip.h"
#include "tree/tree.h"

static const struct {
    unsigned max;
    const char *what; /* that there are at most @max of */
    const char *remedy;
} limits[] = {
    [LIMIT_HOSTS] = {RDL_HOSTS_MAX, "hosts", "give a host more queue pairs instead: max_qp="},
    [LIMIT_SWITCHES] = {RDL_SWITCHES_MAX, "switches", "link more to each of them"},
    [LIMIT_LINKS] = {RDL_LINKS_MAX, "links", "make the lab smaller"},
    [LIMIT_FAULTS] = {RDL_FAULTS_MAX, "faults",
                      "clear those that are done; \"show faults\" lists them"},
    [LIMIT_PINGS] = {RDL_PINGS_MAX, "pings under way from one host",
                     "let some end first: \"run 1s\""},
};

bool limit_fail(struct session *s, struct span at, enum lab_limit limit, const char *what,
                enum rdl_status status)
{
    if (status != RDL_ERR_LIMIT)
        return session_fail_status(s, at, what, status);
    session_fail(s, at, "a lab has at most %u %s", limits[limit].max, limits[limit].what);
    diag_reason(&s->diag, RDL_ERR_LIMIT);
    return diag_remedy(&s->diag, "%s", limits[limit].remedy);
}

bool limit_fail_range(struct session *s, const struct step *st, const char *name, uint64_t least,
                      uint64_t most)
{
    session_fail(s, step_span(st, name, 0), "%s: %s is out of range", name, step_text(st, name));
    return diag_remedy(&s->diag, "it must be %llu to %llu", (unsigned long long)least,
                       (unsigned long long)most);
}

bool limit_fail_link(struct session *s, const struct step *st, const char *a, const char *b,
                     enum rdl_status status)
{
    const char *const ends[] = {a, b};
    const char *const params[] = {"a", "b"};

    for (size_t i = 0; status == RDL_ERR_LIMIT && i < ARRAY_LEN(ends); i++) {
        if (!tree_is(s->lab, ends[i], NODE_switch) ||
            tree_number(s->lab, ends[i], LEAF_switch_ports) < RDL_SWITCH_PORTS_MAX)
            continue;
        session_fail(s, step_span(st, params[i], 0), "all %u ports of %s are in use",
                     RDL_SWITCH_PORTS_MAX, ends[i]);
        return diag_remedy(&s->diag, "link to another switch");
    }
    return limit_fail(s, st->at, LIMIT_LINKS, "link", status);
}

/* The path of the node that has the limits of a host's device. */
static void limits_path(const char *host, char ret[TREE_PATH_BYTES])
{
    struct text t = text_on(ret, TREE_PATH_BYTES);

    text_addf(&t, "%s.device.limits", host);
}

const struct limit_bound limit_bounds[] = {
    {"reg_mr", "len", LEAF_limits_max_mr_bytes},
    {"rereg_mr", "len", LEAF_limits_max_mr_bytes},
    {"alloc_mr", "max_pages", LEAF_limits_max_fast_pages},
    {"create_cq", "cqe", LEAF_limits_max_cqe},
    {"resize_cq", "cqe", LEAF_limits_max_cqe},
    {"resize_qp", "max_send_wr", LEAF_limits_max_qp_wr},
    {"resize_qp", "max_recv_wr", LEAF_limits_max_qp_wr},
    {"create_qp", "max_send_wr", LEAF_limits_max_qp_wr},
    {"create_qp", "max_recv_wr", LEAF_limits_max_qp_wr},
    {"create_qp", "max_send_sge", LEAF_limits_max_send_sge},
    {"create_qp", "max_recv_sge", LEAF_limits_max_recv_sge},
    {"rdma_create_qp", "max_send_wr", LEAF_limits_max_qp_wr},
    {"rdma_create_qp", "max_recv_wr", LEAF_limits_max_qp_wr},
    {"rdma_create_qp", "max_send_sge", LEAF_limits_max_send_sge},
    {"rdma_create_qp", "max_recv_sge", LEAF_limits_max_recv_sge},
    {"create_srq", "max_wr", LEAF_limits_max_qp_wr},
    {"create_srq", "max_sge", LEAF_limits_max_recv_sge},
};
const size_t n_limit_bounds = ARRAY_LEN(limit_bounds);

/* Attributes of a queue pair that a limit of the device holds for, and the key of host that sets
 * it. */
static const struct {
    uint32_t attr; /* enum qp_attr_bit */
    enum leaf_id limit;
    const char *key;
} bounded_attributes[] = {
    {QPA_MAX_QP_RD_ATOMIC, LEAF_limits_max_rd_atomic, "max_qp_init_rd_atom"},
    {QPA_MAX_DEST_RD_ATOMIC, LEAF_limits_max_dest_rd_atomic, "max_qp_rd_atom"},
};

void limit_add_attribute(struct text *t, const struct session *s, const char *host, uint32_t attr)
{
    char path[TREE_PATH_BYTES];

    limits_path(host, path);
    for (size_t i = 0; i < ARRAY_LEN(bounded_attributes); i++) {
        if (bounded_attributes[i].attr == attr)
            text_addf(t, "%sthe device of %s has %s=%llu, which \"host\" sets", t->len ? "; " : "",
                      host, bounded_attributes[i].key,
                      (unsigned long long)tree_number(s->lab, path, bounded_attributes[i].limit));
    }
}

/* Tables of the device, by the command that fills them. */
static const struct {
    const char *command;
    enum node_kind node;
    enum leaf_id limit;
    uint32_t reserved; /* entries that are not for users */
    const char *what, *remedy;
} tables[] = {
    {"alloc_pd", NODE_pd, LEAF_limits_max_pd, 0, "protection domains", "dealloc_pd gives one back"},
    {"reg_mr", NODE_mr, LEAF_limits_max_mr, 0, "memory regions", "dereg_mr gives one back"},
    {"alloc_mr", NODE_mr, LEAF_limits_max_mr, 0, "memory regions", "dereg_mr gives one back"},
    {"get_dma_mr", NODE_mr, LEAF_limits_max_mr, 0, "memory regions", "dereg_mr gives one back"},
    {"alloc_mw", NODE_mw, LEAF_limits_max_mw, 0, "memory windows", "dealloc_mw gives one back"},
    {"create_cq", NODE_cq, LEAF_limits_max_cq, 0, "completion queues",
     "destroy_cq one, or make the host with more: max_cq="},
    {"create_qp", NODE_qp, LEAF_limits_max_qp, 1, "queue pairs",
     "destroy_qp one, or make the host with more: max_qp="},
    {"rdma_create_qp", NODE_qp, LEAF_limits_max_qp, 1, "queue pairs",
     "destroy_qp one, or make the host with more: max_qp="},
    {"create_ah", NODE_ah, LEAF_limits_max_ah, 0, "address handles", "destroy_ah gives one back"},
    {"create_srq", NODE_srq, LEAF_limits_max_srq, 0, "shared receive queues",
     "destroy_srq one, or make the host with more: max_srq="},
};

/* A limit that the driver itself keeps to: no request was sent. */
static bool limit_is_table(const char *command)
{
    return strcmp(command, "create_ah") == 0;
}

bool limit_fail_verb(struct session *s, const struct step *st, const char *host)
{
    char path[TREE_PATH_BYTES];

    limits_path(host, path);
    for (size_t i = 0; i < ARRAY_LEN(limit_bounds); i++) {
        const char *param = limit_bounds[i].param;
        const uint64_t max = tree_number(s->lab, path, limit_bounds[i].limit);

        if (strcmp(st->cmd->name, limit_bounds[i].command) != 0 ||
            (!step_has(st, param) && !step_param(st, param)->standard) ||
            step_number(st, param) <= max)
            continue;
        session_fail(s, step_span(st, param, 0),
                     "the device of %s has %s=%llu, and %s asks for more", host,
                     leaf_rows[limit_bounds[i].limit].key, (unsigned long long)max, param);
        return diag_remedy(&s->diag, "ask for at most %llu", (unsigned long long)max);
    }
    if (limit_is_table(st->cmd->name))
        return limit_name_full(s, st, host);
    session_fail(s, st->at, "the queues of %s are shorter than this asks for", host);
    return diag_remedy(&s->diag, "without RING_RESET they stay as long as the driver made them at "
                                 "boot: ask for less");
}

struct census {
    enum node_kind kind;
    uint64_t n;
};

static void count(void *ctx, const char *key, const struct rdl_value *v)
{
    struct census *c = ctx;

    (void)key;
    c->n += tree_value_is(v, c->kind);
}

bool limit_name_full(struct session *s, const struct step *st, const char *host)
{
    const uint32_t reason = s->diag.reason;
    char path[TREE_PATH_BYTES];
    size_t at;

    limits_path(host, path);
    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        const uint64_t max = tree_number(s->lab, path, tables[i].limit);
        struct census c = {tables[i].node, tables[i].reserved};

        if (strcmp(st->cmd->name, tables[i].command) != 0 ||
            rdl_inspect_list(s->lab, host, count, &c, &at) != RDL_OK || c.n < max)
            continue;
        session_fail(s, st->at, "%s has all the %s that its device can have: %s=%llu%s", host,
                     tables[i].what, leaf_rows[tables[i].limit].key, (unsigned long long)max,
                     tables[i].reserved ? ", of which QPN 1 is not for users" : "");
        diag_remedy(&s->diag, "%s", tables[i].remedy);
        diag_reason(&s->diag, reason);
    }
    return false;
}
