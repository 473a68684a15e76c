/* SPDX-License-Identifier: MIT */
/* Requests about keys for the rig of the transport: its regions allow windows, and binds,
 * registrations and invalidations are posted by one call each.
 */
#ifndef TESTS_UNIT_XPORT_KEY_RIG_H
#define TESTS_UNIT_XPORT_KEY_RIG_H

#include "testing.h"

#include "emu/facts/profile.h"
#include "emu/hca/mw.h"
#include "emu/trace/event.h"
#include "rig.h"

#define REMOTE 65536u  /* offsets in the regions */
#define BACK   131072u /* where READs go */
#define ALL    ((unsigned)(ACC_REMOTE_READ | ACC_REMOTE_WRITE | ACC_REMOTE_ATOMIC))

/* The regions of both hosts allow windows. */
static inline struct rig *rig_of(const struct rig_config *c)
{
    struct rig *r = rig_new(c);

    r->host[0].mr->access |= ACC_MW_BIND;
    r->host[1].mr->access |= ACC_MW_BIND;
    return r;
}

static inline struct rig *rig_with(enum profile profile)
{
    struct rig_config c = rig_defaults();

    c.profile[0] = c.profile[1] = profile;
    return rig_of(&c);
}

static inline struct rig *rig_default(void)
{
    return rig_with(PROFILE_iba);
}

static inline struct mkey *window(struct rig *r, uint32_t host, uint32_t type)
{
    struct rig_host *h = &r->host[host];
    struct mkey *w = NULL;

    assert_int_equal(hca_mw_create(&h->hca, h->mr->pdn, type, &w), REF_NONE);
    return w;
}

/* A free fast region over the page of the guest's memory at @gpa, which it names by that address.
 */
static inline struct mkey *fast_region(struct rig *r, uint32_t host, uint64_t gpa)
{
    struct rig_host *h = &r->host[host];
    const struct mr_map map = {.start = gpa, .length = 4096, .pages = &gpa, .n_pages = 1};
    struct mkey *k = NULL;

    assert_int_equal(hca_fast_mr_create(&h->hca, h->mr->pdn, ACC_LOCAL_WRITE | ALL, 4, &k),
                     REF_NONE);
    assert_int_equal(hca_mr_map(&h->hca, key_number(k->key), &map), REF_NONE);
    return k;
}

static inline struct rig_post *prepare_local(struct rig *r, uint32_t host, enum wr_opcode opcode,
                                             uint64_t wr_id)
{
    struct rig_post *p = rig_prepare(r, host, WQ_SEND, wr_id, 0, 0);

    p->opcode = (uint32_t)opcode;
    p->n_sge = 0;
    p->body_bytes = 0;
    return p;
}

/* Prepares a bind of @w to @bytes of the region of @host.  A window of type 2 gets the next key. */
static inline struct rig_post *prepare_bind(struct rig *r, uint32_t host, uint64_t wr_id,
                                            const struct mkey *w, uint32_t offset, uint64_t bytes)
{
    struct rig_post *p = prepare_local(r, host, WR_BIND_MW, wr_id);
    const bool is_type_2 = w->kind == KEY_MW_TYPE_2;

    p->bind = (struct bind_request){
        .mw_key = w->key,
        .new_key = is_type_2 ? (w->key & ~0xffu) | ((w->key + 1) & 0xff) : 0,
        .mr_key = r->host[host].mr->key,
        .access = ALL,
        .addr = RIG_ADDR + offset,
        .bytes = bytes,
        .type = is_type_2 ? MW_TYPE_2 : MW_TYPE_1,
    };
    return p;
}

static inline void bind(struct rig *r, uint32_t host, uint64_t wr_id, const struct mkey *w,
                        uint32_t offset, uint64_t bytes)
{
    prepare_bind(r, host, wr_id, w, offset, bytes);
    rig_post(r, host, WQ_SEND);
}

static inline void reg(struct rig *r, uint32_t host, uint64_t wr_id, const struct mkey *k,
                       uint32_t key)
{
    struct rig_post *p = prepare_local(r, host, WR_REG_MR, wr_id);

    p->reg = (struct reg_request){
        .mrn = key_number(k->key), .key = key, .access = ACC_LOCAL_WRITE | ALL};
    rig_post(r, host, WQ_SEND);
}

static inline void inv(struct rig *r, uint32_t host, uint64_t wr_id, uint32_t key)
{
    prepare_local(r, host, WR_LOCAL_INV, wr_id)->invalidate_rkey = key;
    rig_post(r, host, WQ_SEND);
}

static inline void send_inv(struct rig *r, uint64_t wr_id, uint32_t bytes, uint32_t key)
{
    struct rig_post *p = rig_prepare(r, 0, WQ_SEND, wr_id, 0, bytes);

    p->opcode = WR_SEND_WITH_INV;
    p->invalidate_rkey = key;
    rig_post(r, 0, WQ_SEND);
}

static inline void rdma_key(struct rig *r, enum wr_opcode opcode, uint64_t wr_id, uint32_t bytes,
                            uint64_t addr, uint32_t key)
{
    struct rig_post *p = rig_prepare_remote(r, opcode, wr_id, BACK, bytes, 0);

    p->remote_addr = addr;
    p->rkey = key;
    rig_post(r, 0, WQ_SEND);
}

/* Returns the place of event number @nth of @kind, from 0, among all events of the rig. */
static inline long place_of(const struct rig *r, enum ev_kind kind, uint32_t host, uint32_t nth)
{
    return (long)(rig_event(r, kind, host, nth) - r->events);
}

#endif
