/* SPDX-License-Identifier: MIT */
/* Error messages of commands that ask for more than a limit allows.  A message has the name of the
 * limit, its value, and a remedy.
 */
#ifndef CLI_CMD_LIMIT_H
#define CLI_CMD_LIMIT_H

#include "cli/session/session.h"
#include "emu/facts/leaf.h"

/* The things of which a lab may have only a fixed number. */
enum lab_limit { LIMIT_HOSTS, LIMIT_SWITCHES, LIMIT_LINKS, LIMIT_FAULTS, LIMIT_PINGS };

/* Fills s->diag after a function of the lab returned @status, and returns false.  RDL_ERR_LIMIT
 * means that the lab has reached @limit: the message has the maximum and a remedy.  For any other
 * status the message is that of session_fail_status() with @what.  @at is the position of the error
 * in the command line.
 */
bool limit_fail(struct session *s, struct span at, enum lab_limit limit, const char *what,
                enum rdl_status status);

/* Fails: the value of parameter @name of @st is not in the range from @least to @most. */
bool limit_fail_range(struct session *s, const struct step *st, const char *name, uint64_t least,
                      uint64_t most);

/* Fills s->diag after the link between the nodes @a and @b, which @st creates, was refused with
 * @status.  Returns false.  For RDL_ERR_LIMIT the message names a switch whose ports are all in
 * use; if there is none, the lab has too many links.
 */
bool limit_fail_link(struct session *s, const struct step *st, const char *a, const char *b,
                     enum rdl_status status);

/* A parameter of a command that a limit of the device bounds. */
struct limit_bound {
    const char *command, *param;
    enum leaf_id limit;
};
extern const struct limit_bound limit_bounds[];
extern const size_t n_limit_bounds;

/* Fills s->diag after the driver of @host refused the verb of @st with RDL_ERR_LIMIT.  Returns
 * false.  The message names the parameter that exceeds a limit of the device.  If no parameter
 * does, the message reports a full table, or that the virtqueues of the host are too short for the
 * requested depth.
 */
bool limit_fail_verb(struct session *s, const struct step *st, const char *host);

/* Checks if the device of @host has a full table of the objects that @st creates.  If so, replaces
 * the error in s->diag by one that names the table and its size.  Otherwise s->diag stays.  Returns
 * false in both cases.
 */
bool limit_name_full(struct session *s, const struct step *st, const char *host);

/* Appends to a remedy which limit of the device of @host bounds attribute @attr (enum qp_attr_bit)
 * of a queue pair, and what gives a host another one.  Appends nothing if the protocol bounds it.
 */
void limit_add_attribute(struct text *t, const struct session *s, const char *host, uint32_t attr);

#endif
