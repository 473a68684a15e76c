/* SPDX-License-Identifier: MIT */
/* Inspect tree: registers, shared region, user contexts, rings and counters of PVRDMA. */
#include "emu/device/pvrdma/pvrdma.h"
#include "emu/lab/inspect/inspect_nodes.h"

/* A ring in the tree: inode.object is the ring, inode.number one of these, inode.index its number.
 */
enum ring_content { ENTRY_SEND, ENTRY_RECV, ENTRY_CQE, ENTRY_EVENT, ENTRY_NOTE };

static const char *const entry_names[] = {[ENTRY_SEND] = "pv_sq_wqe",
                                          [ENTRY_RECV] = "pv_rq_wqe",
                                          [ENTRY_CQE] = "pv_cqe",
                                          [ENTRY_EVENT] = "pv_async_event",
                                          [ENTRY_NOTE] = "pv_cq_note"};

static const struct pvrdma *pvrdma_at(const struct inode *n)
{
    return n->host->rnic ? pvrdma_of(&n->host->device) : NULL;
}

bool inspect_is_pvrdma(const struct inode *n)
{
    return pvrdma_at(n) != NULL;
}

/* The node of ring @r, whose number in events is @queue. */
static struct inode ring_node(const struct inode *n, const struct pv_ring *r,
                              enum ring_content entry, uint32_t queue)
{
    struct inode s = *n;

    s.object = r;
    s.number = (uint32_t)entry;
    s.index = queue;
    return s;
}

/* Reports the ring @r, if it has pages. */
static void visit_if_made(const struct inode *n, struct visit *v, enum child_id id,
                          const struct pv_ring *r, enum ring_content entry, uint32_t queue)
{
    if (r->pages)
        inspect_child(v, id, ring_node(n, r, entry, queue));
}

void inspect_qp_rings(const struct inode *n, struct visit *v, uint32_t qpn)
{
    const struct pvrdma *d = pvrdma_at(n);

    if (!d)
        return;
    visit_if_made(n, v, CHILD_qp_send_ring, &d->qps[qpn].wq[WQ_SEND].ring, ENTRY_SEND,
                  pv_queue_of_sends(qpn));
    visit_if_made(n, v, CHILD_qp_recv_ring, &d->qps[qpn].wq[WQ_RECV].ring, ENTRY_RECV,
                  pv_queue_of_receives(qpn));
}

void inspect_cq_ring(const struct inode *n, struct visit *v, uint32_t cqn)
{
    const struct pvrdma *d = pvrdma_at(n);

    if (d)
        visit_if_made(n, v, CHILD_cq_ring, &d->cqs[cqn].ring, ENTRY_CQE, pv_cq_queue(d, cqn));
}

void inspect_srq_ring(const struct inode *n, struct visit *v, uint32_t srqn)
{
    const struct pvrdma *d = pvrdma_at(n);

    if (d)
        visit_if_made(n, v, CHILD_srq_recv_ring, &d->srqs[srqn].ring, ENTRY_RECV,
                      pv_srq_queue(d, srqn));
}

/* Items of the lists of rings: those that have pages. */
static void item_if_made(const struct inode *list, struct visit *v, const char *key,
                         const struct pv_ring *r, enum ring_content entry, uint32_t queue)
{
    if (r->pages)
        inspect_item(v, list, key, ring_node(list, r, entry, queue));
}

static void sq_item(const struct inode *list, uint64_t i, struct visit *v, const char *key)
{
    item_if_made(list, v, key, &pvrdma_at(list)->qps[i].wq[WQ_SEND].ring, ENTRY_SEND,
                 pv_queue_of_sends((uint32_t)i));
}

static void rq_item(const struct inode *list, uint64_t i, struct visit *v, const char *key)
{
    item_if_made(list, v, key, &pvrdma_at(list)->qps[i].wq[WQ_RECV].ring, ENTRY_RECV,
                 pv_queue_of_receives((uint32_t)i));
}

static void cq_item(const struct inode *list, uint64_t i, struct visit *v, const char *key)
{
    item_if_made(list, v, key, &pvrdma_at(list)->cqs[i].ring, ENTRY_CQE,
                 pv_cq_queue(pvrdma_at(list), (uint32_t)i));
}

static void srq_item(const struct inode *list, uint64_t i, struct visit *v, const char *key)
{
    item_if_made(list, v, key, &pvrdma_at(list)->srqs[i].ring, ENTRY_RECV,
                 pv_srq_queue(pvrdma_at(list), (uint32_t)i));
}

static void uar_item(const struct inode *list, uint64_t i, struct visit *v, const char *key)
{
    struct inode s = *list;

    s.index = i;
    if (pvrdma_at(list)->ucs[i].used)
        inspect_item(v, list, key, s);
}

