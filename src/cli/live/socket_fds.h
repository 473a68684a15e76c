/* SPDX-License-Identifier: MIT */
/* Descriptors that come with a message of a UNIX socket.  [unix(7), SCM_RIGHTS] */
#ifndef CLI_LIVE_SOCKET_FDS_H
#define CLI_LIVE_SOCKET_FDS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

/* Takes the descriptors that came with @m, at most @max; closes the others.  Returns their number.
 */
size_t socket_fds_take(struct msghdr *m, int *ret, size_t max);

/* Closes a descriptor that another process has sent.  It can be a TCP socket with SO_LINGER, of
 * which nobody else has another descriptor: to close it as it is would wait as long as that process
 * likes.
 */
void socket_fds_close(int fd);

/* Returns true if @fd is an eventfd.  Then a write to it neither waits, once this function has
 * returned, nor ends this process.  [eventfd(2)]
 */
bool socket_fds_is_eventfd(int fd);

#endif
