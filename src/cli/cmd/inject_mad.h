/* SPDX-License-Identifier: MIT */
/* A message of the connection manager that is made by hand, field by field. */
#ifndef CLI_CMD_INJECT_MAD_H
#define CLI_CMD_INJECT_MAD_H

#include <stdint.h>

#include "cli/session/session.h"
#include "emu/wire/mad.h"

/* Writes the message that the parameters cm= and set= of @st describe to @ret.  Returns false, with
 * the error in s->diag, if the message has no layout, or a field or value does not fit it.
 */
bool inject_mad_build(struct session *s, const struct step *st, uint8_t ret[MAD_BYTES]);

#endif
