/* SPDX-License-Identifier: MIT */
/* Nodes of LNet, their memory and portals. */
#include <errno.h>

#include "lnet/lnet_internal.h"

struct lnet_node *lnet_new(const struct lnd_ops *ops, void *ctx, const struct lnd_config *config,
                           lnet_listener *listener, void *listener_ctx)
{
    struct lnet_node *n = ops->alloc(ctx, sizeof(*n));

    if (!n)
        return NULL;
    n->ops = ops;
    n->ctx = ctx;
    n->listener = listener;
    n->listener_ctx = listener_ctx;
    n->credits = (int32_t)config->credits;
    n->lnd = lnd_new(ops, ctx, config, n);
    if (!n->lnd) {
        ops->free(ctx, n, sizeof(*n));
        return NULL;
    }
    return n;
}

struct lnet_memory *lnet_memory_of(const struct lnet_node *n, uint64_t handle)
{
    struct lnet_memory *m = n->memories[handle % MD_LISTS];

    while (m && m->handle != handle)
        m = m->next_of_list;
    return m;
}

static void detach(struct lnet_node *n, struct lnet_memory *m)
{
    struct lnet_portal *p = &n->portals[m->match.portal];

    if (!m->is_attached)
        return;
    m->is_attached = false;
    if (m->before)
        m->before->next = m->next;
    else
        p->first = m->next;
    if (m->next)
        m->next->before = m->before;
    else
        p->last = m->before;
}

static void memory_free(struct lnet_node *n, struct lnet_memory *m)
{
    struct lnet_memory **at = &n->memories[m->handle % MD_LISTS];

    detach(n, m);
    while (*at != m)
        at = &(*at)->next_of_list;
    *at = m->next_of_list;
    if (m->older)
        m->older->younger = m->younger;
    else
        n->oldest = m->younger;
    if (m->younger)
        m->younger->older = m->older;
    else
        n->youngest = m->older;
    n->ops->free(n->ctx, m, sizeof(*m));
}

void lnet_free(struct lnet_node *n)
{
    if (!n)
        return;
    for (uint32_t i = 0; i < MD_LISTS; i++) {
        while (n->memories[i])
            memory_free(n, n->memories[i]);
    }
    while (n->first_peer) {
        struct lnet_peer *p = n->first_peer;

        n->first_peer = p->next;
        n->ops->free(n->ctx, p, sizeof(*p));
    }
    lnd_free(n->lnd);
    n->ops->free(n->ctx, n, sizeof(*n));
}

struct lnd *lnet_lnd(const struct lnet_node *n)
{
    return n->lnd;
}

const struct lnet_counts *lnet_counts(const struct lnet_node *n)
{
    return &n->counts;
}

static int memory_new(struct lnet_node *n, const struct lnet_md *md, struct lnet_memory **ret)
{
    const struct frag_list all = {md->frags, md->n};
    const uint64_t bytes = md->n <= LNET_IOV_MAX ? frags_sum(&all) : 0;
    struct lnet_memory *m;

    if (md->n > LNET_IOV_MAX || bytes > UINT32_MAX)
        return -EINVAL;
    m = n->ops->alloc(n->ctx, sizeof(*m));
    if (!m)
        return -ENOMEM;
    m->handle = ++n->next_handle;
    m->md = *md;
    m->n_left = md->threshold;
    m->bytes = bytes;
    m->next_of_list = n->memories[m->handle % MD_LISTS];
    n->memories[m->handle % MD_LISTS] = m;
    m->older = n->youngest;
    if (n->youngest)
        n->youngest->younger = m;
    else
        n->oldest = m;
    n->youngest = m;
    *ret = m;
    return 0;
}

int lnet_bind(struct lnet_node *n, const struct lnet_md *md, uint64_t *ret)
{
    struct lnet_memory *m;
    const int st = memory_new(n, md, &m);

    if (st == 0)
        *ret = m->handle;
    return st;
}

int lnet_attach(struct lnet_node *n, const struct lnet_match *match, const struct lnet_md *md,
                uint64_t *ret)
{
    struct lnet_portal *p = &n->portals[match->portal % LNET_PORTALS];
    struct lnet_memory *m;
    int st;

    if (match->portal >= LNET_PORTALS || !(md->options & (LNET_MD_PUT | LNET_MD_GET)))
        return -EINVAL;
    st = memory_new(n, md, &m);
    if (st)
        return st;
    m->match = *match;
    m->is_attached = true;
    m->before = p->last;
    if (p->last)
        p->last->next = m;
    else
        p->first = m;
    p->last = m;
    *ret = m->handle;
    return 0;
}

int lnet_unlink(struct lnet_node *n, uint64_t md)
{
    struct lnet_memory *m = lnet_memory_of(n, md);

    if (!m)
        return -ENOENT;
    m->n_users -= m->n_answers; /* an answer may never come; later it finds no memory */
    m->n_answers = 0;
    if (m->n_users > 0) {
        detach(n, m);
        m->is_ending = true;
        return -EBUSY;
    }
    memory_free(n, m);
    return 0;
}

bool lnet_memory_at(const struct lnet_node *n, uint32_t i, struct lnet_memory_info *ret)
{
    const struct lnet_memory *m = n->oldest;

    for (; m && i > 0; i--)
        m = m->younger;
    if (!m)
        return false;
    *ret = (struct lnet_memory_info){m->handle, m->bytes, m->match,  m->is_attached,
                                     m->md.n,   m->at,    m->n_users};
    return true;
}

static void tell(struct lnet_node *n, const struct lnet_event *e)
{
    if (n->listener)
        n->listener(n->listener_ctx, e);
}

void lnet_use(struct lnet_node *n, struct lnet_memory *m)
{
    m->n_users++;
    if (m->md.threshold > 0 && --m->n_left == 0) {
        m->is_ending = true;
        detach(n, m);
    }
}

void lnet_end_use(struct lnet_node *n, struct lnet_memory *m, struct lnet_event *e)
{
    m->n_users--;
    e->md = m->handle;
    e->user = m->md.user;
    e->unlinked = m->is_ending && m->n_users == 0;
    if (e->unlinked)
        memory_free(n, m);
    tell(n, e);
}
