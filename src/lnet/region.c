/* SPDX-License-Identifier: MIT */
/* Memory regions: one that grows, one for each message, or the region of all memory.
 *
 * The growing region is what "O2iblnd to userland" plans in 2.3.3.  A message whose fragments are
 * inside uses it and counts as a user.  Otherwise a region that covers both is registered; it takes
 * the place of the old one, which is freed with its last user.  So a descriptor that a peer has got
 * stays valid until its DONE.
 *
 * Two deviations.  Memory between the two may not be mapped, so that the union cannot be
 * registered: then there is a further region, for the new memory alone.  And there may be several
 * such regions (LND_ARENAS_MAX); one grows that becomes smallest.
 */
#include <errno.h>

#include "emu/base/assert.h"
#include "lnet/lnd_internal.h"

static bool covers(const struct lnd_region *r, uint64_t addr, uint64_t bytes)
{
    return addr >= r->addr && addr + bytes <= r->addr + r->bytes;
}

/* Finds a region for later messages that covers the range: one that is registered, else one that is
 * under way.
 */
static struct lnd_region *region_over(const struct lnd *lnd, uint64_t addr, uint64_t bytes)
{
    struct lnd_region *coming = NULL;

    for (struct lnd_region *r = lnd->regions; r; r = r->next) {
        if (!r->is_kept || !covers(r, addr, bytes))
            continue;
        if (r->is_ready)
            return r;
        if (!coming)
            coming = r;
    }
    return coming;
}

/* The range with all fragments of @tx. */
static void span_of(const struct lnd_tx *tx, uint64_t *ret_addr, uint64_t *ret_bytes)
{
    frags_span(&(struct frag_list){tx->frags, tx->n_frags}, ret_addr, ret_bytes);
}

/* Returns true if @tx, which waits for a region, may use @r.  A region that is not kept, as its
 * memory may be freed, is only for the message that it was made for.
 */
static bool serves(const struct lnd_region *r, const struct lnd_tx *tx)
{
    uint64_t addr, bytes;

    if (r->only == tx || !r->is_kept)
        return r->only == tx;
    span_of(tx, &addr, &bytes);
    return covers(r, addr, bytes);
}

/* Returns true if a region that @tx may use is under way. */
static bool is_awaited(const struct lnd_tx *tx)
{
    for (const struct lnd_region *r = tx->lnd->regions; r; r = r->next) {
        if (!r->is_ready && serves(r, tx))
            return true;
    }
    return false;
}

/* Enlarges the range so that it covers @r. */
static void unite(const struct lnd_region *r, uint64_t *addr, uint64_t *bytes)
{
    const uint64_t low = *addr < r->addr ? *addr : r->addr;
    const uint64_t a = *addr + *bytes, b = r->addr + r->bytes;

    *addr = low;
    *bytes = (a > b ? a : b) - low;
}

/* Finds the region that becomes smallest if it grows over the range; NULL: none is registered. */
static struct lnd_region *region_to_grow(const struct lnd *lnd, uint64_t addr, uint64_t bytes)
{
    struct lnd_region *best = NULL;
    uint64_t best_bytes = UINT64_MAX;

    for (struct lnd_region *r = lnd->regions; r; r = r->next) {
        uint64_t low = addr, all = bytes;

        unite(r, &low, &all);
        if (r->is_kept && r->is_ready && all < best_bytes) {
            best = r;
            best_bytes = all;
        }
    }
    return best;
}

static struct lnd_region *region_new(struct lnd *lnd, uint64_t addr, uint64_t bytes)
{
    struct lnd_region *r = lnd_alloc(lnd, sizeof(*r)), **last = &lnd->regions;

    if (!r)
        return NULL;
    r->lnd = lnd;
    r->addr = addr;
    r->bytes = bytes;
    while (*last)
        last = &(*last)->next;
    *last = r;
    lnd_job(lnd, &r->job, LND_JOB_REG, r);
    return r;
}

static void region_free(struct lnd_region *r)
{
    struct lnd_region **at = &r->lnd->regions;

    while (*at != r)
        at = &(*at)->next;
    *at = r->next;
    lnd_release(r->lnd, r, sizeof(*r));
}

/* Frees @r if it has no user and is not kept. */
static void region_idle(struct lnd_region *r)
{
    if (r->users == 0 && !r->is_kept && r->is_ready && !r->job.is_queued)
        lnd_job(r->lnd, &r->job, LND_JOB_DEREG, r);
}

