/* SPDX-License-Identifier: MIT */
/* Fault injection: faults that act on selected frames, faults of devices, and injected frames. */
#ifndef RDMALAB_FAULT_H
#define RDMALAB_FAULT_H

#include "rdmalab/events.h"
#include "rdmalab/lab.h"
#include "rdmalab/verbs.h"

struct ev;

#define RDL_ANY UINT32_MAX /* in a field of a fault: "any" or "all", as the field says */

#define RDL_FAULTS_MAX        65536u /* faults that can exist at the same time */
#define RDL_FAULT_ABOUT_BYTES 96u

/* A fault of frames.  It matches frames when they leave a host or enter through an external port.
 * A frame matches if all criteria hold.  A criterion with the value RDL_ANY always holds.
 */
struct rdl_fault_config {
    const char *name; /* copied; syntax as for a host's name; NULL or "": f1, f2, ... */
    uint32_t kind;   /* enum fault_kind, except FLT_NONE, FLT_CHANCE, FLT_BURST and device faults */
    rdl_host from;   /* host that sends the frame; raw 0: any sender */
    uint32_t opcode; /* enum opcode of a RoCEv2 frame, enum frame_kind of another, or RDL_ANY */
    uint32_t syndrome; /* enum syndrome of the AETH, for example of a NAK, or RDL_ANY */
    uint32_t psn;      /* PSN of the BTH, or RDL_ANY */
    uint32_t dest_qpn; /* destination QPN of the BTH, or RDL_ANY */
    uint32_t nth;      /* the first matching frame to hit, counted from 1 */
    uint32_t count;    /* number of matching frames to hit, from the @nth on; RDL_ANY: all */
    /* FLT_DELAY: extra delay.  FLT_DUPLICATE: delay of the copy.  FLT_REORDER: the longest time
     * that the frame is held.
     */
    uint64_t delay_ns;
    uint32_t corrupt_bit; /* FLT_CORRUPT: the bit to invert, see below */
    /* External port through which the frame enters; raw 0: no restriction.  Only one of @from and
     * @from_port may be set.
     */
    rdl_port from_port;

    /* Further criteria.  The value 0 (or raw 0, or NULL) means no restriction. */
    rdl_host to;           /* host whose MAC is the frame's destination MAC */
    rdl_qp qp;             /* QP that sends the request, or whose request the frame answers */
    uint32_t packet_class; /* enum packet_class */
    uint32_t transmission; /* n: request packets that are sent for the n-th time */
    /* n: frames of the n-th message that @qp starts after the fault was added; needs @qp. */
    uint32_t message;
    uint32_t cm;   /* enum cm_message: frames with this message of the connection manager */
    rdl_link link; /* the fault acts when a frame enters this link, not when it leaves a host */
    /* Condition on the event (kind tx) with which the frame was sent, and on the bytes of the frame
     * where the fault meets it.  The function may depend only on these, on the lab and on
     * constants.  It must have no side effects.  It must stay callable as long as the lab: a
     * restored checkpoint can bring the fault back.
     */
    bool (*where)(void *ctx, const struct ev *sent, const uint8_t *frame, size_t bytes);
    void *where_ctx;      /* argument @ctx of @where */
    uint32_t hold_frames; /* FLT_REORDER: number of frames that overtake a held frame, from 1 */
    uint32_t to_bytes;    /* FLT_TRUNCATE: bytes that remain, from 1; shorter frames do not match */
    /* enum wire_field_id: the field for FLT_FORGE, or for FLT_CORRUPT instead of @corrupt_bit.
     * Frames without the field do not match.
     */
    uint32_t field;
    uint64_t value;    /* FLT_FORGE: the new value of the field */
    const char *about; /* description, copied, up to RDL_FAULT_ABOUT_BYTES; or NULL */
    /* n: from the @nth match on, only each n-th match is hit; 0 and 1: each.  @count counts the
     * hits.
     */
    uint32_t every;
};

/* @corrupt_bit is the number of a bit in the frame, modulo its length.  Bit 0 is the most
 * significant bit of the destination MAC.  RDL_ANY is the last bit that the ICRC covers, just
 * before the ICRC: bit 8 * n - 33 of a frame whose ICRC ends with byte n.  The receiver then drops
 * the frame with a wrong ICRC.  In a frame without an ICRC it is the last bit.
 */

/* Adds a fault of frames.
 *
 * With @link, @message is counted where frames leave @qp's host, and @where is evaluated when the
 * frame meets the fault.  The criteria @transmission, @message and @where need the event with which
 * a frame was sent.  A frame on the way keeps that event only if such a fault of a link existed
 * when it was sent; other frames do not match.
 *
 * A frame held by FLT_REORDER spends its usual time on the link.  It then arrives directly after
 * the @hold_frames-th frame behind it in the same direction, at the latest @delay_ns after its
 * usual arrival.
 *
 * Return: RDL_OK, RDL_ERR_INVAL, RDL_ERR_EXISTS (the name), RDL_ERR_LIMIT, RDL_ERR_STALE (@from,
 *	   @to, @qp, @link), RDL_ERR_NOMEM
 */
