/* SPDX-License-Identifier: MIT */
/* Shared declarations of the virtio-rdma driver's files.
 *
 * driver.c the driver's table · boot.c · queues.c virtqueues · ctrl.c control queue · raw.c raw
 * requests · requests.c PDs, CQs · mr.c · resize.c · qp.c · srq.c · work.c post, kick, poll ·
 * events.c asynchronous events · ceq.c completion event queues, arming in memory · irq.c interrupts
 */
#ifndef EMU_GUEST_VIRTIO_RDMA_INTERNAL_H
#define EMU_GUEST_VIRTIO_RDMA_INTERNAL_H

#include "emu/facts/device.h"
#include "emu/facts/regs.h"
#include "emu/guest/virtio_rdma/virtio_rdma.h"

/* Bytes of each buffer of a control request: enough for a command or status byte and the largest
 * structure.
 */
#define CTRL_BUFFER_BYTES 256u

/* Returns the driver that @o belongs to. */
static inline struct virtio_rdma *driver_of(const struct guest_object *o)
{
    return o->verbs->driver;
}

/* Returns true if queues are set up when an object needs them instead of at boot.  [decision 0034]
 */
static inline bool queues_on_demand(const struct virtio_rdma *d)
{
    return virtio_has_feature(&d->virtio, VF_ON_DEMAND) &&
           virtio_has_feature(&d->virtio, VF_RING_RESET);
}

/* Returns true if the device has so many queues that the driver makes them short at boot. */
static inline bool has_many_queues(const struct virtio_rdma *d)
{
    return d->n_queues >= GUEST_QUEUES_MANY && virtio_has_feature(&d->virtio, VF_RING_RESET);
}

/* Returns true if long rings share pages only with other rings.  Buffers that are never written are
 * then in pages of their own.
 */
static inline bool rings_share_pages(const struct virtio_rdma *d)
{
    return queues_on_demand(d) || has_many_queues(d);
}

/* ctrl_vector() returns the MSI-X vector of the control queue.  shared_vector() returns that of CEQ
 * @k, from 0, or of CQ @k + 1 if there are no CEQs.  cq_vector() returns that of the queue of CQ
 * @cqn, VIRTIO_NO_VECTOR if there are CEQs.
 */
uint16_t ctrl_vector(const struct virtio_rdma *d);
uint16_t shared_vector(const struct virtio_rdma *d, uint32_t k);
uint16_t cq_vector(const struct virtio_rdma *d, uint32_t cqn);

/* Allocates a ring of @size entries at boot, programs the queue's registers and enables it.
 * Returns RDL_OK, RDL_ERR_NOMEM or RDL_ERR_BROKEN.
 */
enum rdl_status queue_boot(struct virtio_rdma *d, uint32_t queue, uint32_t size, uint16_t vector);

/* Allocates the ring and buffers of a queue that holds @n buffers of @buffer_bytes.
 *
 * Return: RDL_OK         *@ret is the memory; free it with queue_mem_give()
 *	   RDL_ERR_LIMIT  @n exceeds the device's queue size, or the boot ring when queues cannot
 *	                  be reset
 *	   RDL_ERR_NOMEM  the DMA area is full
 */
enum rdl_status queue_mem_take(struct virtio_rdma *d, uint32_t n, uint32_t buffer_bytes,
                               struct guest_queue_mem *ret);
void queue_mem_give(struct virtio_rdma *d, struct guest_queue_mem *mem);

/* Undoes queue_mem_take() when its request is not sent; see dma_undo(). */
void queue_mem_undo(struct virtio_rdma *d, struct guest_queue_mem *mem, uint64_t mark);

/* Starts using @queue for an object, with an empty ring of mem->size entries.  With RING_RESET the
 * queue is reset and enabled again; otherwise the boot ring restarts in place.  Returns RDL_OK,
 * RDL_ERR_NOMEM, or RDL_ERR_BROKEN if the device did not accept @vector.
 */
enum rdl_status queue_attach(struct virtio_rdma *d, uint32_t queue,
                             const struct guest_queue_mem *mem, uint16_t vector);