static void unkeep(struct lnd_region *r)
{
    if (!r->is_kept)
        return;
    r->is_kept = false;
    r->lnd->n_kept--;
    region_idle(r);
}

/* Too many regions are kept: gives up the first one that has no user. */
static void limit_kept(struct lnd *lnd)
{
    for (struct lnd_region *r = lnd->regions; r && lnd->n_kept > LND_ARENAS_MAX; r = r->next) {
        if (r->is_kept && r->is_ready && r->users == 0)
            unkeep(r);
    }
}

static void use(struct lnd_tx *tx, struct lnd_region *r)
{
    tx->region = r;
    tx->lkey = r->mr.lkey;
    tx->rkey = r->mr.rkey;
    r->users++;
}

/* Translates the fragments of @tx to addresses of the region of all memory. */
static int map_dma(struct lnd_tx *tx)
{
    const struct lnd *lnd = tx->lnd;

    for (uint32_t i = 0; i < tx->n_frags; i++) {
        const uint64_t at = lnd->ops->dma_addr(lnd->ctx, tx->frags[i].addr);

        if (at == 0)
            return -EFAULT;
        tx->frags[i].addr = at;
    }
    tx->lkey = lnd->dma.lkey;
    tx->rkey = lnd->dma.rkey;
    return 0;
}

/* Begins to register a region for @tx, whose fragments span the range.  Returns NULL without
 * memory.
 */
static struct lnd_region *region_for(struct lnd_tx *tx, uint64_t addr, uint64_t bytes)
{
    struct lnd *lnd = tx->lnd;
    struct lnd_region *r, *old = NULL;

    if (lnd->config.map == LNET_MAP_growing)
        old = region_to_grow(lnd, addr, bytes);
    if (old)
        unite(old, &addr, &bytes);
    r = region_new(lnd, addr, bytes);
    if (!r)
        return NULL;
    r->only = tx;
    if (lnd->config.map == LNET_MAP_growing) {
        r->is_kept = true;
        lnd->n_kept++;
        r->is_union = old;
    }
    return r;
}

int lnd_map(struct lnd_tx *tx)
{
    struct lnd *lnd = tx->lnd;
    struct lnd_region *r = NULL;
    uint64_t addr, bytes;

    if (lnd->config.map == LNET_MAP_dma)
        return map_dma(tx);
    span_of(tx, &addr, &bytes);
    if (lnd->config.map == LNET_MAP_growing)
        r = region_over(lnd, addr, bytes);
    if (r && r->is_ready) {
        use(tx, r);
        return 0;
    }
    if (!r && !region_for(tx, addr, bytes))
        return -ENOMEM;
    lnd_list_add(&lnd->unmapped, tx);
    return LND_LATER;
}

void lnd_unmap(struct lnd_tx *tx)
{
    struct lnd_region *r = tx->region;

    if (!r)
        return;
    tx->region = NULL;
    r->users--;
    region_idle(r);
}

/* Messages that have waited for @r go on with it.  One of them may close a connection, and so end
 * others, which is why they are collected first.
 */
static void serve(struct lnd *lnd, struct lnd_region *r)
{
    struct lnd_tx_list served = {0};
    struct lnd_tx *next;

    for (struct lnd_tx *tx = lnd->unmapped.first; tx; tx = next) {
        next = tx->next;
        if (!serves(r, tx))
            continue;
        lnd_list_remove(tx);
        lnd_map_forget(tx);
        use(tx, r);
        lnd_list_add(&served, tx);
    }
    while (served.first) {
        struct lnd_tx *tx = served.first;

        lnd_list_remove(tx);
        lnd_tx_mapped(tx, 0);
    }
}

/* A region that is kept takes the place of those that it covers.  Several messages at the same time
 * may have made them.
 */
static void replace_covered(struct lnd_region *r)
{
    for (struct lnd_region *old = r->lnd->regions; old && r->is_kept; old = old->next) {
        if (old != r && old->is_ready && covers(r, old->addr, old->bytes))
            unkeep(old);
    }
}

/* Messages that wait for no region under way are mapped anew; @failed, one of them, fails with
 * @error.
 */
