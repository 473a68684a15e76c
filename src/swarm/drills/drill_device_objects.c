/* SPDX-License-Identifier: MIT */
/* The drill of the device: protection domains, completion queues, shared receive queues, memory
 * regions and windows, with their numbers of users.
 */
#include "emu/base/assert.h"
#include "emu/facts/device.h"
#include "emu/facts/enum/access.h"
#include "rdmalab/memory.h"
#include "swarm/drills/drill_device.h"

#define RAM_BYTES (UINT64_C(64) << 20) /* of a host */
#define KEYS      (2 * DEVICE_SLOTS)
#define REREG_ALL (RDL_REREG_TRANSLATION | RDL_REREG_PD | RDL_REREG_ACCESS)
#define REMOTE    (ACC_REMOTE_WRITE | ACC_REMOTE_READ | ACC_REMOTE_ATOMIC)

/* Draws a protection domain: its slot, or DEVICE_SLOTS for a number that does not exist.  *@ret is
 * the number.
 */
static uint32_t draw_pd(struct drill *d, uint32_t *ret)
{
    struct drill_device *s = d->own;
    const uint32_t i = drill_one_in(d, 8) ? DEVICE_SLOTS : device_pick(d, s->pd, DEVICE_SLOTS);

    *ret = i < DEVICE_SLOTS ? s->pd[i].number : device_draw_stranger(d, s->pd);
    return i;
}

void device_step_pd(struct drill *d)
{
    struct drill_device *s = d->own;
    const bool is_full = device_count(s->pd) >= s->now.max_pd;
    struct raw_pd_handle raw;
    struct rfc_pd_handle h;
    uint32_t i;

    if (drill_one_in(d, 2)) {
        if (!device_ask(d, &(struct device_request){.command = CMD_CREATE_PD},
                        is_full ? REF_PD_LIMIT : REF_NONE, &raw, sizeof(raw)) ||
            is_full)
            return;
        rfc_pd_handle_get(&h, &raw);
        if (device_is_new(d, s->pd, h.pdn, s->built.max_pd))
            s->pd[device_free_slot(s->pd)] = (struct device_object){.number = h.pdn};
        return;
    }
    i = draw_pd(d, &h.pdn);
    if (i == DEVICE_SLOTS)
        (void)ask_pd_handle(d, CMD_DESTROY_PD, &h, REF_PD_HANDLE, NULL, 0);
    else if (s->pd[i].users > 0)
        (void)ask_pd_handle(d, CMD_DESTROY_PD, &h, REF_PD_IN_USE, NULL, 0);
    else if (ask_pd_handle(d, CMD_DESTROY_PD, &h, REF_NONE, NULL, 0))
        s->pd[i].number = DEVICE_NOTHING;
}

/* --- Completion queues ------------------------------------------------------------------------ */

/* Draws the fields that CREATE_CQ_EX has beyond those of CREATE_CQ.  Returns the reason of its
 * refusal, or @why if they are right: they are checked first.
 */
static uint32_t draw_events(struct drill *d, struct rfc_create_cq_ex *c, uint32_t why)
{
    const struct drill_device *s = d->own;
    const uint64_t page = prng_below(&d->rng, RAM_BYTES / 4096) * 4096;
    const uint32_t kind = drill_below(d, 8);

    c->ceq = kind == 0 ? device_draw_above(d, s->ceqs - 1) : drill_below(d, s->ceqs);
    if (kind % 2)
        c->arm = page + 8 * drill_below(d, 512);
    if (kind == 2)
        c->arm = page + 1 + drill_below(d, 7); /* not aligned */
    if (kind == 4)
        c->arm = RAM_BYTES + page; /* not in RAM */
    if (!device_has(s, VF_CEQ))
        return REF_COMMAND_UNKNOWN;
    if (kind == 0)
        return REF_CQ_CEQ;
    if (c->arm != 0 && !device_has(s, VF_ARM_MEM))
        return REF_NOT_NEGOTIATED;
    return kind == 2 || kind == 4 ? REF_CQ_ARM_MEMORY : why;
}