/* Stops using @queue after its object was destroyed: resets it as the RFC demands and enables it
 * again with the empty boot ring.  With queues_on_demand() it stays disabled.  Marks the device
 * broken (verbs_broken()) if that fails.
 */
void queue_detach(struct virtio_rdma *d, uint32_t queue, uint16_t vector);

/* Like queue_detach(), for a work queue with the memory @mem.  With the feature QP_END the device
 * has completed all its buffers, so that it stays enabled with its empty ring if that is the boot
 * ring: queue_attach() resets it when it is used again.
 */
void queue_leave(struct virtio_rdma *d, uint32_t queue, const struct guest_queue_mem *mem);

/* queue_kick() notifies the device unless it suppresses notifications, and emits the event kick or
 * no_kick.  queue_kick_now() always notifies.  Neither publishes buffers.
 */
void queue_kick(struct virtio_rdma *d, uint32_t queue);
void queue_kick_now(struct virtio_rdma *d, uint32_t queue);

/* Returns the object of the request that is being sent or answered; NULL means the port. */
static inline struct guest_object *asked_about(const struct virtio_rdma *d)
{
    return d->verbs->request.object;
}

/* Allocates the buffers of @p unless it has them.  Returns false when the DMA area is full. */
bool ctrl_take_place(struct virtio_rdma *d, struct virtio_rdma_request *p);

/* Sends @cmd with @request, the raw structure that rfc_ctrl(@cmd) names; NULL if that names none.
 * An answer that comes at once is applied before the return, later ones by ctrl_poll().  @number is
 * the number of the object, 0 before it has one.
 *
 * Return: RDL_OK          the device has the request
 *	   RDL_ERR_BUSY    other requests under way fill the ring or all places
 *	   RDL_ERR_NOMEM   the DMA area is full
 *	   RDL_ERR_BROKEN  the ring is broken
 */
enum rdl_status ctrl_send(struct virtio_rdma *d, enum ctrl_cmd cmd, const void *request,
                          uint32_t number);

/* Takes the answers that have arrived and applies them.  An invalid one marks the device broken. */
void ctrl_poll(struct virtio_rdma *d);

/* Like ctrl_poll(), and enables the interrupt if more answers are due. */
void ctrl_await(struct virtio_rdma *d);

/* Returns the cause of the answer to the request that event @request has sent, which is under way.
 * 0 is the interrupt that brings the answer.  If other requests are under way, this interrupt may
 * be because of the kick of another one; then it is @request.
 */
ev_id ctrl_cause(const struct virtio_rdma *d, ev_id request);

/* Ends the request that is being answered without success, for the response @rsp (enum ctrl_rsp) or
 * an unknown code.  The caller has freed the memory that the request took.
 */
void ctrl_failed(const struct virtio_rdma *d, uint32_t rsp);

/* Functions of the PCI driver (struct pci_driver): boot.c and irq.c. */
enum rdl_status boot_function(void *driver, const struct pci_slot_function *found);
enum rdl_status boot_start(void *driver);
void irq_message(void *driver, uint32_t vector);
bool irq_line(void *driver);

/* boot.c: sends boot requests until one is not answered immediately, and calls verbs_up() after the
 * last answer.  Returns RDL_OK, RDL_ERR_DEVICE if the device refused the last request, or an error
 * of ctrl_send().
 */
enum rdl_status boot_go_on(struct virtio_rdma *d);
/* Send ADD_GID for GID number @index of the host, and QUERY_PORT.  Return the result of
 * ctrl_send().
 */
enum rdl_status boot_add_gid(struct virtio_rdma *d, uint16_t index);
enum rdl_status boot_query_port(struct verbs *v);

/* Reads the device configuration again after the device changed it, and updates the limits of the
 * verbs.  Marks the device broken if its number of CQs or QPs changed.
 */
void boot_config_changed(struct virtio_rdma *d);

/* events.c: sets up the event queue and its buffers, if the device has one.  Returns RDL_OK,
 * RDL_ERR_NOMEM or RDL_ERR_BROKEN.
 */
enum rdl_status events_boot(struct virtio_rdma *d);

/* Takes the device's events, passes them to the verbs and returns their buffers to the device.  A
 * malformed event marks the device broken.
 */
