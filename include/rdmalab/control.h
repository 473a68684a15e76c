/* SPDX-License-Identifier: MIT */
/* Raw access to a device for tests: control requests as bytes, without the checks of the verbs, and
 * limits that change while the device runs.
 *
 * Raw requests use the same control queue as the requests of the verbs.  Several can be under way,
 * as many as fit in the ring.  An object that a raw request creates has a number and no handle,
 * because the guest's verbs do not know it.
 *
 * On PVRDMA the request is a command: @command, and @data behind its header.  It has no cuts, @room
 * is ignored, and one is under way at a time, with those of the verbs (RDL_ERR_BUSY).  The answer
 * is the response with its header of 16 bytes; byte 12 is 0 or an errno, which may be that of the
 * register ERR.
 */
#ifndef RDMALAB_CONTROL_H
#define RDMALAB_CONTROL_H

#include "rdmalab/lab.h"

#define RDL_CONTROL_BYTES_MAX 256u /* bytes of a request, of a response, and of each buffer */
#define RDL_CONTROL_CUTS_MAX  16u  /* elements of rdl_control.cuts and room_cuts */

/* A raw control request: the command byte, @bytes of data, and @room bytes for the response.  The
 * request lies in n_cuts + 1 consecutive buffers.  @cuts has the lengths of all but the last
 * buffer, which takes the rest.  The response lies in n_room_cuts + 1 buffers in the same way.
 * Each buffer has at least one byte.  A request or response of 0 bytes has no buffer, and must have
 * no cuts.
 */
struct rdl_control {
    uint8_t command;
    bool is_empty; /* the request has 0 bytes: not even the command byte is sent */
    const uint8_t *data;
    uint32_t bytes; /* length of @data, 0..255 */
    uint32_t room;  /* bytes for the response, including the status byte: 0..256 */
    uint32_t cuts[RDL_CONTROL_CUTS_MAX], n_cuts;           /* lengths of the request's buffers */
    uint32_t room_cuts[RDL_CONTROL_CUTS_MAX], n_room_cuts; /* lengths of the response's buffers */
};

/* The device's most recent refusal of a request: the reason (enum refusal_reason) and the compared
 * values.  The device expected a value from @least to @most and found @found.  If the reason has no
 * expected value, @least and @most are 0.
 */
struct rdl_refusal {
    uint32_t reason; /* 0: nothing was refused yet, and the other fields are 0 */
    uint64_t least, most, found;
};

struct rdl_control_answer {
    uint8_t command;  /* command of the request */
    uint32_t written; /* number of bytes that the device wrote to @response */
    uint8_t response[RDL_CONTROL_BYTES_MAX];
};

/* Adds a request to the ring, and notifies the device if @kick.  *@ret_id identifies the request.
 *
 * Return: RDL_OK
 *	   RDL_ERR_INVAL       the lengths are inconsistent
 *	   RDL_ERR_BUSY        PVRDMA: the slot is in use
 *	   RDL_ERR_QUEUE_FULL  no free entry; two entries stay reserved for the verbs
 *	   RDL_ERR_NO_GUEST    the guest of @host is a virtual machine
 *	   RDL_ERR_NO_DEVICE   @host has no RDMA device
 *	   RDL_ERR_UNSUPPORTED the driver of @host has no control queue
 *	   RDL_ERR_STALE, RDL_ERR_BROKEN, RDL_ERR_NOMEM
 */
RDL_MUST_CHECK enum rdl_status rdl_control_send(struct rdl_lab *lab, rdl_host host,
                                                const struct rdl_control *request, bool kick,
                                                uint32_t *ret_id);

/* Sets *@ret to the response of the device to request @id.
 *
 * Return: RDL_OK, RDL_ERR_STALE
 *	   RDL_ERR_BUSY       the device has not answered the request
 *	   RDL_ERR_NOT_FOUND  no such request, or a later request has taken the place of its
 *			      response: a host has 64 places for requests and responses
 */
RDL_MUST_CHECK enum rdl_status rdl_control_answer(const struct rdl_lab *lab, rdl_host host,
                                                  uint32_t id, struct rdl_control_answer *ret);

/* Returns the number of raw requests that the device has not answered, or 0 if @host is stale. */
uint32_t rdl_control_under_way(const struct rdl_lab *lab, rdl_host host);

/* Changes limits of a running device.  Takes the fields of @limits that are listed in
 * RDL_DEVICE_LIMITS_LIVE and not 0; a limit whose field is 0 does not change.  Existing objects are
 * not affected.  If this changes the device configuration, its generation increases and the driver
 * gets a configuration interrupt.
 *
 * Return: RDL_OK
 *	   RDL_ERR_INVAL        a value is out of range
 *	   RDL_ERR_LIMIT        larger than the value the host was added with
 *	   RDL_ERR_NO_DEVICE    @host has no RDMA device
 *	   RDL_ERR_UNSUPPORTED  the limits of this type of device are fixed
 *	   RDL_ERR_STALE
 */
RDL_MUST_CHECK enum rdl_status rdl_host_limit(struct rdl_lab *lab, rdl_host host,
                                              const struct rdl_device_limits *limits);

/* Resizes the send queue of @qp to @max_send_wr entries and the receive queue to @max_recv_wr; 0
 * keeps the present length, and RDL_QP_NONE leaves no room.  If a queue to be resized is not empty,
 * the device refuses: rdl_wait() returns RDL_ERR_DEVICE with the error EBUSY.
 *
 * Return: RDL_OK
 *	   RDL_ERR_LIMIT        more than the device supports
 *	   RDL_ERR_UNSUPPORTED  the device does not offer RESIZE
 *	   RDL_ERR_STALE, RDL_ERR_BUSY, RDL_ERR_NOMEM
 */
RDL_MUST_CHECK enum rdl_status rdl_resize_qp(struct rdl_lab *lab, rdl_qp qp, uint32_t max_send_wr,
                                             uint32_t max_recv_wr);

/* Sets *@ret to the most recent refusal of the device of @host.
 *
 * Return: RDL_OK, RDL_ERR_NO_DEVICE, RDL_ERR_STALE
 */
RDL_MUST_CHECK enum rdl_status rdl_last_refusal(const struct rdl_lab *lab, rdl_host host,
                                                struct rdl_refusal *ret);

#endif
