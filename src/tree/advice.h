/* SPDX-License-Identifier: MIT */
/* Advice on objects whose use will fail or wait for ever, read from the inspect tree.
 *
 * Each function appends complete sentences to @t and returns true if its advice applies now.
 * Otherwise it appends nothing and returns false.
 */
#ifndef TREE_ADVICE_H
#define TREE_ADVICE_H

#include "tree/tree.h"

/* The last sends of @qp, as many as its send queue has room for, are all unsignaled.  An adapter's
 * driver then never frees an entry.
 */
bool advice_unsignaled(struct text *t, const struct rdl_lab *lab, const char *qp);

/* @qp may have more READs and atomics under way than its peer takes. */
bool advice_rd_atomic(struct text *t, const struct rdl_lab *lab, const char *qp);

/* @cq has fewer entries than the queues that complete into it have room for work requests. */
bool advice_cq_size(struct text *t, const struct rdl_lab *lab, const char *cq);

/* @cq is armed, and completions wait in it that raise no event any more. */
bool advice_armed(struct text *t, const struct rdl_lab *lab, const char *cq);

/* @host is a guest, and the virtual function that is its port is not enabled. */
bool advice_function_off(struct text *t, const struct rdl_lab *lab, const char *host);

/* @key was refused on @host, with an address of @bytes at @addr: names the region that has these
 * bytes, and its key.  @is_local: the key was an lkey.
 */
struct advice_key {
    rdl_host host;
    uint64_t key, addr, bytes;
    bool is_local;
};
bool advice_right_key(struct text *t, const struct rdl_lab *lab, const struct advice_key *k);

/* The region of @k does not allow the access: names it, and what it allows. */
bool advice_region_access(struct text *t, const struct rdl_lab *lab, const struct advice_key *k);

#endif
