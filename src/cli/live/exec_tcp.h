/* SPDX-License-Identifier: MIT */
/* Asks the TCP sockets of a program itself what they have not delivered yet.  The tables in /proc
 * tell that, too, but take milliseconds: they go through all places for connections.
 * [pidfd_getfd(2), tcp(7)]
 */
#ifndef CLI_LIVE_EXEC_TCP_H
#define CLI_LIVE_EXEC_TCP_H

enum exec_delivery {
    EXEC_DELIVERED, /* the peers have got all that process sent */
    EXEC_UNDER_WAY,
    EXEC_UNKNOWN /* this process may not look into it */
};

enum exec_delivery exec_tcp_delivery(int pid);

#endif
