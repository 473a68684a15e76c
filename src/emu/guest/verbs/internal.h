/* SPDX-License-Identifier: MIT */
/* Shared declarations of the verbs' files.
 *
 * request.c requests and answers · object.c names and lifetimes of objects · verbs.c PDs, memory ·
 * mr.c MRs, MWs · cq.c · qp.c · modify.c · ah.c address vectors and handles · mcast.c groups ·
 * post.c checks before posting · work.c post, kick, poll · srq.c · async.c · channel.c · program.c
 */
#ifndef EMU_GUEST_VERBS_INTERNAL_H
#define EMU_GUEST_VERBS_INTERNAL_H

#include "emu/facts/compared.h"
#include "emu/facts/enum/access.h"
#include "emu/facts/enum/object.h"
#include "emu/guest/verbs/driver.h"
#include "emu/guest/verbs/verbs.h"

/* GUEST_ACCESS_QP: the access flags that queue pairs accept.  GUEST_ACCESS_MR: those that regions
 * accept.
 */
#define GUEST_ACCESS_QP                                                                            \
    (unsigned)(ACC_LOCAL_WRITE | ACC_REMOTE_WRITE | ACC_REMOTE_READ | ACC_REMOTE_ATOMIC)
#define GUEST_ACCESS_MR (GUEST_ACCESS_QP | (unsigned)(ACC_MW_BIND | ACC_ZERO_BASED))

/* Returns the size of a queue for which a program asks for @n entries, 0 .. @most.  Without
 * TRAIT_QUEUES_EXACT it is rounded up to 2^n - 1, but not above @most.
 */
uint32_t request_queue_size(const struct verbs *v, uint32_t n, uint32_t most);

/* Returns RDL_OK if programs can use the device; otherwise RDL_ERR_NO_DEVICE, or RDL_ERR_STATE (not
 * booted).
 */
enum rdl_status verbs_usable(const struct verbs *v);

/* Returns RDL_OK if a request can be sent now; otherwise RDL_ERR_BUSY, RDL_ERR_BROKEN, or an error
 * of verbs_usable().
 */
enum rdl_status request_ready(const struct verbs *v);

/* Like request_ready() for a request that creates an object: other create requests may be under
 * way.
 */
enum rdl_status request_ready_to_create(const struct verbs *v);

/* Records that a request of @kind about @object (may be NULL) is under way. */
void request_begin(struct verbs *v, enum verbs_request_kind kind, struct guest_object *object);

/* A request under way is over: tells the kernel of the guest, which may want to send one. */
static inline void request_is_over(const struct verbs *v)
{
    if (v->config.answered)
        v->config.answered(v->config.ctx);
}

/* Records @st, the driver's result of sending the request.  On failure the request is no longer
 * under way.  Returns @st.
 */
enum rdl_status request_sent(struct verbs *v, enum rdl_status st);

/* Objects.  object_new() makes a pending object with its handle.  Returns RDL_OK, RDL_ERR_LIMIT or
 * RDL_ERR_NOMEM; or RDL_ERR_INVAL, RDL_ERR_RESERVED or RDL_ERR_EXISTS if @name is invalid, reserved
 * or in use.  NULL or "": the object gets its name when it becomes live.  object_live() makes the
 * object live when it has its @number, gives it a name if it has none, and emits `named`.
 * object_drop() frees an object that the device never had.  object_gone() emits `gone` and frees an
 * object that the device destroyed.
 */
enum rdl_status object_new(struct verbs *v, enum object_kind kind, const char *name,
                           struct guest_object **ret);
void object_live(struct guest_object *o, uint32_t number);
void object_drop(struct guest_object *o);
void object_gone(struct guest_object *o);

/* Returns RDL_OK if @o is live, RDL_ERR_BUSY if it is pending or leaving. */
enum rdl_status object_usable(const struct guest_object *o);

/* Records @st, the driver's result of sending the create request for @o.  On failure @o is freed.
 * On success the answer may already have come, and @o may be freed.  Returns @st.
 */
enum rdl_status object_sent(struct guest_object *o, enum rdl_status st);

/* Sends the request that creates @o, a PD or a CQ, unless it has to wait for a function.  Returns
 * as the operation of the driver.
 */