static void create_cq(struct drill *d)
{
    struct drill_device *s = d->own;
    const bool is_full = device_count(s->cq) >= s->max_cq;
    struct rfc_create_cq c = {.cqe = device_draw(d, 1, s->now.max_cqe)};
    uint32_t why = is_full ? REF_CQ_LIMIT : REF_NONE;
    struct rfc_create_cq_ex ex = {0};
    struct raw_cq_handle raw;
    struct rfc_cq_handle h;
    bool works;

    if (drill_one_in(d, 4)) {
        c.cqe = drill_one_in(d, 2) ? 0 : device_draw_above(d, s->now.max_cqe);
        why = REF_CQ_ENTRIES;
    }
    if (d->extensions && drill_one_in(d, 2)) {
        ex.cqe = c.cqe;
        why = draw_events(d, &ex, why);
        works = ask_create_cq_ex(d, CMD_CREATE_CQ_EX, &ex, why, &raw, sizeof(raw));
    } else {
        works = ask_create_cq(d, CMD_CREATE_CQ, &c, why, &raw, sizeof(raw));
    }
    if (!works || why)
        return;
    rfc_cq_handle_get(&h, &raw);
    if (device_is_new(d, s->cq, h.cqn, s->max_cq))
        s->cq[device_free_slot(s->cq)] =
            (struct device_object){.number = h.cqn, .arms_in_memory = ex.arm != 0};
}

static void arm_cq(struct drill *d, uint32_t i, uint32_t cqn)
{
    struct rfc_req_notify r = {.cqn = cqn, .flags = 1 + drill_below(d, 2)};
    const struct drill_device *s = d->own;
    uint32_t why = i == DEVICE_SLOTS ? REF_CQ_HANDLE : REF_NONE;

    if (!why && drill_one_in(d, 3)) {
        r.flags = drill_one_in(d, 2) ? 0 : 3 + drill_below(d, 6);
        why = REF_NOTIFY_FLAGS;
    }
    if (!why && s->cq[i].arms_in_memory)
        why = REF_CQ_ARMED_IN_MEMORY;
    (void)ask_req_notify(d, CMD_REQ_NOTIFY_CQ, &r, why, NULL, 0);
}

void device_step_cq(struct drill *d)
{
    struct drill_device *s = d->own;
    struct rfc_cq_handle h;
    uint32_t i, why;

    if (drill_one_in(d, 2)) {
        create_cq(d);
        return;
    }
    i = drill_one_in(d, 8) ? DEVICE_SLOTS : device_pick(d, s->cq, DEVICE_SLOTS);
    h.cqn = i < DEVICE_SLOTS ? s->cq[i].number : device_draw_stranger(d, s->cq);
    if (drill_one_in(d, 3)) {
        arm_cq(d, i, h.cqn);
        return;
    }
    why = i == DEVICE_SLOTS ? REF_CQ_HANDLE : s->cq[i].users > 0 ? REF_CQ_IN_USE : REF_NONE;
    if (ask_cq_handle(d, CMD_DESTROY_CQ, &h, why, NULL, 0) && !why)
        s->cq[i].number = DEVICE_NOTHING;
}

/* --- Shared receive queues -------------------------------------------------------------------- */

static void create_srq(struct drill *d)
{
    struct drill_device *s = d->own;
    struct rfc_create_srq c = {.max_wr = device_draw(d, 1, s->now.max_qp_wr),
                               .max_sge = device_draw(d, 0, s->built.max_recv_sge)};
    const uint32_t pd = draw_pd(d, &c.pdn), pick = drill_below(d, 8);
    uint32_t why = device_count(s->srq) >= s->max_srq ? REF_SRQ_LIMIT : REF_NONE;
    struct raw_srq_handle raw;
    struct rfc_srq_handle h;

    if (pd == DEVICE_SLOTS) {
        why = REF_PD_HANDLE;
    } else if (pick == 0) {
        c.max_wr = drill_one_in(d, 2) ? 0 : device_draw_above(d, s->now.max_qp_wr);
        why = REF_SRQ_WR;
    } else if (pick == 1) {
        c.max_sge = device_draw_above(d, s->built.max_recv_sge);
        why = REF_SRQ_SGE;
    }
    if (!ask_create_srq(d, CMD_CREATE_SRQ, &c, why, &raw, sizeof(raw)) || why)
        return;
    rfc_srq_handle_get(&h, &raw);
    if (!device_is_new(d, s->srq, h.srqn, s->max_srq))
        return;
    s->srq[device_free_slot(s->srq)] = (struct device_object){
        .number = h.srqn, .pd = pd, .max_wr = c.max_wr, .max_sge = c.max_sge};
    s->pd[pd].users++;
}

