/* SPDX-License-Identifier: MIT */
/* Finds out whether a process waits for a TCP connection: a server whose client can be started. */
#ifndef CLI_LIVE_EXEC_LISTENS_H
#define CLI_LIVE_EXEC_LISTENS_H

#include <stdbool.h>

/* Returns true if process @pid, or a process that it has started, has a TCP socket that listens. */
bool exec_listens(int pid);

#endif
