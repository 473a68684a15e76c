/* SPDX-License-Identifier: MIT */
/* Interrupts of a virtual machine: messages of MSI-X, written to its memory by QEMU's qtest.
 *
 * The protocol of x-pci-proxy-dev has interrupts only for KVM.  qtest is a line protocol that tests
 * QEMU: "writel ADDRESS DATA" is a write as a device makes it, answered by "OK".  QEMU answers when
 * its main loop runs, so nothing here waits for that: what cannot be sent yet stays until it can,
 * and of equal messages one, for an interrupt that is pending is not more so if it comes again.
 */
#ifndef CLI_LIVE_VM_QTEST_H
#define CLI_LIVE_VM_QTEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VM_QTEST_UNANSWERED_MAX 8u   /* lines that QEMU has not answered */
#define VM_QTEST_WAITING_MAX    256u /* messages that wait until it has */

struct vm_message {
    uint64_t address;
    uint32_t data;
};

struct vm_qtest {
    int fd; /* -1: closed */
    unsigned unanswered;
    struct vm_message waiting[VM_QTEST_WAITING_MAX];
    unsigned n_waiting;
    bool overrun; /* there was no room for one */
    char in[64];  /* the line that is being read */
    size_t n_in;
    uint64_t sent, merged; /* messages; merged with an equal one that waited */
};

/* Takes over @fd, which does not block. */
void vm_qtest_init(struct vm_qtest *q, int fd);
void vm_qtest_done(struct vm_qtest *q);

/* Sends a message now, or as soon as it can be.  When VM_QTEST_WAITING_MAX others wait it is lost,
 * which vm_qtest_go() tells.
 */
void vm_qtest_send(struct vm_qtest *q, uint64_t address, uint32_t data);

/* Reads what QEMU has answered, and sends what waited.  NULL, or what went wrong. */
const char *vm_qtest_go(struct vm_qtest *q);

#endif
