/* SPDX-License-Identifier: MIT */
/* External ports: frames enter and leave the lab through them.
 *
 * An external port is a node of the network.  It is linked to a switch or a host like any other
 * node, with the same links, faults (rdl_fault_config.from_port) and captures.  Events name the
 * port in their field for a host.  The caller moves the bytes: rdl_port_receive() brings a frame
 * in, and a callback gets each frame that leaves.
 *
 * A lab that follows an outside clock is advanced with rdl_run(lab, now) before each incoming
 * frame, and whenever rdl_next_ns() is due.  Events then happen in their order, however late the
 * caller is.  To wait for an answer, call rdl_answer() or rdl_ping_result() in between.  rdl_wait()
 * and rdl_ping_wait() would run ahead of the clock and of the peer.
 */
#ifndef RDMALAB_PORT_H
#define RDMALAB_PORT_H

#include "rdmalab/lab.h"

#define RDL_PORT_FRAME_BYTES_MAX 65535u

struct rdl_port_config {
    const char *name; /* copied; unique among hosts, switches and ports */
};

/* Adds an external port.
 *
 * Return: RDL_OK, RDL_ERR_INVAL or RDL_ERR_EXISTS (the name), RDL_ERR_LIMIT (64 ports),
 *	   RDL_ERR_NOMEM
 */
RDL_MUST_CHECK enum rdl_status rdl_port_add(struct rdl_lab *lab,
                                            const struct rdl_port_config *config, rdl_port *ret);

/* Finds the external port with the name @name.  Returns RDL_ERR_NOT_FOUND if there is none. */
RDL_MUST_CHECK enum rdl_status rdl_port_find(const struct rdl_lab *lab, const char *name,
                                             rdl_port *ret);

/* Registers the callback for frames that leave through @port, or removes it (NULL).  Without a
 * callback the frames are counted as unread.  The callback runs inside rdl_run(), rdl_step() and
 * rdl_wait() and must not call the lab.  @frame is valid only during the call.
 *
 * The callback is not part of a checkpoint: restoring a checkpoint does not change it.  If the lab
 * then repeats events, the callback gets the same frames again.
 *
 * Return: RDL_OK, RDL_ERR_STALE
 */
typedef void rdl_port_frame(void *ctx, const void *frame, size_t bytes);
RDL_MUST_CHECK enum rdl_status rdl_port_read(struct rdl_lab *lab, rdl_port port,
                                             rdl_port_frame *frame, void *ctx);

/* Brings a frame into the lab now, in a tick of its own.  @frame begins with the Ethernet header,
 * has no FCS, and is copied.  It queues for the port's link.  Frames beyond 4 MiB of queued bytes
 * are dropped with an event and counted.
 *
 * Return: RDL_OK, RDL_ERR_STALE, RDL_ERR_NOMEM
 *	   RDL_ERR_INVAL  no bytes, or more than RDL_PORT_FRAME_BYTES_MAX
 */
RDL_MUST_CHECK enum rdl_status rdl_port_receive(struct rdl_lab *lab, rdl_port port,
                                                const void *frame, size_t bytes);

struct rdl_port_info {
    char name[RDL_NAME_BYTES];
    bool linked;
    uint64_t in_frames, in_bytes, in_dropped; /* dropped: no link is up, or the queue is full */
    uint64_t out_frames, out_bytes;
    uint64_t out_unread; /* left without a callback; a restored checkpoint does not reset it */
    uint64_t busy_ns;    /* remaining time until the link has sent the queued incoming frames */
};
RDL_MUST_CHECK enum rdl_status rdl_port_info(const struct rdl_lab *lab, rdl_port port,
                                             struct rdl_port_info *ret);

#endif