static void modify_srq(struct drill *d, struct device_object *srq)
{
    struct rfc_modify_srq r = {.srqn = srq->number,
                               .attr_mask = SRQ_LIMIT,
                               .max_wr = 1,
                               .limit = device_draw(d, 0, srq->max_wr)};
    const uint32_t pick = drill_below(d, 8);
    uint32_t why = REF_NONE;

    if (pick == 0) {
        r.attr_mask |= SRQ_MAX_WR;
        why = REF_SRQ_ATTR_OFFERED;
    } else if (pick == 1) {
        r.attr_mask |= 4u << drill_below(d, 28);
        why = REF_SRQ_ATTR_MASK;
    } else if (pick == 2) {
        r.limit = device_draw_above(d, srq->max_wr);
        why = REF_SRQ_ARMED_LIMIT;
    } else if (pick == 3) {
        r.attr_mask = 0;
    }
    if (ask_modify_srq(d, CMD_MODIFY_SRQ, &r, why, NULL, 0) && !why && r.attr_mask)
        srq->limit = r.limit;
}

static void query_srq(struct drill *d, const struct device_object *srq)
{
    const struct rfc_srq_handle h = {.srqn = srq->number};
    struct raw_srq_attr raw;
    struct rfc_srq_attr a;

    if (!ask_srq_handle(d, CMD_QUERY_SRQ, &h, REF_NONE, &raw, sizeof(raw)))
        return;
    rfc_srq_attr_get(&a, &raw);
    drill_expect(d, a.max_wr == srq->max_wr && a.max_sge == srq->max_sge && a.limit == srq->limit,
                 "a query answers with what a shared receive queue was given", "%u, %u, %u",
                 a.max_wr, a.max_sge, a.limit);
}

void device_step_srq(struct drill *d)
{
    static const uint8_t commands[] = {CMD_MODIFY_SRQ, CMD_QUERY_SRQ, CMD_DESTROY_SRQ};
    struct drill_device *s = d->own;
    const uint32_t pick = drill_below(d, 6),
                   i = drill_one_in(d, 8) ? DEVICE_SLOTS : device_pick(d, s->srq, DEVICE_SLOTS);
    struct rfc_srq_handle h;
    uint32_t why;

    if (pick < 3) {
        create_srq(d);
        return;
    }
    if (i == DEVICE_SLOTS && pick == 3) {
        const struct rfc_modify_srq r = {.srqn = device_draw_stranger(d, s->srq), .attr_mask = 1};

        (void)ask_modify_srq(d, CMD_MODIFY_SRQ, &r, REF_SRQ_HANDLE, NULL, 0);
        return;
    }
    if (i < DEVICE_SLOTS && pick == 3) {
        modify_srq(d, &s->srq[i]);
        return;
    }
    if (i < DEVICE_SLOTS && pick == 4) {
        query_srq(d, &s->srq[i]);
        return;
    }
    h.srqn = i < DEVICE_SLOTS ? s->srq[i].number : device_draw_stranger(d, s->srq);
    why = i == DEVICE_SLOTS ? REF_SRQ_HANDLE : s->srq[i].users > 0 ? REF_SRQ_IN_USE : REF_NONE;
    if (ask_srq_handle(d, commands[pick - 3], &h, why, NULL, 0) && !why) {
        s->srq[i].number = DEVICE_NOTHING;
        s->pd[s->srq[i].pd].users--;
    }
}

/* --- Regions and windows ---------------------------------------------------------------------- */

static uint32_t count_keys(const struct drill_device *s, bool windows)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < KEYS; i++)
        n += s->key[i].number != DEVICE_NOTHING && s->key[i].is_window == windows;
    return n;
}

