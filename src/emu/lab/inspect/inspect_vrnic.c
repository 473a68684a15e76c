/* SPDX-License-Identifier: MIT */
/* Inspect tree: virtual RNICs.  Each address, number and doorbell is shown twice: as the program
 * knows it, and as the function of the machine has it.
 */
#include "emu/device/rdma.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/pvrdma/regs.h"
#include "emu/facts/regs.h"
#include "emu/hca/ctrl.h"
#include "emu/hca/key.h"
#include "emu/lab/inspect/inspect_nodes.h"
#include "emu/lab/layer.h"
#include "emu/pci/sriov.h"
#include "emu/rnic/rnic.h"
#include "emu/wire/addr.h"

static void vgid_item(const struct inode *list, uint64_t i, struct visit *v, const char *key)
{
    char addr[ADDR_TEXT_MAX];

    inspect_item_text(v, list, key, addr_text(list->host->guest.config.gid[i], addr));
}

/* The address @i of the function @f on the wire, written to @buf; "" if @f is not there. */
static const char *wire_text(const struct vrnic_function *f, uint64_t i, char *buf)
{
    return f->vf == VRNIC_UNMAPPED ? "" : addr_text(f->wire[i], buf);
}

static void wire_item(const struct inode *list, uint64_t i, struct visit *v, const char *key)
{
    char addr[ADDR_TEXT_MAX];

    inspect_item_text(v, list, key, wire_text(&list->host->vrnic->functions[0], i, addr));
}

void visit_vrnic_function(const struct inode *n, struct visit *v)
{
    const struct vrnic_function *f = &n->host->vrnic->functions[n->index];
    char buf[MAC_TEXT_MAX] = "", wire[ADDR_TEXT_MAX];
    struct text t = text_on(buf, sizeof(buf));

    if (f->vf != VRNIC_UNMAPPED) {
        mac_add(&t, f->port->mac);
        inspect_leaf(v, LEAF_vrnic_function_vf, f->vf);
    }
    inspect_text(v, LEAF_vrnic_function_mac, buf);
    inspect_text(v, LEAF_vrnic_function_wire, wire_text(f, 0, wire));
    inspect_text(v, LEAF_vrnic_function_wire_ipv6, wire_text(f, 1, wire));
    inspect_leaf(v, LEAF_vrnic_function_qps, f->n_qps);
    inspect_leaf(v, LEAF_vrnic_function_sent_frames, f->port->sent_frames);
    inspect_leaf(v, LEAF_vrnic_function_rcvd_frames, f->port->rcvd_frames);
}

/* --- Objects, as the program knows them and as the function does -------------------------------
 */

/* The place of a doorbell: @offset in BAR @bar of the function. */
struct doorbell {
    uint32_t bar;
    uint64_t offset;
};

static struct doorbell doorbell_of_queue(uint32_t queue)
{
    return (struct doorbell){0, BAR_NOTIFY + (uint64_t)queue * NOTIFY_MULTIPLIER};
}

/* The first byte of BAR @bar, where the guest sees it. */
static uint64_t guest_bar(const struct vrnic *r, uint32_t bar)
{
    return r->host->device.fn->bar[bar];
}

/* The same bytes, where the machine has them.  A VF BAR has those of all functions, one after the
 * other.  The registers of a virtual RNIC are those of its first function.  Returns false if the
 * machine, whose device may be another one, has no such VF BAR.
 */
static bool machine_bar(const struct vrnic *r, uint32_t bar, uint64_t *ret)
{
    const struct sriov *s = r->machine->device.fn->sriov;
    const uint64_t bytes = s ? sriov_bar_bytes(s, bar) : 0;

    if (bytes > 0)
        *ret = s->bar[bar] + r->functions[0].vf * bytes;
    return bytes > 0;
}

static void visit_doorbell(const struct inode *n, struct visit *v, struct doorbell d,
                           enum leaf_id seen, enum leaf_id real)
{
    const struct vrnic *r = n->host->vrnic;
    uint64_t at;

    inspect_leaf(v, seen, guest_bar(r, d.bar) + d.offset);
    if (machine_bar(r, d.bar, &at))
        inspect_leaf(v, real, at + d.offset);
}

/* The objects of @kind that are mapped. */
static uint32_t n_mapped(const struct inode *n, enum object_kind kind)
{
    const struct slots *all = &n->host->guest.verbs.objects[kind];
    uint32_t mapped = 0;

    for (uint32_t i = 0, left = all->used; left > 0; i++) {
        const struct guest_object *o = slots_at(all, i);

        left -= o != NULL;
        mapped += o && o->counts && o->name[0];
    }
    return mapped;
}

/* Reports number @i of the objects of @kind that are mapped. */
static void mapped_item(const struct inode *list, uint64_t i, struct visit *v, const char *key,
                        enum object_kind kind)
{
    const struct slots *all = &list->host->guest.verbs.objects[kind];
    const struct guest_object *o = NULL;
    struct inode s = *list;

    for (uint32_t at = 0; i != UINT64_MAX; at++) {
        o = slots_at(all, at);
        i -= o && o->counts && o->name[0];
    }
    s.object = o;
    inspect_item(v, list, key, s);
}

static void qp_item(const struct inode *list, uint64_t i, struct visit *v, const char *key)
{
    mapped_item(list, i, v, key, OBJ_QP);
}

