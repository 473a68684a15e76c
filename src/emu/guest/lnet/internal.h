/* SPDX-License-Identifier: MIT */
/* The files of a node of LNet in a guest.
 *
 *	guest_lnet.c  its life, events and completions, the data path
 *	memory.c      memory of the driver and of messages
 *	control.c     requests to the device, which are answered later
 *	connection.c  calls of rdma_cm
 */
#ifndef EMU_GUEST_LNET_INTERNAL_H
#define EMU_GUEST_LNET_INTERNAL_H

#include "emu/facts/enum/qp_state.h"
#include "emu/guest/lnet/guest_lnet.h"
#include "emu/guest/machine/rdma_cm.h"

/* Values of sim_item.arg: something has happened; the time has come; a completion queue is to be
 * armed again.
 */
enum gl_tick { GL_LOOK, GL_TIME, GL_ARM };

#define GL_REARM_NS UINT64_C(10000) /* until a queue that could not be armed is tried again */

static inline struct verbs *gl_verbs(const struct guest_lnet *g)
{
    return &g->config.guest->verbs;
}

/* ---- memory.c ---- */
void *gl_alloc(void *ctx, size_t bytes);
void gl_release(void *ctx, void *block, size_t bytes);
uint64_t gl_pages(void *ctx, uint64_t bytes);
/* A region of the driver may cover the pages: then they wait until it is gone. */
void gl_pages_free(void *ctx, uint64_t addr, uint64_t bytes);
bool gl_read_memory(void *ctx, uint64_t addr, void *ret, size_t n);
bool gl_write_memory(void *ctx, uint64_t addr, const void *bytes, size_t n);
bool gl_copy_memory(void *ctx, uint64_t to, uint64_t from, size_t n);
/* Frees the pages that no region covers any more. */
void gl_free_doomed(struct guest_lnet *g);

/* ---- control.c ---- */
/* Returns the errno for a status of the verbs. */
int gl_errno_of(enum rdl_status st);
/* A request about the object *@handle was sent, or not, as @st says.  The verb that creates an
 * object sets *@handle, so this reads it afterwards.  Returns LND_LATER or a negative errno.
 */
int gl_sent(struct guest_lnet *g, enum rdl_status st, const uint64_t *handle);
/* Chooses a name for the next object: "lnet_KIND1". */
const char *gl_name_next(struct guest_lnet *g, const char *kind, char ret[RDL_NAME_BYTES]);
int gl_reg_mr(void *ctx, uint64_t addr, uint64_t bytes, struct lnd_mr *ret);
int gl_dereg_mr(void *ctx, struct lnd_mr *mr);
/* If part of the device is refused, destroys the rest before it returns the errno. */
int gl_create_dev(void *ctx, uint16_t service, bool dma, struct lnd_mr *ret_dma);
int gl_destroy_dev(void *ctx, struct lnd_mr *dma);
uint64_t gl_dma_addr(void *ctx, uint64_t addr);
struct guest_cm_object *gl_id_object(const struct guest_lnet *g, uint64_t handle);
struct guest_cq *gl_cq_of(const struct guest_lnet *g, const struct lnd_link *l);
struct guest_qp *gl_qp_of(const struct guest_lnet *g, const struct lnd_link *l);
struct cma_id *gl_cm_id_of(const struct guest_lnet *g, const struct lnd_link *l);
void gl_rearm(struct guest_lnet *g, struct guest_cq *cq);
int gl_create_cq(void *ctx, struct lnd_link *l, uint32_t cqe);
int gl_destroy_cq(void *ctx, struct lnd_link *l);
/* Moves the queue pair of @l to @to, with the attributes of its ID; to ERR without any. */
int gl_move_qp(struct guest_lnet *g, struct lnd_link *l, enum qp_state to);
/* Moves the queue pair to RTS.  It is in INIT without the access that peers have, which is known
 * only with the connection.  [librdmacm, ucma_modify_qp_rtr()]
 */
int gl_make_ready(struct guest_lnet *g, struct lnd_link *l);
int gl_create_qp(void *ctx, struct lnd_link *l, uint32_t max_send_wr, uint32_t max_recv_wr);
int gl_destroy_qp(void *ctx, struct lnd_link *l);

/* ---- connection.c ---- */
void gl_adopt(void *ctx, struct lnd_link *l);
int gl_resolve(void *ctx, struct lnd_link *l, uint32_t ip, uint16_t service, uint64_t timeout_ns);
int gl_connect_to(void *ctx, struct lnd_link *l, const void *data, uint8_t bytes);
int gl_accept_with(void *ctx, struct lnd_link *l, const void *data, uint8_t bytes);
int gl_establish(void *ctx, struct lnd_link *l);
int gl_reject(void *ctx, struct lnd_link *l, const void *data, uint8_t bytes);
/* A queue pair that is not connected has nobody to be told. */
int gl_disconnect(void *ctx, struct lnd_link *l);
int gl_destroy_id(void *ctx, struct lnd_link *l);

/* ---- guest_lnet.c ---- */
uint64_t gl_now_ns(void *ctx);

#endif
