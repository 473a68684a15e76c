/* SPDX-License-Identifier: MIT */
/* Multicast groups of one device: which queue pairs get a copy of what is sent to a group.
 *
 * A group is there as long as a queue pair is attached to it.  It is found by its address, by hash,
 * as every multicast frame that arrives is looked up.  The device's limits bound everything.
 * [IBTA1 10.5]
 */
#ifndef EMU_HCA_MCAST_H
#define EMU_HCA_MCAST_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/base/hash_lists.h"
#include "emu/facts/enums.h"

#define MCAST_GID_BYTES 16u

struct hca;
struct qp;

struct mcast {
    struct hash_lists groups; /* struct mcast_group */
    uint32_t n_attached;      /* queue pairs in all groups, each counted once a group */
};

void mcast_init(struct mcast *m, struct arena *a);

/* Gives back what it holds; nobody is attached any more. */
void mcast_done(struct mcast *m);

/* Attaches @qp to the group @gid, which is a multicast address.  Once more changes nothing.
 *
 * Return: RSP_OK
 *	   RSP_INVALID_ARG   @qp is not a UD one
 *	   RSP_NO_RESOURCES  a limit is reached, or the arena is full
 */
enum ctrl_rsp mcast_attach(struct hca *h, struct qp *qp, const uint8_t gid[MCAST_GID_BYTES]);

/* RSP_OK, RSP_INVALID_ARG: @qp is not attached to the group */
enum ctrl_rsp mcast_detach(struct hca *h, struct qp *qp, const uint8_t gid[MCAST_GID_BYTES]);

/* @qp goes: it is detached from all groups. */
void mcast_forget(struct hca *h, struct qp *qp);

/* The QPNs that are attached to the group @gid, in the order of attaching.  Returns how many, and
 * *@ret_qpns is theirs until the next attach or detach; 0: there is no such group.
 */
uint32_t mcast_find(const struct hca *h, const uint8_t gid[MCAST_GID_BYTES],
                    const uint32_t **ret_qpns);

/* Does @qp want its copy of a datagram from @src_gid, @src_qpn?  One that was created with
 * CREATE_BLOCK_SELF_MCAST_LB does not want its own.
 */
bool mcast_wants(const struct qp *qp, const uint8_t src_gid[MCAST_GID_BYTES], uint32_t src_qpn);

#endif
