/* SPDX-License-Identifier: MIT */
/* Functions that the commands of librdmacm share. */
#ifndef CLI_CMD_CM_CALLS_H
#define CLI_CMD_CM_CALLS_H

#include "cli/cmd/verb.h"
#include "rdmalab/cm.h"

/* Ends a call of the kernel whose result is @status; @error is its errno if that is RDL_ERR_ERRNO.
 * Returns true for RDL_OK, otherwise false with the error in s->diag.
 */
bool cm_called(struct session *s, const struct step *st, enum rdl_status status, int error);

/* Finds the ID in parameter `id`.  Returns false with the error in s->diag. */
bool cm_find_id(struct session *s, const struct step *st, rdl_cm_id *ret, struct home *home);

/* Reads parameter @param, a name of a host or an address, with @port, for a call of @from;
 * @gid_index tells which address of a host.  Returns false with the error in s->diag.
 */
bool cm_read_address(struct session *s, const struct step *st, const char *param, rdl_host from,
                     uint16_t port, uint32_t gid_index, struct rdl_cm_addr *ret);

/* Finds the event channel in parameter `channel`.  Returns false with the error in s->diag. */
bool cm_find_channel(struct session *s, const struct step *st, rdl_cm_channel *ret,
                     struct home *home);

/* Returns true if the ID has a queue pair. */
bool cm_has_qp(const struct session *s, const struct rdl_cm_id_info *info);

/* Moves the queue pair of @id to RTS with the attributes that the kernel tells.  librdmacm repeats
 * INIT first, because the kernel knows only now what the peer may do.  @own, if not NULL, takes the
 * place of the limits of READs and atomics.  Returns false with the error in s->diag.
 */
bool cm_move_to_rts(struct session *s, const struct step *st, const struct home *home, rdl_cm_id id,
                    rdl_qp qp, const struct rdl_cm_param *own);

/* Moves the queue pair of the ID to ERR, if it has one of a connection; librdmacm does not ask the
 * kernel for this move.  Returns false with the error in s->diag.
 */
bool cm_move_to_err(struct session *s, const struct step *st, const struct home *home,
                    const struct rdl_cm_id_info *info);

#endif
