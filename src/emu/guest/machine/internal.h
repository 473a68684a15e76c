/* SPDX-License-Identifier: MIT */
/* What the files of the guest share.
 *
 * pci.c what both drivers do alike · driver.c boot · queues.c virtqueues · ctrl.c control queue
 * irq.c interrupts · object.c names and lives · verbs.c PDs, memory, MRs · cq.c · qp.c · modify.c
 * work.c post, kick, poll; the network has a header of its own, stack.h
 */
#ifndef EMU_GUEST_INTERNAL_H
#define EMU_GUEST_INTERNAL_H

#include "emu/facts/device.h"
#include "emu/facts/regs.h"
#include "emu/guest/machine/driver.h"
#include "emu/guest/machine/guest.h"
#include "emu/guest/machine/verbs.h"
#include "emu/guest/pci/pci.h"
#include "emu/virtio/pci.h"

/* Access flags that regions and queue pairs know; memory windows are not offered. */
#define GUEST_ACCESS_ALL                                                                           \
    (unsigned)(ACC_LOCAL_WRITE | ACC_REMOTE_WRITE | ACC_REMOTE_READ | ACC_REMOTE_ATOMIC)

/* Room in each buffer of a control request: command or status, and the largest structure. */
#define CTRL_BUFFER_BYTES 256u

uint16_t ctrl_vector(const struct guest *g);
uint16_t cq_vector(const struct guest *g, uint32_t cqn);

/* Ring memory for a queue of @size entries at boot, and its registers.  The queue is enabled. */
enum rdl_status queue_boot(struct guest *g, uint32_t queue, uint32_t size, uint16_t vector);

/* Memory for a queue that holds @n buffers of @buffer_bytes.  RDL_ERR_LIMIT: longer than the device
 * has them, or than the ring of boot when queues cannot be reset.  RDL_ERR_NOMEM.
 */
enum rdl_status queue_mem_take(struct guest *g, uint32_t n, uint32_t buffer_bytes,
                               struct guest_queue_mem *ret);
void queue_mem_give(struct guest *g, struct guest_queue_mem *mem);

/* An object begins to use @queue: an empty ring of mem->size entries.  With RING_RESET the queue is
 * reset and enabled again, otherwise the ring of boot begins anew in place.
 */
enum rdl_status queue_attach(struct guest *g, uint32_t queue, const struct guest_queue_mem *mem,
                             uint16_t vector);

/* The object is destroyed: the queue is reset as the RFC demands and waits, empty, for the next. */
void queue_detach(struct guest *g, uint32_t queue, uint16_t vector);

/* Publishes nothing; notifies the device unless it asked for none.  Events kick and no_kick. */
void queue_kick(struct guest *g, uint32_t queue);
void queue_kick_now(struct guest *g, uint32_t queue);

/* Could a control request be sent now?  RDL_OK, RDL_ERR_BUSY, RDL_ERR_BROKEN, RDL_ERR_STATE (never
 * booted).
 */
enum rdl_status ctrl_ready(const struct guest *g);

/* Sends @cmd with @request, a raw structure as rfc_ctrl() says (NULL if it has none); ctrl_poll()
 * finds the answer.  @object (may be NULL) is what the answer is about, @number its number.
 */
enum rdl_status ctrl_send(struct guest *g, enum ctrl_cmd cmd, const void *request,
                          struct guest_object *object, uint32_t number);

/* Looks for the answer and applies it. */
void ctrl_poll(struct guest *g);

/* Objects.  A pending one of @bytes with its handle; an empty @name is decided when it lives. */
enum rdl_status object_new(struct guest *g, enum object_kind kind, const char *name,
                           struct guest_object **ret);
void object_live(struct guest_object *o, uint32_t number);
void object_drop(struct guest_object *o);                  /* was never there */
void object_gone(struct guest_object *o, uint32_t number); /* destroyed */

/* May @o be used for something new, or destroyed: RDL_OK, RDL_ERR_BUSY. */
enum rdl_status object_usable(const struct guest_object *o);
enum rdl_status object_destroyable(const struct guest_object *o);

/* A destroying request for @o; the response has no data. */
enum rdl_status object_send_destroy(struct guest_object *o, enum ctrl_cmd cmd, uint32_t number);

/* Sends the next requests of boot, as long as answers come at once. */
enum rdl_status boot_on(struct guest *g);

/* Answers, by command; @data is the response after its status byte. */
void pd_created(struct guest *g, const uint8_t *data);
void pd_destroyed(struct guest *g, const uint8_t *data);
void mr_created(struct guest *g, const uint8_t *data);
void mr_destroyed(struct guest *g, const uint8_t *data);
void cq_created(struct guest *g, const uint8_t *data);
void cq_destroyed(struct guest *g, const uint8_t *data);
void qp_created(struct guest *g, const uint8_t *data);
void qp_destroyed(struct guest *g, const uint8_t *data);
void qp_modified(struct guest *g, const uint8_t *data);
void qp_queried(struct guest *g, const uint8_t *data);
void port_queried(struct guest *g, const uint8_t *data);
void pd_refused(struct guest *g);
void mr_refused(struct guest *g);
void cq_refused(struct guest *g);
void qp_refused(struct guest *g);
void destroy_refused(struct guest *g);
void notify_refused(struct guest *g);

/* modify.c: the neighbour @gid of an address vector answered, or (@mac is NULL) did not. */
void modify_resolved(struct guest *g, const uint8_t gid[GID_BYTES], const uint8_t *mac);

/* Completions of @cq so far, polled or not. */
uint64_t cq_completions(const struct guest_cq *cq);

/* Completions that are there already are not about the life that begins for @qp. */
void qp_forget_completions(struct guest_qp *qp);

#endif
