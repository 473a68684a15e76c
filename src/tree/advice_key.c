/* SPDX-License-Identifier: MIT */
/* Advice on a key that was refused, from the regions that the host has now. */
#include "tree/advice.h"

#include "emu/facts/compared.h"
#include "tree/tree_memory.h"

struct owner_search {
    const struct advice_key *k;
    bool by_key; /* the region of the key is wanted, not that of the address */
    bool found;
    char path[TREE_PATH_BYTES];
    struct rdl_mr_info info;
};

static bool fits(const struct owner_search *r, const struct rdl_mr_info *info)
{
    const struct advice_key *k = r->k;

    if (r->by_key)
        return k->key == (k->is_local ? info->lkey : info->rkey);
    return k->addr >= info->iova && k->addr - info->iova < info->bytes &&
           k->bytes <= info->bytes - (k->addr - info->iova);
}

static void look_at(void *ctx, const char *path, rdl_host host, const struct rdl_mr_info *info)
{
    struct owner_search *r = ctx;
    struct text t;

    if (r->found || host.raw != r->k->host.raw || !fits(r, info))
        return;
    r->found = true;
    t = text_on(r->path, sizeof(r->path));
    text_add(&t, path);
    r->info = *info;
}

bool advice_right_key(struct text *t, const struct rdl_lab *lab, const struct advice_key *k)
{
    struct owner_search r = {.k = k};
    uint32_t right;

    tree_each_region(lab, look_at, &r);
    if (!r.found)
        return false;
    right = k->is_local ? r.info.lkey : r.info.rkey;
    if (right == k->key)
        return false;
    text_addf(t, "%s, which has the address 0x%llx, has ", r.path, (unsigned long long)k->addr);
    if (right)
        text_addf(t, "%s 0x%x, not 0x%llx.", k->is_local ? "lkey" : "rkey", right,
                  (unsigned long long)k->key);
    else
        text_add(t, "no rkey: its access allows peers nothing.");
    return true;
}

bool advice_region_access(struct text *t, const struct rdl_lab *lab, const struct advice_key *k)
{
    struct owner_search r = {.k = k, .by_key = true};

    tree_each_region(lab, look_at, &r);
    if (!r.found)
        return false;
    text_addf(t, "The key is that of %s, which was registered with access ", r.path);
    compared_add_access(t, r.info.access);
    text_add(t, ".");
    return true;
}
