/* SPDX-License-Identifier: MIT */
/* Interrupts for a virtual machine: writes MSI-X messages to its memory with QEMU's qtest.
 *
 * The protocol of x-pci-proxy-dev supports interrupts only with KVM.  qtest is a line protocol for
 * testing QEMU: "writel ADDRESS DATA" is a write like that of a device, answered by "OK".  QEMU
 * answers from its main loop, so nothing here waits for the answer: messages that cannot be sent
 * yet are queued.  Equal queued messages are merged, since an interrupt that is already pending
 * needs no second message.
 */
#ifndef CLI_LIVE_VM_QTEST_H
#define CLI_LIVE_VM_QTEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VM_QTEST_UNANSWERED_MAX 8u   /* most lines sent without an answer from QEMU */
#define VM_QTEST_WAITING_MAX    256u /* most queued messages */

/* An MSI-X message: the guest-physical address and the value to write there. */
struct vm_message {
    uint64_t address;
    uint32_t data;
};

struct vm_qtest {
    int fd;                                          /* -1: closed */
    unsigned unanswered;                             /* number of lines without an answer */
    struct vm_message waiting[VM_QTEST_WAITING_MAX]; /* queued messages, the oldest first */
    unsigned n_waiting;
    bool overrun; /* the queue was full; a message was lost */
    char in[64];  /* the line that is being received */
    size_t n_in;
    uint64_t sent, merged; /* numbers of messages sent, and of those merged with a queued one */
};

/* Takes ownership of the non-blocking socket @fd. */
void vm_qtest_init(struct vm_qtest *q, int fd);
void vm_qtest_done(struct vm_qtest *q);

/* Sends a message, or queues it.  If VM_QTEST_WAITING_MAX messages are queued it is lost, which
 * vm_qtest_go() reports.
 */
void vm_qtest_send(struct vm_qtest *q, uint64_t address, uint32_t data);

/* Reads answers of QEMU and sends queued messages.  Returns NULL on success, otherwise the error.
 */
const char *vm_qtest_go(struct vm_qtest *q);

#endif