void visit_dsr(const struct inode *n, struct visit *v)
{
    const struct pvrdma *d = pvrdma_at(n);
    const struct rnic_config *c = &d->config.nic;

    inspect_word(v, LEAF_dsr_phase, (uint32_t)d->phase);
    inspect_leaf(v, LEAF_dsr_device_version, d->config.pvrdma.version);
    inspect_leaf(v, LEAF_dsr_version, d->version);
    inspect_leaf(v, LEAF_dsr_unquiesced, d->unquiesced);
    inspect_leaf(v, LEAF_dsr_err, d->err);
    inspect_leaf(v, LEAF_dsr_icr, d->icr);
    inspect_leaf(v, LEAF_dsr_imr, d->imr);
    inspect_leaf(v, LEAF_dsr_addr, d->region);
    inspect_leaf(v, LEAF_dsr_command_slot, d->command_slot);
    inspect_leaf(v, LEAF_dsr_response_slot, d->response_slot);
    visit_if_made(n, v, CHILD_dsr_events, &d->events.ring, ENTRY_EVENT, PV_QUEUE_EVENTS);
    visit_if_made(n, v, CHILD_dsr_notes, &d->notes.ring, ENTRY_NOTE, PV_QUEUE_EVENTS);
    inspect_child(v, CHILD_dsr_uar, inspect_list_of(n, PV_UAR_PAGES, uar_item));
    inspect_child(v, CHILD_dsr_sq, inspect_list_of(n, c->max_qp + 1, sq_item));
    inspect_child(v, CHILD_dsr_rq, inspect_list_of(n, c->max_qp + 1, rq_item));
    inspect_child(v, CHILD_dsr_cq, inspect_list_of(n, c->max_cq + 1, cq_item));
    inspect_child(v, CHILD_dsr_srq, inspect_list_of(n, c->max_srq + 1, srq_item));
}

void visit_uar(const struct inode *n, struct visit *v)
{
    const struct pvrdma *d = pvrdma_at(n);
    const struct pv_uc *uc = &d->ucs[n->index];

    inspect_leaf(v, LEAF_uar_handle, n->index);
    inspect_leaf(v, LEAF_uar_page, uc->page);
    inspect_leaf(v, LEAF_uar_addr, d->fn.bar[PV_BAR_UAR] + (uint64_t)uc->page * PV_UAR_BYTES);
    inspect_leaf(v, LEAF_uar_users, uc->users);
}

void visit_info(const struct inode *n, struct visit *v)
{
    const struct pv_counters *c = &pvrdma_at(n)->count;

#define PV_COUNTER(name, text) inspect_leaf(v, LEAF_info_##name, c->name);
#include "emu/facts/pvrdma/counters.def"
#undef PV_COUNTER
}

static void page_item(const struct inode *list, uint64_t i, struct visit *v, const char *key)
{
    const struct pv_ring *r = list->object;

    inspect_item_leaf(v, list, key, r->pages->gpa[i]);
}

void visit_ring(const struct inode *n, struct visit *v)
{
    const struct pv_ring *r = n->object;
    const struct ram *ram = &n->host->ram;
    const bool of_device = n->number >= ENTRY_CQE;
    const uint32_t tail = pv_ring_index(ram, r, PV_RING_TAIL);
    const uint32_t head = pv_ring_index(ram, r, PV_RING_HEAD);
    const uint32_t unseen = pv_idx_distance(head, r->idx, r->n);

    inspect_leaf(v, LEAF_ring_number, n->index);
    inspect_text(v, LEAF_ring_entry, entry_names[n->number]);
    inspect_leaf(v, LEAF_ring_slots, r->n);
    inspect_leaf(v, LEAF_ring_slot_bytes, r->slot_bytes);
    inspect_leaf(v, LEAF_ring_first_page, r->first_page);
    inspect_leaf(v, LEAF_ring_state_at, r->state_at);
    inspect_leaf(v, LEAF_ring_of_device, of_device);
    inspect_leaf(v, LEAF_ring_tail, tail);
    inspect_leaf(v, LEAF_ring_head, head);
    inspect_leaf(v, LEAF_ring_next, r->idx);
    if (of_device)
        inspect_leaf(v, LEAF_ring_waiting, unseen <= r->n ? unseen : 0);
    else
        inspect_leaf(v, LEAF_ring_waiting, pv_ring_waiting(ram, r));
    inspect_leaf(v, LEAF_ring_held, of_device ? 0 : pv_idx_distance(r->over, r->idx, r->n));
    inspect_leaf(v, LEAF_ring_broken, r->broken);
    inspect_child(v, CHILD_ring_page, inspect_list_of(n, r->pages->n, page_item));
}
