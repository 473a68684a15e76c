/* SPDX-License-Identifier: MIT */
/* TCP ports of programs on a host of a lab: bind().
 *
 * A TCP connection that was closed keeps its port for a minute (TIME_WAIT), at the end that closed
 * it first.  bind() then refuses the port to a server that does not set SO_REUSEADDR.  Programs of
 * tutorials seldom set it.  A test that runs such a server twice would fail the second time, so
 * this bind() sets it for them.  A port on which another program listens is still refused.
 * [socket(7), SO_REUSEADDR]
 */
#undef _GNU_SOURCE /* with it glibc declares bind() with a union of all addresses */
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "program/protocol.h"

/* Lets the TCP socket @fd take a port that only closed connections have. */
static void share_with_closed(int fd)
{
    const char *lab = getenv(PROGRAM_ENV_SOCKET);
    const int before = errno, on = 1;
    int domain, type;
    socklen_t n = sizeof(domain), m = sizeof(type);

    if (lab && lab[0] && getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &n) == 0 &&
        getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &m) == 0 &&
        (domain == AF_INET || domain == AF_INET6) && type == SOCK_STREAM)
        (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    errno = before;
}

/* bind(2) */
__attribute__((visibility("default"))) int bind(int fd, const struct sockaddr *address, socklen_t n)
{
    share_with_closed(fd);
    return (int)syscall(SYS_bind, fd, address, n);
}
