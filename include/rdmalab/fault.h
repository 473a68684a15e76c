/* SPDX-License-Identifier: MIT */
/* Faults: what a link does to frames, by coordinates, and frames made by hand. */
#ifndef RDMALAB_FAULT_H
#define RDMALAB_FAULT_H

#include "rdmalab/events.h"
#include "rdmalab/lab.h"
#include "rdmalab/verbs.h"

struct ev;

#define RDL_ANY UINT32_MAX

#define RDL_FAULTS_MAX        65536u /* at a time */
#define RDL_FAULT_ABOUT_BYTES 96u

/* Matches frames at the moment they leave a host, or come in through an external port.  Every
 * criterion must hold; RDL_ANY always does.
 */
struct rdl_fault_config {
    const char *name;     /* copied; as of a host; NULL or "": f1, f2, ... */
    uint32_t kind;        /* enum fault_kind, not FLT_NONE, FLT_CHANCE, FLT_BURST */
    rdl_host from;        /* raw 0: any */
    uint32_t opcode;      /* enum opcode, enum frame_kind (ARP_REQUEST), or RDL_ANY */
    uint32_t syndrome;    /* enum syndrome, or RDL_ANY: ACKs and NAKs */
    uint32_t psn;         /* or RDL_ANY */
    uint32_t dest_qpn;    /* or RDL_ANY */
    uint32_t nth;         /* the n-th matching frame is the first one hit; from 1 */
    uint32_t count;       /* how many are hit from there on; RDL_ANY: all */
    uint64_t delay_ns;    /* FLT_DELAY: how much later; FLT_DUPLICATE: the copy's delay;
                             FLT_REORDER: it is held no longer than this */
    uint32_t corrupt_bit; /* FLT_CORRUPT: see below */
    rdl_port from_port;   /* raw 0: any; not together with @from */

    /* Zero is any of them, and nothing. */
    rdl_host to;           /* addressed to this host alone */
    rdl_qp qp;             /* requests that it sends, and what answers them */
    uint32_t packet_class; /* enum packet_class */
    uint32_t transmission; /* requests that are sent for the n-th time */
    uint32_t message;      /* of the n-th message that @qp begins from now on; needs @qp */
    rdl_link link;         /* meets frames on this link, and not where they leave a host */
    /* And for which this holds: of the event with which the frame was sent, of kind tx.  It must
     * depend on that, on the lab and on what never changes alone, change nothing, and stay callable
     * as long as the lab, for it may go back to when the fault was there.
     */
    bool (*where)(void *ctx, const struct ev *sent);
    void *where_ctx;
    uint32_t hold_frames; /* FLT_REORDER: so many frames overtake it */
    uint32_t to_bytes;    /* FLT_TRUNCATE: so many are left; shorter ones do not match */
    uint32_t field; /* enum wire_field_id: FLT_FORGE, and of FLT_CORRUPT if it is no @corrupt_bit;
                       frames without it do not match */
    uint64_t value; /* FLT_FORGE: that the field gets */
    const char *about; /* what people call it, copied, up to RDL_FAULT_ABOUT_BYTES; or NULL */
};

/* @corrupt_bit is the number of a bit in the frame, taken modulo its length: bit 0 is the first and
 * highest one of the destination MAC.  RDL_ANY is the last bit that the ICRC covers, which is the
 * one before it: number 8 * n - 33 of a frame whose ICRC ends with byte n.  The receiver drops the
 * frame with a wrong ICRC then.  A frame that has no ICRC is hit in its last bit.
 */

/* With @link, @message counts messages where they leave @qp's host, and @where is asked when the
 * frame meets the fault.  A frame that left before there was a fault with @link and one of
 * @transmission, @message and @where matches none of these: nobody knows any more how it was sent.
 *
 * A frame that is held (FLT_REORDER) takes its time on the link, and arrives right behind the
 * @hold_frames-th frame that takes the same way after it; @delay_ns after it would have arrived it
 * does so anyway.
 *
 * Return: RDL_OK, RDL_ERR_INVAL, RDL_ERR_EXISTS (the name), RDL_ERR_LIMIT, RDL_ERR_STALE (@from,
 *	   @to, @qp, @link), RDL_ERR_NOMEM
 */
RDL_MUST_CHECK enum rdl_status rdl_fault_add(struct rdl_lab *lab,
                                             const struct rdl_fault_config *config, rdl_fault *ret);
/* Removes a fault of either kind.  What a fault of a device has stopped goes on. */
RDL_MUST_CHECK enum rdl_status rdl_fault_remove(struct rdl_lab *lab, rdl_fault fault);

/* Of a device, and not of frames.  Each kind has its occasions: a kick of the queue that the device
 * would hear, an interrupt for it, a buffer that is about to be given back with bytes in it, one
 * that is about to be taken, one that was given back.
 */
struct rdl_device_fault_config {
    const char *name; /* as of struct rdl_fault_config */
    uint32_t kind;    /* enum fault_kind, from FLT_LOST_KICK on */
    rdl_host host;
    bool net;            /* of its virtio-net function, and not of virtio-rdma */
    uint32_t queue;      /* number of a virtqueue, or RDL_ANY */
    uint32_t nth;        /* the n-th occasion is the first one hit; from 1 */
    uint32_t count;      /* how many are hit from there on; RDL_ANY: all */
    uint32_t chance_ppm; /* of those, out of the seed; 0: certainly */
    uint64_t time_ns;    /* FLT_LATE_DATA: how much later; FLT_STUCK_QUEUE: how long, 0: until it is
                            removed */
    uint32_t id;         /* FLT_SPURIOUS: which chain; RDL_ANY: one more than there can be */
    /* And for which this holds: of the event device_fault that would tell of it.  As of struct
     * rdl_fault_config.
     */
    bool (*where)(void *ctx, const struct ev *hit);
    void *where_ctx;
    const char *about;
};

/* Queues whose buffers the device only reads have no late data, and a completion queue cannot be
 * stuck: it would have overflowed.  With FLT_SPURIOUS the invariants of the host's rings are not
 * looked at any more.
 *
 * Return: RDL_OK, RDL_ERR_INVAL, RDL_ERR_EXISTS (the name), RDL_ERR_LIMIT, RDL_ERR_STALE (@host),
 *	   RDL_ERR_NOT_FOUND (@queue), RDL_ERR_NOMEM
 */
RDL_MUST_CHECK enum rdl_status rdl_device_fault_add(struct rdl_lab *lab,
                                                    const struct rdl_device_fault_config *config,
                                                    rdl_fault *ret);

/* A frame that arrives at @host's port now, as if from the wire.  Copied. */
RDL_MUST_CHECK enum rdl_status rdl_inject(struct rdl_lab *lab, rdl_host host, const void *frame,
                                          size_t bytes);

/* A RoCEv2 frame that @host sends now, though none of its queue pairs does: over its link, where it
 * meets faults as any other.  Copied.  @bad_icrc is told in the event, and not looked at here.
 */
RDL_MUST_CHECK enum rdl_status rdl_inject_from(struct rdl_lab *lab, rdl_host host,
                                               const void *frame, size_t bytes, bool bad_icrc);

#endif
