/* SPDX-License-Identifier: MIT */
/* Functions of the commands that reach the world outside the lab. */
#ifndef CLI_CMD_OUTSIDE_H
#define CLI_CMD_OUTSIDE_H

#include "cli/live/live.h"
#include "cli/session/session.h"

/* Makes s->outside.live unless it exists.  Returns false if this session can have none; s->diag
 * says why.
 */
bool outside_open(struct session *s, const struct step *st);

/* Fails with the error @e. */
bool outside_fail(struct session *s, const struct step *st, const struct live_error *e);

/* port vm, in cmd_vm.c. */
bool port_vm(struct session *s, const struct step *st);

#endif
