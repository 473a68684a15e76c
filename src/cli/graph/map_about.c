/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "cli/graph/map.h"
#include "emu/base/assert.h"
#include "emu/base/quantity.h"
#include "rdmalab/inspect.h"
#include "tree/tree.h"

/* One property of a kind of object: a word before the value of a leaf. */
static const struct property {
    enum node_kind kind;
    const char *before;
    enum leaf_id leaf;
    bool if_any; /* omitted if it is absent, "", 0 or no */
} properties[] = {
    {NODE_host, "", LEAF_host_gid, true},
    {NODE_pd, "PDN ", LEAF_pd_pdn, false},
    {NODE_mr, "length ", LEAF_mr_bytes, false},
    {NODE_mr, "lkey ", LEAF_mr_lkey, false},
    {NODE_mr, "", LEAF_mr_access, true},
    {NODE_mw, "type ", LEAF_mw_type, false},
    {NODE_mw, "rkey ", LEAF_mw_rkey, false},
    {NODE_mw, "", LEAF_mw_state, true},
    {NODE_cq, "CQN ", LEAF_cq_cqn, false},
    {NODE_cq, "room for ", LEAF_cq_cqe, false},
    {NODE_cq, "armed: ", LEAF_cq_armed, true},
    {NODE_channel, "waiting events: ", LEAF_channel_pending, true},
    {NODE_srq, "SRQN ", LEAF_srq_srqn, false},
    {NODE_srq, "posted receives: ", LEAF_srq_posted, true},
    {NODE_ah, "to ", LEAF_ah_dgid, false},
    {NODE_qp, "", LEAF_qp_type, false},
    {NODE_qp, "QPN ", LEAF_qp_qpn, false},
    {NODE_qp, "", LEAF_qp_state, false},
    {NODE_qp, "vf ", LEAF_qp_vf, false},
    {NODE_qp, "group ", LEAF_qp_group, true},
    {NODE_event_channel, "waiting events: ", LEAF_event_channel_pending, true},
    {NODE_cm_id, "", LEAF_cm_id_space, false},
    {NODE_cm_id, "", LEAF_cm_id_state, false},
    {NODE_cm_id, "port ", LEAF_cm_id_local_port, true},
    {NODE_link, "latency ", LEAF_link_latency, false},
    {NODE_vf, "for ", LEAF_vf_guest, true},
    {NODE_vf, "MAC ", LEAF_vf_mac, true},
    {NODE_vf, "VLAN ", LEAF_vf_vlan, true},
};

static bool is_something(const struct rdl_value *v)
{
    if (v->type == RDL_TEXT || v->type == RDL_WORD)
        return v->text[0] && strcmp(v->text, "no") != 0;
    return v->number != 0;
}

/* Appends @v with a blank after each comma, so that a set can be wrapped. */
static void add_value(struct text *t, const struct rdl_value *v)
{
    char buf[RDL_VALUE_BYTES];
    struct text b = text_on(buf, sizeof(buf));

    tree_add_value(&b, v);
    for (const char *s = buf; *s; s++) {
        text_addn(t, s, 1);
        text_add(t, *s == ',' && s[1] != ' ' ? " " : "");
    }
}

/* Appends the group of a virtual RNIC, and that it is one. */
static void add_vrnic(struct text *t, const struct rdl_lab *lab, const char *host)
{
    char vrnic[TREE_PATH_BYTES];

    if (tree_child(lab, host, CHILD_host_vrnic, vrnic))
        text_addf(t, ", virtual RNIC, group %llu",
                  (unsigned long long)tree_number(lab, vrnic, LEAF_vrnic_group));
}

void map_add_about(struct text *t, const struct rdl_lab *lab, const char *path, uint32_t kind)
{
    for (size_t i = 0; i < ARRAY_LEN(properties); i++) {
        const struct property *p = &properties[i];
        struct rdl_value v;

        if (p->kind != kind || !tree_leaf(lab, path, p->leaf, &v) ||
            (p->if_any && !is_something(&v)))
            continue;
        text_addf(t, "%s%s", t->len ? ", " : "", p->before);
        add_value(t, &v);
    }
    if (kind == NODE_host)
        add_vrnic(t, lab, path);
    if (kind != NODE_link)
        return;
    text_add(t, ", ");
    quantity_add(t, QUANTITY_RATE, tree_number(lab, path, LEAF_link_rate));
    if (!tree_number(lab, path, LEAF_link_up))
        text_add(t, ", down");
}
