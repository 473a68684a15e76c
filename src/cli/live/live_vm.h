/* SPDX-License-Identifier: MIT */
/* Virtual machines as guests of hosts: interface for live_uv.c. */
#ifndef CLI_LIVE_LIVE_VM_H
#define CLI_LIVE_LIVE_VM_H

#include <poll.h>

#include "cli/live/live_internal.h"

#define LIVE_VMS_MAX 4u
#define LIVE_VM_FDS  4u /* descriptors per machine to wait for */

/* The implementation of live_ops.vm. */

bool live_vm_start(struct live *l, const struct live_vm_config *config, struct live_error *reterr);

/* Processes waiting requests of the machines, up to a limit, and detects machines that have ended.
 * Returns true if there was a request.
 */
bool live_vms_serve(struct live *l);

/* Fills @ret with the descriptors to wait for, at most LIVE_VMS_MAX * LIVE_VM_FDS.  Returns their
 * number.
 */
unsigned live_vms_fds(const struct live *l, struct pollfd *ret);

/* live_vms_run() returns true if a virtual machine runs.  live_vms_failed() and live_vm_at() are as
 * programs_failed() and vm_at() of struct live_ops, for virtual machines alone.
 */
bool live_vms_run(const struct live *l);
bool live_vms_failed(struct live *l, struct live_error *reterr);
bool live_vm_at(const struct live *l, uint32_t i, struct live_vm_info *ret);

/* Stops all machines.  Call it before live_vms_free(). */
void live_vms_stop(struct live *l);
void live_vms_free(struct live *l);

#endif
