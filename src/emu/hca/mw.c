/* SPDX-License-Identifier: MIT */
#include "emu/hca/mw.h"

#include "emu/base/assert.h"
#include "emu/hca/ctrl.h"

/* SIMPLIFIED: a window allows no FLUSH.  A program can give its peers the key of a region. */
#define ACCESS_OF_WINDOWS ((KEY_REMOTE_ACCESS & ~ACCESS_FLUSH) | ACC_ZERO_BASED)

static void unbind(struct hca *h, struct mkey *w)
{
    if (!w->region)
        return;
    w->region->n_windows--;
    if (w->qpn != 0)
        h->n_qp_windows--;
    w->region = NULL;
    w->qpn = 0;
    w->addr = 0;
    w->bytes = 0;
    w->state = KEY_FREE;
}

enum refusal_reason hca_mw_create(struct hca *h, uint32_t pdn, uint32_t type, struct mkey **ret)
{
    struct pd *pd = hca_pd(h, pdn);

    if (!pd)
        return hca_refuse(h, REF_PD_HANDLE, compared_found(pdn));
    if (type != MW_TYPE_1 && type != MW_TYPE_2)
        return hca_refuse(h, REF_MW_TYPE, compared_range(MW_TYPE_1, MW_TYPE_2, type));
    return key_new(h, type == MW_TYPE_1 ? KEY_MW_TYPE_1 : KEY_MW_TYPE_2, pd, (struct key_room){0},
                   ret);
}

enum refusal_reason hca_mw_destroy(struct hca *h, uint32_t mwn)
{
    struct mkey *w = key_at(h, mwn);

    if (!w || !key_is_window(w))
        return hca_refuse(h, REF_MW_HANDLE, compared_found(mwn));
    unbind(h, w);
    key_free(h, w);
    return REF_NONE;
}

void hca_mw_forget_qp(struct hca *h, uint32_t qpn)
{
    for (uint32_t i = 0; h->n_qp_windows > 0 && i < h->mkeys.len; i++) {
        struct mkey *w = slots_at(&h->mkeys, i);

        if (w && w->qpn == qpn)
            unbind(h, w);
    }
}

static struct objection refused(enum rule rule)
{
    return (struct objection){.rule = rule};
}

/* Checks the window, without its region. */
static struct objection check_window(const struct mkey *w, const struct key_user *user,
                                     const struct bind_request *req)
{
    const uint32_t type = w->kind == KEY_MW_TYPE_1 ? MW_TYPE_1 : MW_TYPE_2;

    if (type != req->type)
        return (struct objection){RULE_BIND_TYPE, compared_one(type, req->type)};
    if (w->pdn != user->pdn)
        return (struct objection){RULE_BIND_PD, compared_one(w->pdn, user->pdn)};
    if (type == MW_TYPE_2 && w->state != KEY_FREE)
        return refused(RULE_BIND_STATE);
    if (type == MW_TYPE_2 && req->bytes == 0)
        return refused(RULE_BIND_ZERO_LENGTH);
    if (type == MW_TYPE_1 && (req->access & ACC_ZERO_BASED))
        return refused(RULE_BIND_ZERO_BASED);
    if ((req->access & ~ACCESS_OF_WINDOWS) != 0)
        return (struct objection){RULE_BIND_ACCESS, compared_one(ACCESS_OF_WINDOWS, req->access)};
    return refused(RULE_NONE);
}

/* Checks the region @mr that @w is to be bound to. */
static struct objection check_region(const struct mkey *mr, const struct mkey *w,
                                     const struct bind_request *req)
{
    if (!mr || key_is_window(mr))
        return refused(RULE_BIND_REGION);
    if (mr->pdn != w->pdn)
        return (struct objection){RULE_BIND_PD, compared_one(w->pdn, mr->pdn)};
    if (w->kind == KEY_MW_TYPE_1 && (mr->access & ACC_ZERO_BASED))
        return refused(RULE_BIND_ZERO_BASED);
    if (!(mr->access & ACC_MW_BIND))
        return (struct objection){RULE_BIND_MR_ACCESS, compared_one(ACC_MW_BIND, mr->access)};
    if ((req->access & (ACC_REMOTE_WRITE | ACC_REMOTE_ATOMIC)) && !(mr->access & ACC_LOCAL_WRITE))
        return (struct objection){RULE_BIND_ACCESS, compared_one(ACC_LOCAL_WRITE, mr->access)};
    if (key_is_outside(mr->addr, mr->bytes, req->addr, req->bytes))
        return (struct objection){RULE_BIND_RANGE,
                                  key_range_compared(mr->addr, mr->bytes, req->addr, req->bytes)};
    return refused(RULE_NONE);
}

/* The window with this key; NULL if there is none.  An unbound window has a key, too. */
static struct mkey *window_of(const struct hca *h, uint32_t key)
{
    struct mkey *w = key_at(h, key_number(key));

    return w && w->key == key && key_is_window(w) ? w : NULL;
}

struct objection key_check_bind(const struct hca *h, const struct key_user *user,
                                const struct bind_request *req)
{
    const struct mkey *w = window_of(h, req->mw_key);
    struct objection o;

    if (!w)
        return refused(RULE_BIND_MW);
    o = check_window(w, user, req);
    if (o.rule != RULE_NONE || req->bytes == 0)
        return o;
    return check_region(key_find(h, req->mr_key), w, req);
}

uint32_t key_bind(struct hca *h, const struct key_user *user, const struct bind_request *req)
{
    struct mkey *w = window_of(h, req->mw_key);
    bool is_type_2;

    RDL_ASSERT(w);
    is_type_2 = w->kind == KEY_MW_TYPE_2;
    RDL_ASSERT(w->state == KEY_FREE || !is_type_2);
    unbind(h, w);
    w->key = (w->key & ~0xffu) | ((is_type_2 ? req->new_key : w->key + 1) & 0xffu);
    if (req->bytes == 0)
        return w->key;
    w->region = key_find(h, req->mr_key);
    RDL_ASSERT(w->region && !key_is_window(w->region));
    w->region->n_windows++;
    w->region_addr = req->addr;
    w->addr = req->access & ACC_ZERO_BASED ? 0 : req->addr;
    w->bytes = req->bytes;
    w->access = req->access;
    if (is_type_2) {
        w->qpn = user->qpn;
        h->n_qp_windows++;
    }
    w->state = KEY_VALID;
    return w->key;
}

struct objection key_check_inv(const struct hca *h, uint32_t key, const struct key_user *user)
{
    const struct mkey *k = key_at(h, key_number(key));

    if (!k)
        return refused(RULE_MR_KEY);
    if (k->key != key)
        return (struct objection){RULE_MR_KEY, compared_one(k->key, key)};
    if (k->kind != KEY_FAST_MR && k->kind != KEY_MW_TYPE_2)
        return refused(RULE_INV_KIND);
    if (k->pdn != user->pdn)
        return (struct objection){RULE_MR_PD, compared_one(k->pdn, user->pdn)};
    if (k->qpn != 0 && k->qpn != user->qpn)
        return (struct objection){RULE_INV_QP, compared_one(k->qpn, user->qpn)};
    if (k->n_windows > 0)
        return (struct objection){RULE_INV_BOUND, compared_at_most(0, k->n_windows)};
    return refused(RULE_NONE);
}

void key_inv(struct hca *h, uint32_t key)
{
    struct mkey *k = key_at(h, key_number(key));

    RDL_ASSERT(k && k->key == key && k->n_windows == 0);
    if (key_is_window(k))
        unbind(h, k);
    k->state = KEY_FREE;
}
