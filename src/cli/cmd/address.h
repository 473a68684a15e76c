/* SPDX-License-Identifier: MIT */
/* Address vectors as commands give them. */
#ifndef CLI_CMD_ADDRESS_H
#define CLI_CMD_ADDRESS_H

#include "cli/session/session.h"
#include "rdmalab/verbs.h"

/* Where parameter @param of @st leads, in @ah, whose sgid_index is set: the name of a host is its
 * GID of that index and its MAC, an IP address that of a station whose MAC the guest looks up.
 */
bool address_read(struct session *s, const struct step *st, const char *param,
                  struct rdl_ah_attr *ah);

#endif