void events_poll(struct virtio_rdma *d);

/* ceq.c */

/* Return true if completion events come in queues of their own, and if CQs are armed in memory. */
bool has_ceqs(const struct virtio_rdma *d);
bool arms_in_memory(const struct virtio_rdma *d);

/* Reads the number of CEQs, if the feature was accepted.  They are the last queues of the device,
 * behind @n_queues others.  Returns false if the device is not like that.
 */
bool ceq_read_limits(struct virtio_rdma *d, uint32_t n_queues);

/* Sets up the CEQs and their buffers.  Returns RDL_OK, RDL_ERR_NOMEM or RDL_ERR_BROKEN. */
enum rdl_status ceq_boot(struct virtio_rdma *d);

/* Takes the events of the CEQs that use @vector, and raises completion events.  A malformed event
 * marks the device broken.
 */
void ceq_interrupt(struct virtio_rdma *d, uint32_t vector);

/* Takes the events of all CEQs, before the number of a CQ is used again. */
void ceq_drain(struct virtio_rdma *d);

/* ceq_choose() chooses the CEQ of a new CQ and takes the memory of its arming.  Returns false if
 * the DMA area is full.  ceq_leave() gives the memory back.
 */
bool ceq_choose(struct virtio_rdma *d, struct virtio_rdma_cq *c);
void ceq_leave(struct virtio_rdma *d, struct virtio_rdma_cq *c);

/* Arms @c by a store in its memory.  Returns RDL_OK or RDL_ERR_NOMEM. */
enum rdl_status ceq_arm(struct virtio_rdma *d, struct virtio_rdma_cq *c, bool solicited_only);

/* Reads the event counter of a device without an event queue after a configuration change, and
 * reports the increase to the verbs.
 */
void events_count(struct virtio_rdma *d);

/* Called when a program begins to use the device: enables the event queue's interrupt and takes the
 * pending events.
 */
void events_listen(struct verbs *v);

/* Applies the response to a command: answer_query_port() and so on, one for each row of
 * controls.def.  @data follows the status byte, which is OK.  boot.c, requests.c, mr.c, resize.c,
 * qp.c and srq.c contain each of them next to the function that sends the request.
 */
#define CONTROL(nm, name, number, feature, request, response, text)                                \
    void answer_##name(struct virtio_rdma *d, const uint8_t *data);
#include "emu/facts/controls.def"
#undef CONTROL

/* Called when the device refused the command: free the memory that the request took. */
void answer_cq_refused(struct virtio_rdma *d);
void answer_qp_resize_refused(struct virtio_rdma *d);
void answer_cq_resize_refused(struct virtio_rdma *d);
void answer_qp_refused(struct virtio_rdma *d);
void answer_srq_refused(struct virtio_rdma *d);

/* mr.c.  The functions request_...() of this and the following files send the control request of
 * that name for an object.  They return RDL_OK, or an error if the request was not sent.
 */
enum rdl_status request_reg_mr(struct guest_mr *mr);
enum rdl_status request_rereg_mr(struct guest_mr *mr, const struct verbs_region *to);
enum rdl_status request_map_mr_sg(struct guest_mr *mr, const struct rdl_mr_range *range);

/* Page lists of REG_MR.  reg_list_of() returns the list of the last mapping of @mr, or NULL if it
 * has none.  reg_list_give() ends a use of @list, which may be NULL, and frees it behind the last.
 */
struct reg_list *reg_list_of(const struct guest_mr *mr);
void reg_list_give(struct virtio_rdma *d, struct reg_list *list);
enum rdl_status request_alloc_mw(struct guest_mw *mw);

/* requests.c: adds empty buffers to the ring of @c.  Buffers in the ring and kept completions
 * together do not exceed the cqe of @c.
 */
void cq_fill(struct virtio_rdma *d, const struct virtio_rdma_cq *c);

/* resize.c */
enum rdl_status request_resize_cq(struct guest_cq *cq, uint32_t cqe);
enum rdl_status request_resize_qp(struct guest_qp *qp, uint32_t max_send_wr, uint32_t max_recv_wr);