enum rdl_status object_ask(struct guest_object *o);

/* Sends the request that destroys @o.  Returns RDL_OK, RDL_ERR_BUSY if @o is in use, or an error of
 * request_ready() or of the driver.
 */
enum rdl_status object_destroy(struct guest_object *o);

/* Adds @o to the user counts of the objects that it depends on, or removes it if not @use.  If one
 * of them belongs to a program, so does @o.
 */
void object_use_parts(struct guest_object *o, bool use);

/* Asynchronous events.  async_listen() is called when a program sends a request or reads events;
 * the first call enables the events.  async_forget() drops the queued events of @o, which is
 * destroyed.
 */
void async_listen(struct verbs *v);
void async_forget(const struct guest_object *o);

/* Queues a completion event of @cq on its channel, if it has one.  channel_forget() drops the
 * queued events of @cq, which is destroyed.
 */
void channel_put(struct guest_cq *cq);
void channel_forget(const struct guest_cq *cq);

/* Returns the number of completions of @cq so far, polled or not. */
uint64_t cq_completions(const struct guest_cq *cq);

/* Returns true if a failed send moves @qp to SQE, and not to ERR: it is of UC or UD, and its host
 * has TRAIT_SEND_ERROR_IS_SQE.
 */
bool qp_has_sqe(const struct guest_qp *qp);

/* Marks all completions of the CQs of @qp so far as belonging to an earlier use of @qp. */
void qp_forget_completions(struct guest_qp *qp);

/* Return the first rule POST_* that @wr violates on @qp or @srq, or RULE_NONE.  They check neither
 * the state of @qp nor the handles in @wr.  Pure.
 */
struct objection post_decide_send(const struct guest_qp *qp, const struct rdl_send_wr *wr);
struct objection post_decide_recv(const struct guest_qp *qp, const struct rdl_recv_wr *wr);
struct objection post_decide_shared(const struct guest_srq *srq, const struct rdl_recv_wr *wr);

/* Returns the sum of the lengths of @sge, at most UINT32_MAX, for events. */
uint32_t work_bytes(const struct rdl_sge *sge, size_t n);

/* Returns the description of the refusal of request number @bad of a list.  @by is the rule that
 * refuses the request, with the values that it compared; RULE_NONE if it was refused by no rule.
 */
static inline struct rdl_post_error post_error(size_t bad, const struct objection *by)
{
    return (struct rdl_post_error){bad, by->rule, by->values.most, by->values.found};
}

/* Returns true if the address vector is valid: a GID index of this host, a destination of the same
 * address family, SL and flow label in range.
 */
bool ah_is_sound(const struct verbs *v, const struct rdl_ah_attr *ah);

/* Fills in the MAC of @ah if it has none.  With a layer it is that of the function that the peer's
 * queue pair @qpn is on; 0: the first one.
 *
 * Return: RDL_OK            the MAC is known
 *	   RDL_ERR_BUSY      the guest has asked the link, and verbs_resolved() follows
 *	   RDL_ERR_NO_ROUTE  the link cannot be asked
 */
enum rdl_status ah_resolve(const struct verbs *v, struct rdl_ah_attr *ah, uint32_t qpn);

/* Sends the MODIFY_QP request that verbs.request.attr and verbs.request.mask describe.  Returns the
 * driver's result.
 */
enum rdl_status modify_send(struct guest_qp *qp);

/* mr_apply_change() updates @mr after the device carried out REREG_MR, mr_apply_map() after it
 * carried out MAP_MR_SG.
 */
void mr_apply_change(struct guest_mr *mr);
void mr_apply_map(struct guest_mr *mr);

/* mcast_attached() and mcast_detached() complete ATTACH_MCAST and DETACH_MCAST: update the groups
 * of @qp and call config.member().  mcast_refused() undoes a refused ATTACH_MCAST.
 */
void mcast_attached(struct guest_qp *qp);
void mcast_detached(struct guest_qp *qp);
void mcast_refused(struct verbs *v);

/* Updates the attributes of @qp after the device carried out the request that modify_send() sent.
 */
void modify_apply(struct guest_qp *qp);

#endif
