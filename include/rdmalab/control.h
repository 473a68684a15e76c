/* SPDX-License-Identifier: MIT */
/* A device as its operator and a driver with other ideas see it: limits that change at work, and
 * requests of the control queue as bytes, past what verbs would check.
 *
 * They share the queue with the requests of verbs, and as many of them are under way as its ring
 * holds.  What they create has a number, and no handle: the guest's verbs do not know of it.
 */
#ifndef RDMALAB_CONTROL_H
#define RDMALAB_CONTROL_H

#include "rdmalab/lab.h"

#define RDL_CONTROL_BYTES_MAX 256u /* of a request or a response, and of a hole in either */
#define RDL_CONTROL_CUTS_MAX  16u

/* A request: the command byte and @bytes of data, and @room bytes for the response.  Both lie in
 * buffers one behind the other, of the lengths in @cuts and @room_cuts; the last buffer has what is
 * left.
 */
struct rdl_control {
    uint8_t command;
    bool is_empty; /* not even the command byte is there */
    const uint8_t *data;
    uint32_t bytes; /* 0..255 */
    uint32_t room;  /* 0..256, the byte that says how it went included */
    uint32_t cuts[RDL_CONTROL_CUTS_MAX], n_cuts;
    uint32_t room_cuts[RDL_CONTROL_CUTS_MAX], n_room_cuts;
};

/* Why a device refused the last request that it refused (enum ctrl_refusal), and what the reason
 * compared: it expected @least to @most, and found something else.
 */
struct rdl_refusal {
    uint32_t reason; /* 0: it has refused nothing */
    uint64_t least, most, found;
};

struct rdl_control_answer {
    uint8_t command;
    uint32_t written; /* bytes of the response that the device wrote */
    uint8_t response[RDL_CONTROL_BYTES_MAX];
};

/* Puts a request into the ring, and tells the device of it if @kick.  *@ret_id names it.
 *
 * Return: RDL_OK
 *	   RDL_ERR_INVAL       lengths that do not fit
 *	   RDL_ERR_QUEUE_FULL  the ring has no room, as the driver keeps two entries for verbs
 *	   RDL_ERR_STALE, RDL_ERR_BROKEN, RDL_ERR_NOMEM
 */
RDL_MUST_CHECK enum rdl_status rdl_control_send(struct rdl_lab *lab, rdl_host host,
                                                const struct rdl_control *request, bool kick,
                                                uint32_t *ret_id);

/* What became of request @id: RDL_OK, RDL_ERR_BUSY (it is under way), RDL_ERR_NOT_FOUND (there was
 * none, or so many came after it that it is forgotten), RDL_ERR_STALE.
 */
RDL_MUST_CHECK enum rdl_status rdl_control_answer(const struct rdl_lab *lab, rdl_host host,
                                                  uint32_t id, struct rdl_control_answer *ret);

/* Requests of rdl_control_send() that are under way. */
uint32_t rdl_control_under_way(const struct rdl_lab *lab, rdl_host host);

/* Changes limits of a device at work, those of RDL_DEVICE_LIMITS_LIVE that are not 0 in @limits.
 * What it has made stays.  If the device configuration is another one then, it has a new
 * generation, and the driver is interrupted.
 *
 * Return: RDL_OK
 *	   RDL_ERR_INVAL  a value is out of range
 *	   RDL_ERR_LIMIT  more than the host was added with
 *	   RDL_ERR_STALE
 */
RDL_MUST_CHECK enum rdl_status rdl_host_limit(struct rdl_lab *lab, rdl_host host,
                                              const struct rdl_device_limits *limits);

/* Gives the queues of @qp other lengths; 0: as it was.  The device refuses it (BUSY) while anything
 * is in a queue that changes.
 *
 * Return: RDL_OK
 *	   RDL_ERR_LIMIT        more than the device can have
 *	   RDL_ERR_UNSUPPORTED  the device does not offer RESIZE
 *	   RDL_ERR_STALE, RDL_ERR_BUSY, RDL_ERR_NOMEM
 */
RDL_MUST_CHECK enum rdl_status rdl_resize_qp(struct rdl_lab *lab, rdl_qp qp, uint32_t max_send_wr,
                                             uint32_t max_recv_wr);

/* RDL_OK, RDL_ERR_STALE */
RDL_MUST_CHECK enum rdl_status rdl_last_refusal(const struct rdl_lab *lab, rdl_host host,
                                                struct rdl_refusal *ret);

#endif
