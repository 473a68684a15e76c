/* SPDX-License-Identifier: MIT */
/* The protocol by which QEMU 7.2 passes accesses to a PCI function to another process (its device
 * x-pci-proxy-dev).
 *
 * Messages go over a UNIX stream socket, in the byte order of x86-64: a header of 16 bytes, then a
 * body whose length is in the header.  SYNC_SYSMEM and SET_IRQFD carry file descriptors with the
 * header.  QEMU waits for the answer RET to most messages, so only one request is pending at a
 * time.
 *
 *   SYNC_SYSMEM   the whole memory map, in up to 8 parts: guest-physical address, size, and
 *                 offset in the file behind the descriptor of the same number; no answer
 *   CFGREAD       configuration space: offset, length 1, 2 or 4; RET has the value
 *   CFGWRITE      the same with a value; RET
 *   BAR_READ      contents of a BAR: guest-physical address where the guest has mapped the BAR, not
 *                 an offset in it, and length; RET has the value
 *   BAR_WRITE     the same with a value; RET
 *   SET_IRQFD     descriptors for INTx, which only KVM uses; no answer
 *   DEVICE_RESET  RET
 *
 * QEMU calls the protocol experimental: another version may have a different one.
 */
#ifndef CLI_LIVE_VM_WIRE_H
#define CLI_LIVE_VM_WIRE_H

#include "cli/live/vm_socket.h"

enum vm_cmd {
    VM_SYNC_SYSMEM,
    VM_RET,
    VM_CFGWRITE,
    VM_CFGREAD,
    VM_BAR_WRITE,
    VM_BAR_READ,
    VM_SET_IRQFD,
    VM_DEVICE_RESET,
    VM_CMDS
};

#define VM_BODY_MAX  192u /* size of SYNC_SYSMEM */
#define VM_RET_BYTES 24u  /* header and value */
#define VM_PARTS_MAX 8u   /* memory parts, and descriptors with one header */

/* A part of the guest's memory, in a file. */
struct vm_part {
    uint64_t gpa;    /* guest-physical address of its first byte */
    uint64_t bytes;  /* length */
    uint64_t offset; /* of its first byte in the file */
};

struct vm_request {
    enum vm_cmd cmd;
    uint64_t addr;  /* CFG...: offset in configuration space; BAR_...: guest-physical address */
    uint64_t value; /* of a write */
    uint32_t bytes; /* size of the access */
    struct vm_part parts[VM_PARTS_MAX]; /* SYNC_SYSMEM: one part for each received descriptor */
};

/* Parses a header; *@ret_body is the length of the body that follows.  Returns false if the message
 * is invalid.
 */
bool vm_header_read(const uint8_t h[VM_HEADER_BYTES], enum vm_cmd *ret, size_t *ret_body);

/* Parses the body of a message @cmd; it must have the length that vm_header_read() returned.
 * Returns false if the size of the access is invalid.
 */
bool vm_body_read(enum vm_cmd cmd, const uint8_t *body, struct vm_request *ret);

/* The length of a message, for its socket. */
vm_message_size vm_wire_size;

/* Parses a message that is as long as vm_wire_size() has said.  Returns false if it is invalid. */
bool vm_request_read(const uint8_t *message, struct vm_request *ret);

/* Returns true if a request of this kind must be answered. */
bool vm_wants_answer(enum vm_cmd cmd);

/* Builds the answer RET with @value. */
void vm_answer_write(uint64_t value, uint8_t out[VM_RET_BYTES]);

#endif
