/* SPDX-License-Identifier: MIT */
/* Memory windows, which open parts of a region to peers and close them again without a
 * registration.  Concepts: key.h.
 */
#ifndef EMU_HCA_MW_H
#define EMU_HCA_MW_H

#include "emu/hca/key.h"

/* Window types, numbered as in libibverbs. */
#define MW_TYPE_1 1u
#define MW_TYPE_2 2u

/* Creates an unbound window.
 *
 * Return: RSP_OK
 *	   RSP_BAD_HANDLE    no such protection domain
 *	   RSP_INVALID_ARG   @type is unknown
 *	   RSP_NO_RESOURCES  max_mw is reached, or the arena is full
 */
enum ctrl_rsp hca_mw_create(struct hca *h, uint32_t pdn, uint32_t type, struct mkey **ret);

/* Frees window @mwn, and unbinds it first if it is bound.  Returns RSP_OK or RSP_BAD_HANDLE. */
enum ctrl_rsp hca_mw_destroy(struct hca *h, uint32_t mwn);

/* Unbinds the type 2 windows of queue pair @qpn, which is being destroyed. */
void hca_mw_forget_qp(struct hca *h, uint32_t qpn);

/* A bind request: ibv_bind_mw() for type 1, the work request BIND_MW for type 2. */
struct bind_request {
    uint32_t type;
    uint32_t mw_key;      /* current key of the window */
    uint32_t new_key;     /* type 2: its low byte becomes the low byte of the window's key */
    uint32_t mr_key;      /* key of the region; not used by a bind of length 0 */
    unsigned access;      /* set of enum access_bit: remote access, zero based */
    uint64_t addr, bytes; /* addr is an address of the region, even with ACC_ZERO_BASED */
};

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
