/* SPDX-License-Identifier: MIT */
/* The messages when a limit is reached: its name, its value, and a remedy. */
#ifndef CLI_CMD_LIMIT_H
#define CLI_CMD_LIMIT_H

#include "cli/session/session.h"

/* Limits of a lab as a whole. */
enum lab_limit { LIMIT_HOSTS, LIMIT_SWITCHES, LIMIT_LINKS, LIMIT_FAULTS, LIMIT_PINGS };

/* Fails at @at, because @status is RDL_ERR_LIMIT and that means @limit; @what: as in
 * session_fail_status(), for any other @status.
 */
bool limit_fail(struct session *s, struct span at, enum lab_limit limit, const char *what,
                enum rdl_status status);

/* A link is refused: there are too many, or one of its ends is a switch whose ports are all in use.
 */
bool limit_fail_link(struct session *s, const struct step *st, const char *a, const char *b,
                     enum rdl_status status);

/* Fails because a verb of @host gave RDL_ERR_LIMIT. */
bool limit_fail_verb(struct session *s, const struct step *st, const char *host);

/* The device of @host has refused what @st creates, and s->diag says so: says instead which of its
 * tables is full, if one is.  Returns false.
 */
bool limit_name_full(struct session *s, const struct step *st, const char *host);

#endif
