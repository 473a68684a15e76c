/* SPDX-License-Identifier: MIT */
/* The sockets between programs and the lab: messages of fixed length, some with file descriptors.
 * [src/program/protocol.h]
 */
#ifndef CLI_LIVE_EXEC_SOCKET_H
#define CLI_LIVE_EXEC_SOCKET_H

#include <stdbool.h>
#include <stddef.h>

/* Opens a socket at @path, which only this user may use, and listens.  Returns its file descriptor,
 * which does not block; -1 with errno on failure.
 */
int exec_listen(const char *path);

/* Accepts a connection from a process of this user.  Returns its file descriptor, which does not
 * block, with its process in *@ret_pid; -1 with errno if nobody has come.
 */
int exec_accept(int listener, int *ret_pid);

enum exec_got { EXEC_NOTHING, EXEC_MESSAGE, EXEC_CLOSED, EXEC_NONSENSE };

/* A descriptor came, and this process may open no more. */
#define EXEC_FD_LOST (-2)

/* Receives a message of exactly @bytes.  *@ret_fd is the descriptor that came with it, or
 * EXEC_FD_LOST, or -1; more than one are closed.
 *
 * Return: EXEC_MESSAGE
 *	   EXEC_NOTHING   none has come yet
 *	   EXEC_CLOSED    the program has closed the connection, or has ended
 *	   EXEC_NONSENSE  a message of another length
 */
enum exec_got exec_receive(int fd, void *out, size_t bytes, int *ret_fd);

/* Closes a connection.  What has not been received yet is, so that its descriptors are closed as
 * socket_fds_close() does.
 */
void exec_hang_up(int fd);

#define EXEC_FDS_MAX 3u

/* Sends a message with @n descriptors, at most EXEC_FDS_MAX, which the caller keeps.  Returns false
 * if the program does not take it.
 */
bool exec_send(int fd, const void *message, size_t bytes, const int *fds, unsigned n);

#endif
