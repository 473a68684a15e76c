/* SPDX-License-Identifier: MIT */
/* The last call of a program that was refused, and why: all that the program learns is an errno. */
#ifndef CLI_LIVE_EXEC_REFUSED_H
#define CLI_LIVE_EXEC_REFUSED_H

#include "cli/live/exec_client.h"

/* Describes in c->account->refused that c->call was refused with @st and, if the device refused it,
 * @rsp: "ibv_modify_qp(): Invalid argument; RTR -> RTS: max_rd_atomic is 128, and must be 0 to 16".
 * A call to destroy an object replaces no description: programs that fail often clean up badly.
 */
void exec_refused_note(struct exec_client *c, enum rdl_status st, const struct rdl_response *rsp);

/* The same for a command of rdma_cm: @function is that of librdmacm, NULL: none is refused by it
 * alone; @reason is what the errno does not tell, or "".
 */
void exec_refused_command(struct exec_client *c, const char *function, int error,
                          const char *reason);

#endif
