/* SPDX-License-Identifier: MIT */
/* Links in the lines of commands. */
#ifndef CLI_CMD_LINK_H
#define CLI_CMD_LINK_H

#include "cli/session/session.h"

/* Finds the link that parameter `link` of @st names: "A-B".  The names of the nodes A and B may
 * contain a dash, too.  Returns false, with the error in s->diag, if there is no such link.
 */
bool link_named(struct session *s, const struct step *st, rdl_link *ret);

#endif
