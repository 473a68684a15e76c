/* SPDX-License-Identifier: MIT */
/* Multicast groups of one device.  Each queue pair in a group receives a copy of its datagrams.
 *
 * A group exists while at least one queue pair is attached to it.  Groups are in a hash table by
 * address, because every multicast frame that arrives needs a lookup.  The device's limits bound
 * all sizes.  [IBTA1 10.5]
 */
#ifndef EMU_HCA_MCAST_H
#define EMU_HCA_MCAST_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/base/hash_lists.h"

#define MCAST_GID_BYTES 16u

struct hca;
struct qp;

struct mcast {
    struct hash_lists groups; /* struct mcast_group */
    uint32_t n_attached;      /* sum over all groups of the queue pairs attached */
};

/* Initializes @m without groups. */
void mcast_init(struct mcast *m, struct arena *a);

/* Frees the memory of @m.  No queue pair may be attached to a group. */
void mcast_done(struct mcast *m);

/* Detaches @qp, which is about to be destroyed, from all its groups. */
void mcast_forget(struct hca *h, struct qp *qp);

/* Finds the QPNs attached to the group @gid, in the order of attaching.  Returns their number with
 * the QPNs in *@ret_qpns, valid until the next attach or detach.  Returns 0 if the group does not
 * exist.
 */
uint32_t mcast_find(const struct hca *h, const uint8_t gid[MCAST_GID_BYTES],
                    const uint32_t **ret_qpns);

/* Returns true if @qp accepts a copy of a multicast datagram from @src_gid, @src_qpn.  A queue pair
 * created with CREATE_BLOCK_SELF_MCAST_LB does not accept its own datagrams.
 */
bool mcast_wants(const struct qp *qp, const uint8_t src_gid[MCAST_GID_BYTES], uint32_t src_qpn);

#endif
