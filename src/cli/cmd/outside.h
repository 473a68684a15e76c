/* SPDX-License-Identifier: MIT */
/* Functions of the commands that reach the world outside the lab. */
#ifndef CLI_CMD_OUTSIDE_H
#define CLI_CMD_OUTSIDE_H

#include "cli/live/live.h"
#include "cli/session/session.h"

/* Creates s->outside.live, which holds live ports and programs, unless it exists.  Returns false,
 * with the error in s->diag, if the session is a test (session_config.tested), the program was
 * built without live ports, or there is no memory.
 */
bool outside_open(struct session *s, const struct step *st);

/* Copies the message and the remedy of @e to s->diag, as an error of @st.  Returns false. */
bool outside_fail(struct session *s, const struct step *st, const struct live_error *e);

/* Executes `port ... vm`; defined in cmd_vm.c.  Returns false, with the error in s->diag, if it
 * failed.
 */
bool port_vm(struct session *s, const struct step *st);

#endif
