/* SPDX-License-Identifier: MIT */
/* Decodes the buffers of a virtqueue: work requests, completions, control requests.
 *
 * The bytes are read from guest RAM, as the device reads them, and decoded with the RFC's tables.
 */
#ifndef CLI_SHOW_SHOW_WQE_H
#define CLI_SHOW_SHOW_WQE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/explain/rfc_dump.h"
#include "emu/base/text.h"
#include "emu/facts/virtio/virtq.h"
#include "rdmalab/inspect.h"

/* The use of a virtqueue; it decides the structures in its buffers. */
enum ring_role { RING_NONE, RING_SQ, RING_RQ, RING_CQ, RING_CTRL, RING_EVENTS, RING_CEQ };

/* Returns the role of the queue @path ("h1.qp.sq", "h1.cq.queue", "h1.ctrl", "h1.async.queue",
 * "h1.ceq[0]", "h1.device.sq[2]"), or of the queue that contains the node @path
 * ("h1.qp.sq.desc[0]"); RING_NONE if there is none.
 */
enum ring_role ring_role_of(const char *path);

/* A memory region: its name, address, length and lkey. */
struct mr_row {
    char name[RDL_NAME_BYTES];
    uint64_t addr, bytes, lkey;
};

/* The RAM and the memory regions of a host, for decoding buffers.  Free with wqe_reader_done(). */
struct wqe_reader {
    const struct rdl_lab *lab;
    rdl_host host;
    uint32_t type;      /* enum qp_type of the queue pair that owns the queue */
    bool lists;         /* REG_MR has its page list: feature REG_IN_WQE */
    struct mr_row *mrs; /* owned */
    size_t n_mrs;
};

/* Prepares @r for the host of @path, any path on that host.  Return: RDL_OK, RDL_ERR_NOT_FOUND,
 * RDL_ERR_NOMEM
 */
RDL_MUST_CHECK enum rdl_status wqe_reader_init(struct wqe_reader *r, const struct rdl_lab *lab,
                                               const char *path);
void wqe_reader_done(struct wqe_reader *r);

/* Appends an SGE as "mr[0:64]", or as numbers if no region contains it. */
void wqe_add_sge(struct text *t, const struct wqe_reader *r, uint64_t addr, uint32_t length,
                 uint32_t lkey);

/* One buffer of a virtqueue, from its descriptor. */
struct wqe_buffer {
    enum ring_role role;
    uint64_t addr; /* guest-physical */
    uint32_t bytes;
    bool writable;   /* writable for the device */
    bool written;    /* the device has written it */
    uint8_t command; /* of a response on the control queue: command of its request; otherwise 0 */
};

/* Appends the content of the buffer as a phrase: "SEND wr_id=1 signaled, 1 SGE: mr[0:64]". */
void wqe_add_text(struct text *t, const struct wqe_reader *r, const struct wqe_buffer *b);

/* Returns the command of the control request at guest-physical address @addr, or 0 if it cannot be
 * read.
 */
uint8_t wqe_command(const struct wqe_reader *r, uint64_t addr);

/* Returns the command of the control request whose second buffer, for the response, is in the slot
 * at @path ("h1.ctrl.desc[1]").  The command is in the request's first buffer.  Returns 0 if the
 * slot does not hold a second buffer.
 */
uint8_t wqe_command_before(const struct wqe_reader *r, const char *path);

/* Finds the buffer of the slot at @path ("h1.qp.sq.desc[0]"), and prepares a reader for it.  The
 * caller calls wqe_reader_done().
 *
 * Return: RDL_OK, RDL_ERR_NOT_FOUND (@reterr_at), RDL_ERR_INVAL (no slot of a queue), RDL_ERR_NOMEM
 */
RDL_MUST_CHECK enum rdl_status wqe_at(const struct rdl_lab *lab, const char *path,
                                      struct wqe_reader *ret_reader, struct wqe_buffer *ret,
                                      size_t *reterr_at);

#define WQE_BYTES_MAX 2048u /* more than `show` prints of a buffer */

struct wqe_bytes {
    uint8_t v[WQE_BYTES_MAX];
    size_t n;
};

/* Reads the buffer, at most WQE_BYTES_MAX bytes.  Returns RDL_ERR_FAULT if it is not in guest RAM.
 */
RDL_MUST_CHECK enum rdl_status wqe_read(const struct wqe_reader *r, const struct wqe_buffer *b,
                                        struct wqe_bytes *ret);

/* Passes the bytes of the buffer to @to, field by field. */
void wqe_dump(const struct rfc_sink *to, const struct wqe_reader *r, const struct wqe_buffer *b,
              const struct wqe_bytes *bytes);

#endif
