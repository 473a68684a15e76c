/* SPDX-License-Identifier: MIT */
/* External ports: where a lab meets the world outside.
 *
 * An external port is one more node of the network.  It is linked to a switch or host like any
 * other, behind the same links, faults (rdl_fault_config.from_port) and captures.  In events it
 * stands where a host would, under its own name.  What moves the bytes, and when, is the caller's
 * matter: rdl_port_receive() brings a frame in, a callback gets those that go out.
 *
 * A lab that follows a clock of the outside is let on with rdl_run(lab, now) before each frame that
 * is brought in, and whenever rdl_next_ns() is due: then everything happens in its order, however
 * late the caller is.  Whoever waits for an answer asks rdl_answer() and rdl_ping_result() in
 * between; rdl_wait() and rdl_ping_wait() would run ahead of the clock and of the peer.
 */
#ifndef RDMALAB_PORT_H
#define RDMALAB_PORT_H

#include "rdmalab/lab.h"

#define RDL_PORT_FRAME_BYTES_MAX 65535u

struct rdl_port_config {
    const char *name; /* copied; unique among hosts, switches and ports */
};

/* Return: RDL_OK, RDL_ERR_INVAL or RDL_ERR_EXISTS (the name), RDL_ERR_LIMIT, RDL_ERR_NOMEM */
RDL_MUST_CHECK enum rdl_status rdl_port_add(struct rdl_lab *lab,
                                            const struct rdl_port_config *config, rdl_port *ret);

/* The external port called @name.  RDL_ERR_NOT_FOUND */
RDL_MUST_CHECK enum rdl_status rdl_port_find(const struct rdl_lab *lab, const char *name,
                                             rdl_port *ret);

/* From now on @frame gets every frame that leaves through @port, inside rdl_run(), rdl_step() and
 * rdl_wait(); NULL: nobody, and they are counted as unread.  It must not call the lab, and the
 * bytes are gone when it returns.  Whoever reads is no part of a checkpoint: restoring one changes
 * nothing about it, and frames that leave again are handed out again.  RDL_ERR_STALE
 */
typedef void rdl_port_frame(void *ctx, const void *frame, size_t bytes);
RDL_MUST_CHECK enum rdl_status rdl_port_read(struct rdl_lab *lab, rdl_port port,
                                             rdl_port_frame *frame, void *ctx);

/* A frame, from its Ethernet header on and without FCS, comes in now: a tick of its own.  Copied.
 * It waits its turn on the port's link; what is beyond 4 MiB of waiting frames is dropped with an
 * event and counted.
 *
 * Return: RDL_OK, RDL_ERR_STALE, RDL_ERR_NOMEM
 *	   RDL_ERR_INVAL  no bytes, or more than RDL_PORT_FRAME_BYTES_MAX
 */
RDL_MUST_CHECK enum rdl_status rdl_port_receive(struct rdl_lab *lab, rdl_port port,
                                                const void *frame, size_t bytes);

struct rdl_port_info {
    char name[RDL_NAME_BYTES];
    bool linked;
    uint64_t in_frames, in_bytes, in_dropped; /* dropped: no link, or too many were waiting */
    uint64_t out_frames, out_bytes;
    uint64_t out_unread; /* left while nobody read; not undone by a restored checkpoint */
    uint64_t busy_ns;    /* how much longer its link is busy with what came in */
};
RDL_MUST_CHECK enum rdl_status rdl_port_info(const struct rdl_lab *lab, rdl_port port,
                                             struct rdl_port_info *ret);

#endif
