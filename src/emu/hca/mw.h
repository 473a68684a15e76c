/* SPDX-License-Identifier: MIT */
/* Memory windows, which open parts of a region to peers and close them again without a
 * registration.  Concepts: key.h.
 */
#ifndef EMU_HCA_MW_H
#define EMU_HCA_MW_H

#include "emu/hca/key.h"
#include "emu/hca/key_request.h"

/* Window types, numbered as in libibverbs. */
#define MW_TYPE_1 1u
#define MW_TYPE_2 2u

/* Creates an unbound window.
 *
 * Return: REF_NONE
 *	   RFK_NO_OBJECT  no such protection domain
 *	   RFK_INVALID    @type is unknown
 *	   RFK_NO_ROOM    max_mw is reached, or the arena is full
 */
enum refusal_reason hca_mw_create(struct hca *h, uint32_t pdn, uint32_t type, struct mkey **ret);

/* Frees window @mwn, and unbinds it first if it is bound.  Returns REF_NONE or RFK_NO_OBJECT. */
enum refusal_reason hca_mw_destroy(struct hca *h, uint32_t mwn);

/* Unbinds the type 2 windows of queue pair @qpn, which is being destroyed. */
void hca_mw_forget_qp(struct hca *h, uint32_t qpn);

/* Checks that @user may execute @req.  Returns RULE_NONE, or the rule that forbids it.  Changes
 * nothing.
 */
struct objection key_check_bind(const struct hca *h, const struct key_user *user,
                                const struct bind_request *req);

/* Executes @req, which key_check_bind() must have allowed: binds the window, or unbinds it if it is
 * of type 1 and the length is 0.  Returns the new key of the window.  For type 1 its low byte is
 * incremented, as ibv_inc_rkey() does, so the driver can compute the new key itself.
 */
uint32_t key_bind(struct hca *h, const struct key_user *user, const struct bind_request *req);

#endif
