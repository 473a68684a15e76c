/* SPDX-License-Identifier: MIT */
/* What the files of the verbs share.
 *
 * request.c the request under way and its answers · object.c names and lives · verbs.c PDs, memory
 * · mr.c MRs, MWs · cq.c · qp.c · modify.c · ah.c address vectors and handles · mcast.c groups ·
 * post.c what may be posted · work.c post, kick, poll · srq.c · async.c · channel.c
 */
#ifndef EMU_GUEST_VERBS_INTERNAL_H
#define EMU_GUEST_VERBS_INTERNAL_H

#include "emu/facts/compared.h"
#include "emu/guest/verbs/driver.h"
#include "emu/guest/verbs/verbs.h"

/* Access flags that queue pairs know, and regions. */
#define GUEST_ACCESS_QP                                                                            \
    (unsigned)(ACC_LOCAL_WRITE | ACC_REMOTE_WRITE | ACC_REMOTE_READ | ACC_REMOTE_ATOMIC)
#define GUEST_ACCESS_MR (GUEST_ACCESS_QP | (unsigned)(ACC_MW_BIND | ACC_ZERO_BASED))

/* Could a request be sent now?  RDL_OK, RDL_ERR_BUSY, RDL_ERR_BROKEN, RDL_ERR_STATE (never booted).
 */
enum rdl_status request_ready(const struct verbs *v);

/* The same of one that creates an object, beside which others that do may be under way. */
enum rdl_status request_ready_to_create(const struct verbs *v);

/* The request under way is one of @kind about @object (may be NULL). */
void request_begin(struct verbs *v, enum verbs_request_kind kind, struct guest_object *object);

/* @st is what the driver said to it: if the request was not sent, none is under way.  Returns @st.
 */
enum rdl_status request_sent(struct verbs *v, enum rdl_status st);

/* Objects.  A pending one with its handle; an empty @name is decided when it lives. */
enum rdl_status object_new(struct verbs *v, enum object_kind kind, const char *name,
                           struct guest_object **ret);
void object_live(struct guest_object *o, uint32_t number);
void object_drop(struct guest_object *o); /* was never there */
void object_gone(struct guest_object *o); /* destroyed */

/* May @o be used for something new?  RDL_OK, RDL_ERR_BUSY. */
enum rdl_status object_usable(const struct guest_object *o);

/* @st is what the driver said to the creating request for @o: if it was not sent, @o was never
 * there.  Returns @st.
 */
enum rdl_status object_sent(struct guest_object *o, enum rdl_status st);

/* A destroying request for @o. */
enum rdl_status object_destroy(struct guest_object *o);

/* Counts @o as a user of what it is made of, or (!@use) no longer. */
void object_use_parts(const struct guest_object *o, bool use);

/* Asynchronous events.  A program begins to use the device; the events of @o that nobody took go
 * with it.
 */
void async_listen(struct verbs *v);
void async_forget(const struct guest_object *o);

/* A completion event of @cq arrives on its channel, if it has one; those of it that nobody took go
 * with it.
 */
void channel_put(struct guest_cq *cq);
void channel_forget(const struct guest_cq *cq);

/* Completions of @cq so far, polled or not. */
uint64_t cq_completions(const struct guest_cq *cq);

/* Completions that are there already are not about the life that begins for @qp. */
void qp_forget_completions(struct guest_qp *qp);

/* What objects to posting @wr to @qp: the rules POST_*, pure.  RULE_NONE: nothing does.  Neither
 * its state nor whether the operation is carried out already is asked, nor are handles.
 */
struct objection post_decide_send(const struct guest_qp *qp, const struct rdl_send_wr *wr);
struct objection post_decide_recv(const struct guest_qp *qp, const struct rdl_recv_wr *wr);
struct objection post_decide_shared(const struct guest_srq *srq, const struct rdl_recv_wr *wr);

/* Bytes of a message, for events: at most what a field holds. */
uint32_t work_bytes(const struct rdl_sge *sge, size_t n);

/* Request @bad of a list was refused, by the rule of @by if it has one. */
static inline struct rdl_post_error post_error(size_t bad, const struct objection *by)
{
    return (struct rdl_post_error){bad, by->rule, by->values.most, by->values.found};
}

/* Does the address vector name a GID of this host, and an address of the same kind? */
bool ah_is_sound(const struct verbs *v, const struct rdl_ah_attr *ah);

/* Finds the MAC of the address vector, if it has none: RDL_OK; RDL_ERR_BUSY when the link was asked
 * for it, and verbs_resolved() follows; RDL_ERR_NO_ROUTE.
 */
enum rdl_status ah_resolve(const struct verbs *v, struct rdl_ah_attr *ah);

/* Sends the modify that is under way. */
enum rdl_status modify_send(struct guest_qp *qp);

/* What a change, or a mapping, that was done makes of a region. */
void mr_apply_change(struct guest_mr *mr);
void mr_apply_map(struct guest_mr *mr);

/* The attaching, the detaching request was done; the attaching one was refused. */
void mcast_attached(struct guest_qp *qp);
void mcast_detached(struct guest_qp *qp);
void mcast_refused(struct verbs *v);

/* What a modify that was done leaves the driver believing. */
void modify_apply(struct guest_qp *qp);

#endif
