/* SPDX-License-Identifier: MIT */
/* Links in the lines of commands. */
#ifndef CLI_CMD_LINK_H
#define CLI_CMD_LINK_H

#include "cli/session/session.h"

/* The link that parameter `link` of @st names: A-B.  Names of nodes may have a - in them too. */
bool link_named(struct session *s, const struct step *st, rdl_link *ret);

#endif