static void map_again(struct lnd *lnd, const struct lnd_tx *failed, int error)
{
    struct lnd_tx_list lost = {0};
    struct lnd_tx *next;

    for (struct lnd_tx *tx = lnd->unmapped.first; tx; tx = next) {
        next = tx->next;
        if (is_awaited(tx))
            continue;
        lnd_list_remove(tx);
        lnd_list_add(&lost, tx);
    }
    while (lost.first) {
        struct lnd_tx *tx = lost.first;
        int st = error;

        lnd_list_remove(tx);
        if (tx != failed)
            st = lnd_map(tx);
        if (st != LND_LATER)
            lnd_tx_mapped(tx, st);
    }
}

static void registered(struct lnd_region *r)
{
    struct lnd *lnd = r->lnd;
    struct lnd_counts *n = &lnd->counts;

    r->is_ready = true;
    n->regions++;
    n->regions_now++;
    n->pinned_bytes += r->bytes;
    if (n->pinned_bytes > n->pinned_max)
        n->pinned_max = n->pinned_bytes;
    lnd_tell(lnd, &(struct lnd_note){.kind = LND_NOTE_REGION,
                                     .n = 1,
                                     .key = r->mr.rkey,
                                     .addr = r->addr,
                                     .bytes = r->bytes});
    r->users++; /* while messages begin to use it, one may be over already */
    serve(lnd, r);
    if (lnd->config.map == LNET_MAP_growing && !r->is_kept)
        map_again(lnd, NULL, 0); /* others have waited for it before lnd_forget() */
    r->users--;
    replace_covered(r);
    limit_kept(lnd);
    region_idle(r);
}

/* @r could not be registered.  If it was the union with an older one, its message gets a region of
 * its own; otherwise that message fails.  Others that have waited for @r are mapped anew.
 */
static void not_registered(struct lnd_region *r, int error)
{
    struct lnd *lnd = r->lnd;
    const struct lnd_tx *failed = r->only;

    if (r->is_union && r->only) {
        span_of(r->only, &r->addr, &r->bytes);
        r->is_union = false;
        lnd_job(lnd, &r->job, LND_JOB_REG, r);
        map_again(lnd, NULL, 0);
        return;
    }
    if (r->is_kept)
        lnd->n_kept--;
    region_free(r);
    map_again(lnd, failed, error);
}

void lnd_map_forget(const struct lnd_tx *tx)
{
    for (struct lnd_region *r = tx->lnd->regions; r; r = r->next) {
        if (r->only == tx)
            r->only = NULL;
    }
}

int lnd_region_job(struct lnd_region *r, enum lnd_job_kind kind)
{
    struct lnd *lnd = r->lnd;
    int st;

    if (kind == LND_JOB_REG) {
        st = lnd->ops->reg_mr(lnd->ctx, r->addr, r->bytes, &r->mr);
        if (st == 0)
            registered(r);
        else if (st != LND_LATER)
            not_registered(r, st);
        return st;
    }
    st = lnd->ops->dereg_mr(lnd->ctx, &r->mr);
    if (st == LND_LATER)
        return st;
    lnd->counts.dereged++;
    lnd->counts.regions_now--;
    lnd->counts.pinned_bytes -= r->bytes;
    lnd_tell(lnd,
             &(struct lnd_note){
                 .kind = LND_NOTE_REGION, .key = r->mr.rkey, .addr = r->addr, .bytes = r->bytes});
    region_free(r);
    return st;
}

void lnd_forget(struct lnd *lnd, uint64_t addr, uint64_t bytes)
{
    lnd_enter(lnd);
    for (struct lnd_region *r = lnd->regions; r; r = r->next) {
        if (addr < r->addr + r->bytes && r->addr < addr + bytes)
            unkeep(r);
    }
    lnd_leave(lnd);
}

bool lnd_regions_end(struct lnd *lnd)
{
    for (struct lnd_region *r = lnd->regions; r; r = r->next)
        unkeep(r);
    return !lnd->regions;
}

bool lnd_region_at(const struct lnd *lnd, uint32_t i, struct lnd_region_info *ret)
{
    const struct lnd_region *r = lnd->regions;

    for (; r && i > 0; i--)
        r = r->next;
    if (!r)
        return false;
    *ret = (struct lnd_region_info){r->addr, r->bytes, r->mr.rkey, r->users, r->is_kept};
    return true;
}
