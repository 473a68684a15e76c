/* SPDX-License-Identifier: MIT */
/* One end of the socket over which a virtual machine has a function of ours: whole requests, with
 * the descriptors that came with them.  Nothing here blocks.
 */
#ifndef CLI_LIVE_VM_SOCKET_H
#define CLI_LIVE_VM_SOCKET_H

#include "cli/live/vm_wire.h"

struct vm_socket {
    int fd; /* -1: closed */
    uint8_t in[VM_HEADER_BYTES + VM_BODY_MAX];
    size_t n_in, body; /* bytes of the request that are there; of its body, once its header is */
    enum vm_cmd cmd;
    int fds[VM_PARTS_MAX]; /* that came with its header */
    unsigned n_fds;
};

enum vm_got {
    VM_NOTHING, /* not yet */
    VM_REQUEST,
    VM_CLOSED,  /* the other end has closed it, or it is broken */
    VM_NONSENSE /* no message is like that */
};

/* Takes over @fd, which does not block. */
void vm_socket_init(struct vm_socket *s, int fd);

/* Closes it, and descriptors that were not taken. */
void vm_socket_done(struct vm_socket *s);

/* The next request, once it is there.  Its descriptors are in @s->fds until the next call, which
 * closes them.
 */
enum vm_got vm_socket_read(struct vm_socket *s, struct vm_request *ret);

/* Sends RET.  False: the other end does not take it. */
bool vm_socket_answer(struct vm_socket *s, uint64_t value);

#endif
