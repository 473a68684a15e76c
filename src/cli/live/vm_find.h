/* SPDX-License-Identifier: MIT */
/* Finds out how a QEMU can reach the functions of the lab: by vfio-user, or by x-pci-proxy. */
#ifndef CLI_LIVE_VM_FIND_H
#define CLI_LIVE_VM_FIND_H

#include "cli/live/live.h"

/* The implementation of live_ops.vm_find. */
bool live_vm_find(enum live_vm_transport wanted, struct live_vm_choice *ret,
                  struct live_error *reterr);

/* Decides by the output of "qemu-system-x86_64 -version", and by that of "-device
 * vfio-user-pci,help".  @version is NULL if there is no QEMU.
 */
bool vm_find_decide(enum live_vm_transport wanted, const char *version, const char *help,
                    struct live_vm_choice *ret, struct live_error *reterr);

#endif
