/* SPDX-License-Identifier: MIT */
/* Descriptors that come with a message of a UNIX socket.  [unix(7), SCM_RIGHTS] */
#ifndef CLI_LIVE_SOCKET_FDS_H
#define CLI_LIVE_SOCKET_FDS_H

#include <stddef.h>
#include <sys/socket.h>

/* Takes the descriptors that came with @m, at most @max; closes the others.  Returns their number.
 */
size_t socket_fds_take(struct msghdr *m, int *ret, size_t max);

#endif
