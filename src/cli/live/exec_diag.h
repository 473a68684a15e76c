/* SPDX-License-Identifier: MIT */
/* Asks the kernel for the TCP sockets that listen.  It has a short list of them, while
 * /proc/net/tcp takes milliseconds: it goes through all places for connections.  [sock_diag(7)]
 */
#ifndef CLI_LIVE_EXEC_DIAG_H
#define CLI_LIVE_EXEC_DIAG_H

#include "cli/live/exec_proc.h"

/* Sets *@ret to whether one of @s, in the network of this process, listens.  Returns false if the
 * kernel does not tell.
 */
bool exec_diag_listens(const struct exec_sockets *s, bool *ret);

#endif
