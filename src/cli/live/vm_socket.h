/* SPDX-License-Identifier: MIT */
/* The socket over which a virtual machine accesses a PCI function of the lab.  Reads complete
 * messages with their file descriptors.  Nothing here blocks.
 *
 * Both protocols have messages that begin with a header of VM_HEADER_BYTES.  The header tells how
 * long the message is.  Descriptors arrive with its first byte.
 */
#ifndef CLI_LIVE_VM_SOCKET_H
#define CLI_LIVE_VM_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VM_HEADER_BYTES 16u
#define VM_MESSAGE_MAX  4352u /* the largest message of a protocol, and its header */
#define VM_FDS_MAX      16u   /* most descriptors with a message */

/* Finds the length of a message, header included.  *@ret is VM_HEADER_BYTES or more, and at most
 * VM_MESSAGE_MAX.  Returns false if the header is invalid.
 */
typedef bool vm_message_size(const uint8_t header[VM_HEADER_BYTES], size_t *ret);

struct vm_socket {
    int fd;                     /* -1: closed */
    vm_message_size *size_of;   /* of the protocol */
    uint8_t in[VM_MESSAGE_MAX]; /* the message that is being received */
    size_t n_in;                /* number of its bytes received so far */
    size_t size;                /* its length, once the header is complete */
    int fds[VM_FDS_MAX];        /* received with it; -1: taken by the caller */
    unsigned n_fds;
};

enum vm_got {
    VM_NOTHING, /* no complete message yet */
    VM_MESSAGE,
    VM_CLOSED,  /* closed by the other end, or broken */
    VM_NONSENSE /* not a valid message; the connection cannot be used any more */
};

/* Takes ownership of the socket @fd. */
void vm_socket_init(struct vm_socket *s, int fd, vm_message_size *size_of);

/* Closes the socket and received descriptors. */
void vm_socket_done(struct vm_socket *s);

/* Reads the next complete message to @s->in, of @s->size bytes.  It and its descriptors, @s->fds,
 * are there until the next call, which closes those that the caller has not taken.  Returns
 * VM_MESSAGE if there was one.
 */
enum vm_got vm_socket_read(struct vm_socket *s);

/* Sends a message.  Returns false if the socket does not accept it as a whole. */
bool vm_socket_send(struct vm_socket *s, const uint8_t *bytes, size_t n);

#endif