static const struct device_key *find_key(const struct drill_device *s, uint32_t number)
{
    for (uint32_t i = 0; i < KEYS; i++) {
        if (s->key[i].number == number && number != DEVICE_NOTHING)
            return &s->key[i];
    }
    return NULL;
}

/* Adds the new region or window @k to the model. */
static void add_key(struct drill *d, struct device_key k)
{
    struct drill_device *s = d->own;
    const uint32_t most = s->built.max_mr + s->built.max_mw;
    uint32_t i = 0;

    if (!drill_expect(d, k.number >= 1 && k.number <= most && !find_key(s, k.number),
                      "regions and windows have numbers of their own", "%u, of %u", k.number, most))
        return;
    while (s->key[i].number != DEVICE_NOTHING)
        i++;
    RDL_ASSERT(i < KEYS);
    s->key[i] = k;
    s->pd[k.pd].users++;
}

static uint32_t draw_access(struct drill *d, uint32_t *ret_why)
{
    const uint32_t pick = drill_below(d, 8);

    *ret_why = REF_NONE;
    if (pick == 0) {
        *ret_why = REF_MR_ACCESS_FLAGS;
        return ACC_LOCAL_WRITE | 1u << (drill_one_in(d, 2) ? 6 : 8 + drill_below(d, 12));
    }
    if (pick == 1) {
        *ret_why = REF_MR_LOCAL_WRITE;
        return drill_one_in(d, 2) ? ACC_REMOTE_WRITE : ACC_REMOTE_ATOMIC | ACC_REMOTE_READ;
    }
    return drill_one_in(d, 3) ? ACC_REMOTE_READ * drill_below(d, 2)
                              : ACC_LOCAL_WRITE | drill_below(d, 32);
}

static void create_region(struct drill *d)
{
    struct drill_device *s = d->own;
    const bool is_fast = drill_one_in(d, 2);
    uint32_t why, pdn;
    const uint32_t access = draw_access(d, &why), pd = draw_pd(d, &pdn);
    const uint32_t pages = s->now.max_fast_reg_page_list_len;
    struct rfc_create_mr fast = {pdn, access, device_draw(d, 1, pages)};
    const struct rfc_get_dma_mr dma = {pdn, access};
    const bool is_remote = access & REMOTE;
    struct raw_mr_keys raw;
    struct rfc_mr_keys k;

    if (pd == DEVICE_SLOTS) {
        why = REF_PD_HANDLE;
    } else if (!why && is_fast && drill_one_in(d, 6)) {
        fast.max_num_sg = drill_one_in(d, 2) ? 0 : device_draw_above(d, pages);
        why = REF_FAST_PAGES;
    } else if (!why && count_keys(s, false) >= s->now.max_mr) {
        why = REF_MR_LIMIT;
    }
    if (!(is_fast ? ask_create_mr(d, CMD_CREATE_MR, &fast, why, &raw, sizeof(raw))
                  : ask_get_dma_mr(d, CMD_GET_DMA_MR, &dma, why, &raw, sizeof(raw))) ||
        why)
        return;
    rfc_mr_keys_get(&k, &raw);
    if (drill_expect(d, k.lkey >> 8 == k.mrn && k.rkey == (is_fast || is_remote ? k.lkey : 0),
                     "a region's keys have its number, and only one with remote access has an rkey",
                     "region %u, lkey 0x%x, rkey 0x%x", k.mrn, k.lkey, k.rkey))
        add_key(d, (struct device_key){.number = k.mrn, .pd = pd});
}

/* Draws a region or window, or a number that is none.  Returns its place in the model, or NULL. */
static struct device_key *draw_key(struct drill *d, bool window, uint32_t *ret_number)
{
    struct drill_device *s = d->own;

    for (uint32_t tries = 0; tries < 6; tries++) {
        struct device_key *k = &s->key[drill_below(d, KEYS)];

        if (k->number == DEVICE_NOTHING)
            continue;
        *ret_number = k->number;
        return k->is_window == window ? k : NULL;
    }
    *ret_number = UINT32_MAX - drill_below(d, 2);
    return NULL;
}

static void forget_key(struct drill_device *s, struct device_key *k)
{
    k->number = DEVICE_NOTHING;
    s->pd[k->pd].users--;
}

