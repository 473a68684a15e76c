/* SPDX-License-Identifier: MIT */
/* The Ethernet function of a virtual machine whose host has none in the lab: QEMU's vmxnet3.  Its
 * frames are datagrams of a socket pair, whose other end QEMU inherits.
 */
#ifndef CLI_LIVE_VM_NET_H
#define CLI_LIVE_VM_NET_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/live/live.h"

struct vm_launch;

struct vm_net {
    struct rdl_lab *lab;
    rdl_host host;
    bool exists; /* false: the Ethernet function of the host is in the lab */
    int fd;      /* -1: closed */
    uint64_t in_frames, out_frames;
    uint64_t in_dropped;  /* too long or short, or the line was too slow */
    uint64_t out_dropped; /* QEMU was too slow */
};

/* Opens the socket pair if the host needs it, and adds the function to @launch, behind what is
 * there.  vm_net_close() is allowed in any case.  Returns false with the reason in @reterr on
 * failure.
 */
bool vm_net_open(struct vm_net *n, struct rdl_lab *lab, rdl_host host, struct vm_launch *launch,
                 struct live_error *reterr);
void vm_net_close(struct vm_net *n);

/* Reads the next frame of the machine into @frame, of @size bytes.  Returns its length, or 0 if
 * there is none.  vm_net_send() passes it to the lab.
 */
size_t vm_net_read(struct vm_net *n, uint8_t *frame, size_t size);
void vm_net_send(struct vm_net *n, const uint8_t *frame, size_t bytes);

#endif