/* Returns the number of kept completions that were not polled. */
static inline uint32_t kept_left(const struct kept_cqes *k)
{
    return k->n - k->first;
}

/* kept_take() takes the oldest completion that a resize kept; there must be one.  kept_drop() frees
 * all of them.
 */
void kept_take(struct virtio_rdma *d, struct kept_cqes *k, struct raw_cqe *ret);
void kept_drop(struct virtio_rdma *d, struct kept_cqes *k);

/* Takes the completions of queue pair @qpn out of @cq, whose other completions stay in their order.
 * Returns false if the device wrote something malformed or the arena is full.
 */
bool cq_drop_of(struct virtio_rdma *d, struct guest_cq *cq, uint32_t qpn);

/* work.c: takes back the used buffers of a work queue.  If it is the send queue of @sender, which
 * is otherwise NULL, the page lists of its requests are freed, too.  Returns false if the ring is
 * broken.
 */
bool work_reclaim(struct virtio_rdma *d, uint32_t queue, struct virtio_rdma_qp *sender);

/* Frees the page lists of all requests in the send queue of @q. */
void work_forget_lists(struct virtio_rdma *d, struct virtio_rdma_qp *q);

/* qp.c */

/* Returns the size in bytes of the largest send WQE of @qp: a head with all SGEs or all inline
 * data.
 */
uint32_t sq_wqe_bytes(const struct guest_qp *qp);
enum rdl_status request_create_qp(struct guest_qp *qp);
enum rdl_status request_modify_qp(struct guest_qp *qp, const struct rdl_qp_attr *attr,
                                  uint32_t mask);
enum rdl_status request_query_qp(struct guest_qp *qp);
enum rdl_status request_attach_mcast(struct guest_qp *qp, const uint8_t gid[GID_BYTES]);
enum rdl_status request_detach_mcast(struct guest_qp *qp, const uint8_t gid[GID_BYTES]);

/* srq.c */

/* Reads the SRQ limits into d->srqs; all are 0 if the feature SRQ was not accepted.  Returns false
 * if max_srq exceeds DEVICE_SRQS_MAX.
 */
bool srq_read_limits(struct virtio_rdma *d);

/* Returns the number of virtqueues of a device with shared receive queues, whose queues are the
 * last ones.  Returns 0 for a device without shared receive queues.
 */
uint32_t srq_queues_end(const struct virtio_rdma *d);

/* Sets up the rings of the shared receive queues at boot.  Returns RDL_OK, RDL_ERR_NOMEM or
 * RDL_ERR_BROKEN.
 */
enum rdl_status srq_boot(struct virtio_rdma *d);
enum rdl_status request_create_srq(struct guest_srq *srq);
enum rdl_status request_modify_srq(struct guest_srq *srq, uint32_t limit, uint32_t mask);
enum rdl_status request_query_srq(struct guest_srq *srq);

/* Returns the size in bytes of the largest receive WQE with @max_sge SGEs. */
static inline uint32_t queue_recv_bytes(uint32_t max_sge)
{
    return (uint32_t)(sizeof(struct raw_rq_wqe) + max_sge * sizeof(struct raw_sge));
}

/* work.c: operations of struct verbs_driver_ops that post, kick and poll. */
enum rdl_status work_post_send(struct guest_qp *qp, const struct verbs_send *send,
                               uint32_t *ret_entry);
enum rdl_status work_post_recv(struct guest_qp *qp, const struct rdl_recv_wr *wr,
                               uint32_t *ret_entry);
enum rdl_status work_post_srq_recv(struct guest_srq *srq, const struct rdl_recv_wr *wr,
                                   uint32_t *ret_entry);
void work_kick(struct guest_qp *qp, bool send);
void work_kick_srq(struct guest_srq *srq);
enum rdl_status work_poll(struct guest_cq *cq, size_t max, struct rdl_wc *ret, size_t *ret_n);
uint32_t work_count_unpolled(const struct guest_cq *cq);
uint32_t work_count_posted(const struct guest_object *o, bool sends);
size_t work_peek(const struct guest_cq *cq, uint32_t skip, size_t max, struct rdl_wc *ret);

#endif
