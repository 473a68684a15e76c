/* SPDX-License-Identifier: MIT */
/* The socket over which a virtual machine accesses a PCI function of the lab.  Reads complete
 * requests with their file descriptors.  Nothing here blocks.
 */
#ifndef CLI_LIVE_VM_SOCKET_H
#define CLI_LIVE_VM_SOCKET_H

#include "cli/live/vm_wire.h"

struct vm_socket {
    int fd;                                    /* -1: closed */
    uint8_t in[VM_HEADER_BYTES + VM_BODY_MAX]; /* the request that is being received */
    size_t n_in;                               /* number of its bytes received so far */
    size_t body; /* length of its body, and @cmd its command, once the header is complete */
    enum vm_cmd cmd;
    int fds[VM_PARTS_MAX]; /* received with the header */
    unsigned n_fds;
};

enum vm_got {
    VM_NOTHING, /* no complete request yet */
    VM_REQUEST,
    VM_CLOSED,  /* closed by the other end, or broken */
    VM_NONSENSE /* not a valid request; the connection cannot be used any more */
};

/* Takes ownership of the non-blocking socket @fd. */
void vm_socket_init(struct vm_socket *s, int fd);

/* Closes the socket and received descriptors. */
void vm_socket_done(struct vm_socket *s);

/* Reads the next complete request to @ret.  The descriptors received with it are in @s->fds until
 * the next call, which closes them.  Returns VM_REQUEST if there was one.
 */
enum vm_got vm_socket_read(struct vm_socket *s, struct vm_request *ret);

/* Sends the answer RET with @value.  Returns false if the socket does not accept it. */
bool vm_socket_answer(struct vm_socket *s, uint64_t value);

#endif
