/* SPDX-License-Identifier: MIT */
/* Windows: parts of regions that are opened to peers and closed again without a registration, and
 * what makes a key invalid.  What a window is: key.h.
 */
#ifndef EMU_HCA_MW_H
#define EMU_HCA_MW_H

#include "emu/hca/key.h"

/* Types as libibverbs counts them. */
#define MW_TYPE_1 1u
#define MW_TYPE_2 2u

/* A window that is not bound.  RSP_OK, RSP_BAD_HANDLE (no such PD), RSP_INVALID_ARG (type),
 * RSP_NO_RESOURCES
 */
enum ctrl_rsp hca_mw_create(struct hca *h, uint32_t pdn, uint32_t type, struct mkey **ret);

/* Bound or not.  RSP_OK, RSP_BAD_HANDLE */
enum ctrl_rsp hca_mw_destroy(struct hca *h, uint32_t mwn);

/* A queue pair is destroyed: windows of type 2 that were bound for it are free. */
void hca_mw_forget_qp(struct hca *h, uint32_t qpn);

/* A bind: by ibv_bind_mw() of type 1, by a work request BIND_MW of type 2. */
struct bind_request {
    uint32_t type;
    uint32_t mw_key;      /* the window's, as it is */
    uint32_t new_key;     /* type 2: its low byte is the window's from now on */
    uint32_t mr_key;      /* the region's; a type 1 bind of length 0 has none */
    unsigned access;      /* set of enum access_bit: remote access, zero based */
    uint64_t addr, bytes; /* addr is one of the region's, also if the window is zero based */
};

/* May @user carry it out?  Changes nothing. */
struct objection key_check_bind(const struct hca *h, const struct key_user *user,
                                const struct bind_request *req);

/* Does what key_check_bind() allowed, and returns the window's new key.  Length 0 unbinds a window
 * of type 1.  Its new low byte is the old one and 1, as ibv_inc_rkey() says, so that the driver
 * knows it without being told.
 */
uint32_t key_bind(struct hca *h, const struct key_user *user, const struct bind_request *req);

#endif
