/* SPDX-License-Identifier: MIT */
/* The ping of LNet: a GET of what a node says of itself.  [Lustre, lnet/api-ni.c; lnetctl ping]
 *
 * Each node attaches its answer to portal 0, with match bits that all know.
 */
#ifndef LNET_PING_H
#define LNET_PING_H

#include "lnet/lnet.h"

#define LNET_PING_PORTAL  0u
#define LNET_PING_BITS    UINT64_C(0x8000000000000000)
#define LNET_PING_NIS_MAX 16u
#define LNET_PING_BYTES   (16u + 16u * LNET_PING_NIS_MAX)
#define LNET_NID_LO       (UINT64_C(9) << 48) /* 0@lo, the loopback of each node */

/* An interface of a node. */
struct lnet_ping_ni {
    uint64_t nid;
    bool is_up;
};

struct lnet_ping_info {
    uint32_t pid, n;
    struct lnet_ping_ni nis[LNET_PING_NIS_MAX];
};

/* Writes the answer of @n, which has one interface, to the LNET_PING_BYTES bytes at @addr and
 * attaches them.  *@ret is the handle.  0 or a negative errno.
 */
int lnet_ping_serve(struct lnet_node *n, const struct lnd_ops *ops, void *ctx, uint64_t addr,
                    uint64_t *ret);

/* Asks @nid; the answer comes to the LNET_PING_BYTES bytes at @addr with a REPLY, whose user value
 * is @user.  *@ret is the handle of the memory.  0, or the errors of lnet_get().
 */
int lnet_ping(struct lnet_node *n, uint64_t nid, uint64_t addr, uint64_t user, uint64_t *ret);

/* Reads the answer of @bytes bytes at @addr.  Returns false if it is none.  Further interfaces than
 * LNET_PING_NIS_MAX are ignored.
 */
bool lnet_ping_take(const struct lnd_ops *ops, void *ctx, uint64_t addr, uint32_t bytes,
                    struct lnet_ping_info *ret);

#endif
