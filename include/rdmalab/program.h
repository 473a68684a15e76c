/* SPDX-License-Identifier: MIT */
/* Programs on a host that are other processes.
 *
 * Such a program uses the verbs of its host like the user of the lab does, with three differences.
 * Its memory is its own and not guest memory: the lab reads and writes it with functions of the
 * caller.  It sees its own objects alone.  It gets the asynchronous events of its objects, and
 * those of the port and the device.
 *
 *	rdl_program_add(lab, host, &memory, &p);
 *	rdl_program_calls(lab, p);   the calls that follow are the program's
 *	rdl_alloc_pd(lab, host, ...);
 *	rdl_program_called(lab, p);  the calls that follow are the user's
 *
 * An object that depends on one of a program belongs to the program, also if the user creates it.
 * The user can use and destroy all objects.
 *
 * A lab with a program cannot be repeated or copied: rdl_checkpoint_save() returns RDL_ERR_PROGRAM.
 */
#ifndef RDMALAB_PROGRAM_H
#define RDMALAB_PROGRAM_H

#include "rdmalab/srq.h"

/* Number of the host from 1 (32 bits) | number of the program on it from 1 (32 bits).  0: none. */
typedef struct {
    uint64_t raw;
} rdl_program;

#define RDL_PROGRAMS_MAX 64u /* on one host at a time */

/* The memory of a program, at its virtual addresses, which are below 2^48.  The functions return
 * false if not all of the @n bytes could be copied.  What they cannot copy reads as zero and is not
 * written: an adapter would still have the page, but the lab cannot keep it.  They must not call
 * the lab.
 */
struct rdl_program_memory {
    bool (*read)(void *ctx, uint64_t addr, void *out, size_t n);
    bool (*write)(void *ctx, uint64_t addr, const void *in, size_t n);
    void *ctx;
};

/* Adds a program to @host.  @memory is copied.
 *
 * Return: RDL_OK
 *	   RDL_ERR_LIMIT      RDL_PROGRAMS_MAX programs are there
 *	   RDL_ERR_NO_DEVICE  the host has no RDMA device
 *	   RDL_ERR_STATE      the host has not booted
 *	   RDL_ERR_STALE, RDL_ERR_NO_GUEST, RDL_ERR_NOMEM
 */
RDL_MUST_CHECK enum rdl_status rdl_program_add(struct rdl_lab *lab, rdl_host host,
                                               const struct rdl_program_memory *memory,
                                               rdl_program *ret);

/* Begin and end the calls of a program.  In between, calls about its host are the program's: it
 * owns what they create, handles of others and of other hosts are stale, rdl_get_async_event()
 * returns its events.  The lab can advance meanwhile.  Calls of another program must not begin
 * meanwhile.
 */
void rdl_program_calls(struct rdl_lab *lab, rdl_program program);
void rdl_program_called(struct rdl_lab *lab, rdl_program program);

/* An object of a program. */
struct rdl_program_object {
    uint32_t kind; /* enum object_kind */
    uint64_t raw;  /* its handle */
};

/* Finds the object that a program that has ended leaves behind, and that must be destroyed next.
 * Its events count as acknowledged.  A queue pair must leave its multicast groups first.  Returns
 * false if the program has no object, or does not exist.
 */
bool rdl_program_left(const struct rdl_lab *lab, rdl_program program,
                      struct rdl_program_object *ret);

/* Removes a program.  Its memory is not used any more.
 *
 * Return: RDL_OK
 *	   RDL_ERR_BUSY   it has objects, or calls
 *	   RDL_ERR_STALE
 */
RDL_MUST_CHECK enum rdl_status rdl_program_remove(struct rdl_lab *lab, rdl_program program);

/* Copies up to @max of the completions that rdl_poll_cq() would return after @skip others into
 * @ret;
 * *@ret_n is their number.  They stay in the queue, and are not polled: no tick.
 *
 * Return: RDL_OK, RDL_ERR_STALE
 */
RDL_MUST_CHECK enum rdl_status rdl_peek_cq(const struct rdl_lab *lab, rdl_cq cq, uint32_t skip,
                                           size_t max, struct rdl_wc *ret, size_t *ret_n);

/* Count the work requests in the queues of a queue pair, or in a shared receive queue, that the
 * device has not returned.  They take places in the queue.  No tick.
 *
 * Return: RDL_OK, RDL_ERR_STALE, RDL_ERR_BUSY (it is being created or destroyed)
 */
RDL_MUST_CHECK enum rdl_status rdl_qp_posted(const struct rdl_lab *lab, rdl_qp qp,
                                             uint32_t *ret_sends, uint32_t *ret_receives);
RDL_MUST_CHECK enum rdl_status rdl_srq_posted(const struct rdl_lab *lab, rdl_srq srq,
                                              uint32_t *ret_receives);

/* The limits of a device.  [libibverbs, struct ibv_device_attr]  0: it has no such object. */
struct rdl_device_attr {
    uint64_t max_mr_size;
    uint8_t guid[8]; /* of the device and of its node */
    uint32_t vendor_id, vendor_part_id, hw_ver;
    uint32_t max_qp, max_qp_wr, max_send_sge, max_recv_sge, max_sge_rd, max_inline_data;
    uint32_t max_cq, max_cqe, max_mr, max_pd, max_mw, max_ah;
    uint32_t max_rd_atomic, max_dest_rd_atomic, max_res_rd_atomic; /* as initiator; as target */
    uint32_t max_mcast_grp, max_mcast_qp_attach, max_total_mcast_qp_attach;
    uint32_t max_srq, max_srq_wr, max_srq_sge;
    uint32_t max_pkeys, n_gids, n_ports, ack_delay;
    uint32_t comp_vectors;   /* vectors that completion queues can choose, at least 1 */
    uint32_t max_fast_pages; /* pages of a region for fast registration */
    bool blocks_mcast_lb, can_rereg;
};

/* Return: RDL_OK, RDL_ERR_STALE, RDL_ERR_NO_GUEST, RDL_ERR_NO_DEVICE, RDL_ERR_STATE (not booted) */
RDL_MUST_CHECK enum rdl_status rdl_device_attr(const struct rdl_lab *lab, rdl_host host,
                                               struct rdl_device_attr *ret);

/* The attributes of a port.  [libibverbs, struct ibv_port_attr] */
struct rdl_port_attr {
    bool up;
    uint32_t active_mtu, max_mtu; /* enum mtu; active_mtu as rdl_query_port() has read it last */
    uint32_t max_msg_sz;          /* in bytes, read at the same time */
};

/* Errors as rdl_device_attr(). */
RDL_MUST_CHECK enum rdl_status rdl_port_attr(const struct rdl_lab *lab, rdl_host host,
                                             struct rdl_port_attr *ret);

#endif
