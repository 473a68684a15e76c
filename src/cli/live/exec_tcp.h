/* SPDX-License-Identifier: MIT */
/* Asks the TCP sockets of a process themselves.  The tables in /proc have the same, but take
 * milliseconds: they go through all places for connections.  [pidfd_getfd(2), tcp(7)]
 */
#ifndef CLI_LIVE_EXEC_TCP_H
#define CLI_LIVE_EXEC_TCP_H

enum exec_told {
    EXEC_NONE,   /* no socket of the process is so */
    EXEC_ONE,    /* one of them is */
    EXEC_UNKNOWN /* this process may not look into it */
};

/* Returns whether a socket of process @pid has sent what its peer has not got yet. */
enum exec_told exec_tcp_sends(int pid);

/* Returns whether one of them listens. */
enum exec_told exec_tcp_listens(int pid);

#endif