static void mr_item(const struct inode *list, uint64_t i, struct visit *v, const char *key)
{
    mapped_item(list, i, v, key, OBJ_MR);
}

static void cq_item(const struct inode *list, uint64_t i, struct visit *v, const char *key)
{
    mapped_item(list, i, v, key, OBJ_CQ);
}

void visit_vrnic_qp(const struct inode *n, struct visit *v)
{
    const struct guest_qp *g = n->object;
    const struct qp *qp = g->qpn ? hca_qp(&n->host->rnic->hca, g->qpn) : NULL;

    inspect_text(v, LEAF_vrnic_qp_object, g->o.name);
    inspect_leaf(v, LEAF_vrnic_qp_qpn, g->qpn);
    if (!qp)
        return;
    inspect_leaf(v, LEAF_vrnic_qp_vf_qpn, qp->qpn);
    inspect_leaf(v, LEAF_vrnic_qp_vf, vrnic_function_of(n->host->vrnic, g->qpn)->vf);
    visit_doorbell(n, v,
                   host_rdma(n->host) ? doorbell_of_queue(g->sq.queue)
                                      : (struct doorbell){PV_BAR_UAR, PV_UAR_AT_QP},
                   LEAF_vrnic_qp_doorbell, LEAF_vrnic_qp_vf_doorbell);
}

void visit_vrnic_mr(const struct inode *n, struct visit *v)
{
    const struct guest_mr *mr = n->object;
    const struct mkey *k = mr->mrn ? key_at(&n->host->rnic->hca, mr->mrn) : NULL;

    inspect_text(v, LEAF_vrnic_mr_object, mr->o.name);
    inspect_leaf(v, LEAF_vrnic_mr_lkey, mr->lkey);
    inspect_leaf(v, LEAF_vrnic_mr_rkey, mr->rkey);
    if (k)
        inspect_leaf(v, LEAF_vrnic_mr_vf_key, k->key);
}

void visit_vrnic_cq(const struct inode *n, struct visit *v)
{
    const struct guest_cq *g = n->object;
    const struct cq *cq = g->cqn ? hca_cq(&n->host->rnic->hca, g->cqn) : NULL;

    inspect_text(v, LEAF_vrnic_cq_object, g->o.name);
    inspect_leaf(v, LEAF_vrnic_cq_cqn, g->cqn);
    if (!cq)
        return;
    inspect_leaf(v, LEAF_vrnic_cq_vf_cqn, cq->cqn);
    visit_doorbell(n, v,
                   host_rdma(n->host) ? doorbell_of_queue(g->cqn)
                                      : (struct doorbell){PV_BAR_UAR, PV_UAR_AT_CQ},
                   LEAF_vrnic_cq_doorbell, LEAF_vrnic_cq_vf_doorbell);
}

static void visit_mapped(const struct inode *n, struct visit *v)
{
    const struct vrnic *r = n->host->vrnic;
    uint64_t at;

    inspect_leaf(v, LEAF_vrnic_bar, guest_bar(r, 0));
    if (machine_bar(r, 0, &at))
        inspect_leaf(v, LEAF_vrnic_vf_bar, at);
    inspect_child(v, CHILD_vrnic_qps, inspect_list_of(n, n_mapped(n, OBJ_QP), qp_item));
    inspect_child(v, CHILD_vrnic_mrs, inspect_list_of(n, n_mapped(n, OBJ_MR), mr_item));
    inspect_child(v, CHILD_vrnic_cqs, inspect_list_of(n, n_mapped(n, OBJ_CQ), cq_item));
}

void visit_vrnic(const struct inode *n, struct visit *v)
{
    const struct vrnic *r = n->host->vrnic;

    inspect_text(v, LEAF_vrnic_machine, r->machine->name);
    if (vrnic_is_mapped(r))
        inspect_leaf(v, LEAF_vrnic_vf, r->functions[0].vf);
    inspect_leaf(v, LEAF_vrnic_group, r->group);
    inspect_child(v, CHILD_vrnic_vgid, inspect_list_of(n, GUEST_GIDS, vgid_item));
    inspect_child(v, CHILD_vrnic_wire, inspect_list_of(n, GUEST_GIDS, wire_item));
    inspect_leaf(v, LEAF_vrnic_objects, n->host->guest.verbs.n_of_device);
    if (vrnic_is_mapped(r))
        visit_mapped(n, v);
    if (r->n_functions > 1)
        inspect_child(v, CHILD_vrnic_functions, inspect_list_of(n, r->n_functions, inspect_nth));
    inspect_leaf(v, LEAF_vrnic_maps, r->n_maps);
    inspect_leaf(v, LEAF_vrnic_shares, r->n_shares);
    inspect_leaf(v, LEAF_vrnic_moves, r->n_moves);
    inspect_leaf(v, LEAF_vrnic_waiting, r->is_queued);
    inspect_leaf(v, LEAF_vrnic_waits, r->n_waits);
    inspect_leaf(v, LEAF_vrnic_given_up, r->n_given_up);
    inspect_word(v, LEAF_vrnic_lack, r->lack);
    inspect_leaf(v, LEAF_vrnic_lookups, r->n_lookups);
    inspect_leaf(v, LEAF_vrnic_forbidden, r->n_forbidden);
}