void device_step_region(struct drill *d)
{
    struct drill_device *s = d->own;
    struct device_key *k;
    struct rfc_mr_handle h;

    if (drill_one_in(d, 2)) {
        create_region(d);
        return;
    }
    k = draw_key(d, false, &h.mrn);
    if (k && k->is_user && !drill_one_in(d, 4))
        return; /* they are needed by device_step_rereg() */
    if (ask_mr_handle(d, CMD_DEREG_MR, &h, k ? REF_NONE : REF_MR_HANDLE, NULL, 0) && k)
        forget_key(s, k);
}

void device_step_window(struct drill *d)
{
    struct drill_device *s = d->own;
    struct rfc_alloc_mw a = {.type = 1 + drill_below(d, 2)};
    const uint32_t pd = draw_pd(d, &a.pdn);
    uint32_t why = count_keys(s, true) >= s->now.max_mw ? REF_MW_LIMIT : REF_NONE;
    struct raw_mw_keys raw;
    struct rfc_mw_handle h;
    struct rfc_mw_keys k;

    if (drill_one_in(d, 2)) {
        struct device_key *w = draw_key(d, true, &h.mwn);

        if (ask_mw_handle(d, CMD_DEALLOC_MW, &h, w ? REF_NONE : REF_MW_HANDLE, NULL, 0) && w)
            forget_key(s, w);
        return;
    }
    if (pd == DEVICE_SLOTS) {
        why = REF_PD_HANDLE;
    } else if (drill_one_in(d, 6)) {
        a.type = drill_one_in(d, 2) ? 0 : device_draw_above(d, 2);
        why = REF_MW_TYPE;
    }
    if (!ask_alloc_mw(d, CMD_ALLOC_MW, &a, why, &raw, sizeof(raw)) || why)
        return;
    rfc_mw_keys_get(&k, &raw);
    if (drill_expect(d, k.rkey >> 8 == k.mwn, "a window's key has its number", "window %u, 0x%x",
                     k.mwn, k.rkey))
        add_key(d, (struct device_key){.number = k.mwn, .pd = pd, .is_window = true});
}

/* Moves a region to another protection domain, or changes its access. */
void device_step_rereg(struct drill *d)
{
    struct drill_device *s = d->own;
    struct rfc_rereg_mr r = {.flags = drill_one_in(d, 2) ? RDL_REREG_PD
                                                         : RDL_REREG_PD | RDL_REREG_ACCESS};
    uint32_t why = REF_NONE;
    struct device_key *k = draw_key(d, false, &r.mrn);
    const uint32_t pd = draw_pd(d, &r.pdn), access = draw_access(d, &why);
    struct raw_mr_keys raw;
    struct rfc_mr_keys keys;

    r.access_flags = access & ~(uint32_t)ACC_ZERO_BASED;
    if (!(r.flags & RDL_REREG_ACCESS))
        why = REF_NONE;
    if (drill_one_in(d, 8))
        r.flags = drill_one_in(d, 2) ? 0 : r.flags | 8u << drill_below(d, 28);
    if (!k)
        why = REF_MR_HANDLE;
    else if (!k->is_user)
        why = REF_MR_KIND;
    else if (r.flags == 0 || (r.flags & ~REREG_ALL))
        why = REF_REREG_FLAGS;
    else if (pd == DEVICE_SLOTS)
        why = REF_PD_HANDLE;
    if (!ask_rereg_mr(d, CMD_REREG_MR, &r, why, &raw, sizeof(raw)) || why)
        return;
    rfc_mr_keys_get(&keys, &raw);
    s->pd[k->pd].users--;
    k->pd = pd;
    s->pd[pd].users++;
    k->access = r.flags & RDL_REREG_ACCESS ? r.access_flags : k->access;
    drill_expect(d,
                 keys.mrn == k->number && keys.lkey >> 8 == k->number &&
                     (keys.rkey != 0) == ((k->access & REMOTE) != 0),
                 "a region that was changed keeps its number", "%u, lkey 0x%x, rkey 0x%x", keys.mrn,
                 keys.lkey, keys.rkey);
}