RDL_MUST_CHECK enum rdl_status rdl_fault_add(struct rdl_lab *lab,
                                             const struct rdl_fault_config *config, rdl_fault *ret);

/* Removes a fault of frames or of a device.  A queue that the fault has stopped (FLT_STUCK_QUEUE)
 * continues.  Returns RDL_OK or RDL_ERR_STALE.
 */
RDL_MUST_CHECK enum rdl_status rdl_fault_remove(struct rdl_lab *lab, rdl_fault fault);

/* A fault of a device.  It acts on occasions, which depend on its kind:
 *
 *	FLT_LOST_KICK		the driver kicks the queue, and the device would notice
 *	FLT_LOST_INTERRUPT	the device raises an interrupt for the queue
 *	FLT_LATE_DATA		the device is about to return a buffer with data
 *	FLT_STUCK_QUEUE		the device is about to take a buffer
 *	FLT_SPURIOUS		the device has returned a buffer
 *	FLT_LOST_CQE		the device is about to write a completion (PVRDMA alone)
 *	FLT_FALSE_DATA		the device is about to return a buffer with data
 *	FLT_FALSE_LENGTH	the device is about to return a buffer
 *	FLT_FALSE_READ		the driver reads a register
 *
 * PVRDMA has no FLT_STUCK_QUEUE, no FLT_SPURIOUS and no FLT_FALSE_*.  Its FLT_LATE_DATA delays
 * answers to commands.
 */
struct rdl_device_fault_config {
    const char *name; /* as in struct rdl_fault_config */
    uint32_t kind;    /* enum fault_kind, from FLT_LOST_KICK on */
    rdl_host host;
    bool net;            /* virtio-net function; otherwise the RDMA device */
    uint32_t queue;      /* number of a virtqueue, or RDL_ANY */
    uint32_t nth;        /* the first occasion to hit, counted from 1 */
    uint32_t count;      /* number of occasions to hit, from the @nth on; RDL_ANY: all */
    uint32_t chance_ppm; /* chance to hit each of these occasions, drawn from the seed; 0: always */
    /* FLT_LATE_DATA: delay of the data, not 0.  FLT_STUCK_QUEUE: time until the queue continues; 0:
     * until the fault is removed.  Other kinds: 0.
     */
    uint64_t time_ns;
    uint32_t id; /* FLT_SPURIOUS: id of the chain; RDL_ANY: the ring size, an invalid id */
    /* FLT_FALSE_DATA: offset of the wrong byte in what the device writes at once; if it writes
     * less, the last byte is wrong.  RDL_ANY: drawn from the seed.
     */
    uint32_t at;
    /* FLT_FALSE_*: bits that are inverted in the byte, in the length or in what is read, not 0;
     * RDL_ANY: drawn from the seed.  If none of them is in the value, its lowest bit is inverted.
     */
    uint32_t flip;
    /* Condition on the event device_fault that would report the hit.  Occasions for which it is
     * false are not counted.  The rules are those of rdl_fault_config.where.
     */
    bool (*where)(void *ctx, const struct ev *hit);
    void *where_ctx;
    const char *about; /* as in struct rdl_fault_config */
    uint32_t every;    /* as in struct rdl_fault_config, of occasions */
};

/* Adds a fault of a device.  FLT_LATE_DATA needs a queue whose buffers the device writes, and so
 * does FLT_FALSE_DATA, which the network device does not have.  FLT_FALSE_READ is about a whole
 * device.  FLT_STUCK_QUEUE cannot hit a completion queue, which would overflow.  Once a
 * FLT_SPURIOUS, FLT_LOST_CQE or FLT_FALSE_* was added, the lab ignores broken invariants of the
 * host.
 *
 * Return: RDL_OK, RDL_ERR_INVAL, RDL_ERR_EXISTS (the name), RDL_ERR_LIMIT, RDL_ERR_STALE (@host),
 *	   RDL_ERR_NOT_FOUND (@queue), RDL_ERR_NO_DEVICE (@host has no RDMA device),
 *	   RDL_ERR_UNSUPPORTED (the device has no such faults), RDL_ERR_NOMEM
 */
RDL_MUST_CHECK enum rdl_status rdl_device_fault_add(struct rdl_lab *lab,
                                                    const struct rdl_device_fault_config *config,
                                                    rdl_fault *ret);

/* Delivers a frame to the port of @host now, as if from the wire.  @frame is copied.  Returns
 * RDL_OK, RDL_ERR_STALE, RDL_ERR_NOMEM, or RDL_ERR_INVAL if @bytes is 0 or more than 65535.
 */
RDL_MUST_CHECK enum rdl_status rdl_inject(struct rdl_lab *lab, rdl_host host, const void *frame,
                                          size_t bytes);

/* Sends a RoCEv2 frame from @host now, on behalf of none of its queue pairs.  The frame takes the
 * host's link and meets faults like any other frame.  @frame is copied.  @bad_icrc is only reported
 * in the event; the call does not check the ICRC.  Errors as rdl_inject(); a frame shorter than a
 * MAC is RDL_ERR_INVAL, too.
 */
RDL_MUST_CHECK enum rdl_status rdl_inject_from(struct rdl_lab *lab, rdl_host host,
                                               const void *frame, size_t bytes, bool bad_icrc);

#endif
